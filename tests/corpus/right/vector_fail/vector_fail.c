/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/vector_fail: both halves are read in one critical
 * section.
 *
 * Exit status 1 if the maximum is not twice the minimum.
 *
 * usage: vector_fail
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { ROUNDS = 10 };

struct pair {
	pthread_mutex_t lock;
	int first, second;
	bool first_is_greater;
};

static struct pair pair = {PTHREAD_MUTEX_INITIALIZER, 1, 2, false};

static void set_elements(struct pair *p, int value)
{
	pthread_mutex_lock(&p->lock);
	p->first = p->first_is_greater ? value : 2 * value;
	p->second = p->first_is_greater ? 2 * value : value;
	p->first_is_greater = !p->first_is_greater;
	pthread_mutex_unlock(&p->lock);
}

static bool is_double(struct pair *p)
{
	int max, min;

	pthread_mutex_lock(&p->lock);
	max = p->first_is_greater ? p->first : p->second;
	min = p->first_is_greater ? p->second : p->first;
	pthread_mutex_unlock(&p->lock);
	return max == 2 * min;
}

static void *setter(void *unused)
{
	for (int i = 1; i <= ROUNDS; i++) {
		set_elements(&pair, 10 * i);
	}
	return unused;
}

static void *reader(void *wrong)
{
	for (int i = 0; i < ROUNDS; i++)
		*(int *)wrong += !is_double(&pair);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int wrong = 0;

	if (pthread_create(&threads[0], NULL, setter, NULL) ||
	    pthread_create(&threads[1], NULL, reader, &wrong))
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%d pairs were not double\n", wrong);
	return wrong != 0;
}
