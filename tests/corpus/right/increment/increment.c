/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/increment: one critical section.
 *
 * Exit status 1 if an increment is lost.
 *
 * usage: increment
 */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 2, ROUNDS = 10 };

static int x;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void increment(int by)
{
	pthread_mutex_lock(&lock);
	x += by;
	pthread_mutex_unlock(&lock);
}

static void *worker(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		increment(1);
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, worker, NULL))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("expected %d, got %d\n", THREADS * ROUNDS, x);
	return x != THREADS * ROUNDS;
}
