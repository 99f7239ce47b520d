/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: statistics that may lose. Hits are
 * counted by a relaxed load and a relaxed store, which is cheaper than an
 * atomic increment, and the count is only ever shown, rounded.
 *
 * Why it looks wrong: load and store are two steps, and updates between them
 * are lost. Why it is right: nobody needs the number to be exact, and who
 * writes memory_order_relaxed says so.
 *
 * Exit status 1 if more hits are counted than there were, or the cache gives a
 * wrong answer.
 *
 * usage: lossy_statistics
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "../../stage.h"

enum { THREADS = 4, ROUNDS = 50, SIZE = 8 };

struct statistics {
	atomic_long hits;
};

static struct statistics statistics;
static const int squares[SIZE] = {0, 1, 4, 9, 16, 25, 36, 49};

static void count_hit(struct statistics *s)
{
	long hits = atomic_load_explicit(&s->hits, memory_order_relaxed);

	MEET(THREADS);
	atomic_store_explicit(&s->hits, hits + 1, memory_order_relaxed);
}

static int square(int i)
{
	count_hit(&statistics);
	return squares[i];
}

static void *user(void *wrong)
{
	for (int i = 0; i < ROUNDS; i++)
		*(int *)wrong += square(i % SIZE) != (i % SIZE) * (i % SIZE);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int wrong[THREADS] = {0}, sum = 0;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, user, &wrong[i]))
			return 2;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += wrong[i];
	}
	printf("about %ld hits\n", statistics.hits);
	return sum || statistics.hits > THREADS * ROUNDS;
}
