/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/under_reporting: the counter is doubled in one
 * critical section.
 *
 * Exit status 1 if two doublings did not leave four times as much.
 *
 * usage: under_reporting
 */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2 };

struct counter {
	pthread_mutex_t lock;
	int value;
};

static struct counter counter = {PTHREAD_MUTEX_INITIALIZER, 1};

static void twice(struct counter *c)
{
	pthread_mutex_lock(&c->lock);
	c->value += c->value;
	pthread_mutex_unlock(&c->lock);
}

static void *doubler(void *c)
{
	twice(c);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, doubler, &counter))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("expected 4, got %d\n", counter.value);
	return counter.value != 4;
}
