/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: an array with a slot for each thread,
 * which all of them fill at the same time without a lock.
 *
 * Why it looks wrong: one object, many writers. Why it is right: each has its
 * own element.
 *
 * Exit status 1 if something was lost.
 *
 * usage: thread_slots
 */
#include <pthread.h>
#include <stdio.h>

#include "../../stage.h"

enum { THREADS = 8, ROUNDS = 50 };

struct slot {
	long sum, count;
};

static struct slot slots[THREADS];
static long squares[THREADS];

static void add(int thread, long value)
{
	slots[thread].sum += value;
	MEET(THREADS);
	slots[thread].count++;
	squares[thread] += value * value;
}

static void *worker(void *slot)
{
	for (int i = 1; i <= ROUNDS; i++)
		add((int)((struct slot *)slot - slots), i);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int wrong = 0;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, worker, &slots[i]))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS; i++)
		wrong += slots[i].sum != ROUNDS * (ROUNDS + 1) / 2 || slots[i].count != ROUNDS ||
			 squares[i] != 42925;
	printf("%d slots are wrong\n", wrong);
	return wrong != 0;
}
