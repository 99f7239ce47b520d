/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: results that are collected when the
 * threads are gone. One function starts the threads, waits for them and adds
 * up what they left; it runs several times.
 *
 * Why it looks wrong: the function accesses the results before and after the
 * threads do, without a lock, so that they all come between its accesses. Why
 * it is right: it waits for them; that they come in between is the point.
 *
 * Exit status 1 if the sum is wrong.
 *
 * usage: collect_after_join
 */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 3 };

struct work {
	int from, to;
	long sum;
};

static void add_up(struct work *work)
{
	for (int i = work->from; i < work->to; i++)
		work->sum += i;
}

static void *worker(void *work)
{
	add_up(work);
	return NULL;
}

/* The sum of the numbers below 100, or -1. */
static long total(struct work *work)
{
	pthread_t threads[THREADS];
	long sum = 0;

	for (int i = 0; i < THREADS; i++) {
		work[i] = (struct work){.from = i * 25, .to = (i + 1) * 25};
		if (pthread_create(&threads[i], NULL, worker, &work[i]))
			return -1;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += work[i].sum;
	}
	return sum;
}

int main(void)
{
	struct work work[THREADS];
	int wrong = 0;

	for (int i = 0; i < ROUNDS; i++)
		wrong += total(work) != 4950;
	printf("%d sums are wrong\n", wrong);
	return wrong != 0;
}
