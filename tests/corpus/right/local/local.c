/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/local: the local variable lives and dies in one
 * critical section.
 *
 * Exit status 1 if an increment is lost.
 *
 * usage: local
 */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2 };

struct cell {
	pthread_mutex_t lock;
	int n;
};

static struct cell cell = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void increment(struct cell *c)
{
	int local;

	pthread_mutex_lock(&c->lock);
	local = c->n;
	local++;
	c->n = local;
	pthread_mutex_unlock(&c->lock);
}

static void *worker(void *c)
{
	increment(c);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, worker, &cell))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("the cell is %d\n", cell.n);
	return cell.n != THREADS;
}
