/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MoTH's Fig. 1(b): a value is read in one critical section and written,
 * incremented, in another.
 *
 * What breaks: increment, when another increment comes between its two halves.
 *
 * How it shows: every increment must be in the value; exit status 1 otherwise.
 *
 * usage: increment
 */
#include <pthread.h>
#include <stdio.h>

#include "../../stage.h"

enum { THREADS = 2, ROUNDS = 10 };

static int x;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int get_x(void)
{
	int value;

	pthread_mutex_lock(&lock);
	value = x;
	pthread_mutex_unlock(&lock);
	return value;
}

static void set_x(int value)
{
	pthread_mutex_lock(&lock);
	x = value;
	pthread_mutex_unlock(&lock);
}

static void increment(int by)
{
	int value = get_x();

	MEET(THREADS);
	set_x(value + by);
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
