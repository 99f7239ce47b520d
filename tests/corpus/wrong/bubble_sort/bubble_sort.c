/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * BubbleSort, of the ConTest programs in Marathon's Table 1. Eight numbers,
 * and one thread per number, each of which makes one pass of a bubble sort.
 *
 * What breaks: a pass tests two neighbours without the lock and exchanges them
 * under it, so that two threads undo each other's exchange; and even an exact
 * test would not do, since one pass relies on what the pass before it left.
 *
 * How it shows: the numbers must be sorted after all threads are joined; exit
 * status 1 otherwise.
 *
 * usage: bubble_sort
 */
#include <pthread.h>
#include <stdio.h>

#include "../../stage.h"

enum { SIZE = 8, THREADS = SIZE };

struct array {
	pthread_mutex_t lock;
	int item[SIZE];
};

static struct array array = {PTHREAD_MUTEX_INITIALIZER, {3, 5, 9, 2, 0, 4, -6, -3}};

static void exchange(struct array *a, int i)
{
	int left;

	pthread_mutex_lock(&a->lock);
	left = a->item[i];
	a->item[i] = a->item[i + 1];
	a->item[i + 1] = left;
	pthread_mutex_unlock(&a->lock);
}

static void bubble(struct array *a)
{
	for (int i = 0; i < SIZE - 1; i++) {
		if (a->item[i] > a->item[i + 1]) {
			MEET(THREADS);
			exchange(a, i);
		}
	}
}

static void *sorter(void *a)
{
	bubble(a);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int wrong = 0;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, sorter, &array))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < SIZE - 1; i++)
		wrong += array.item[i] > array.item[i + 1];
	printf("%d neighbours are out of order\n", wrong);
	return wrong != 0;
}
