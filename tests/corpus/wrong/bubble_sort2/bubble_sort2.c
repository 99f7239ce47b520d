/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * BubbleSort 2, of the ConTest programs in Marathon's Table 1. A descending
 * array is sorted by a chain of threads: each makes one pass, and having
 * compared the first two numbers starts the next thread, whose pass is one
 * shorter and chases it.
 *
 * What breaks: a pass compares without the lock and exchanges under it, while
 * the pass behind it may have come close, or past.
 *
 * How it shows: the array must be sorted when all threads are joined; exit
 * status 1 otherwise.
 *
 * usage: bubble_sort2 [SIZE]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

static int *array;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void exchange(int i)
{
	int left;

	pthread_mutex_lock(&lock);
	left = array[i];
	array[i] = array[i + 1];
	array[i + 1] = left;
	pthread_mutex_unlock(&lock);
}

/* The part of a pass from `from` to `to`. */
static void bubble(int from, int to)
{
	for (int i = from; i < to; i++) {
		if (array[i] > array[i + 1]) {
			MEET_IF(i == 1, 2);
			exchange(i);
		}
	}
}

static void *sorter(void *argument)
{
	int end = (int)(intptr_t)argument;
	pthread_t next;
	int started;

	bubble(0, 1);
	started = end > 1 && !pthread_create(&next, NULL, sorter, (void *)(intptr_t)(end - 1));
	bubble(1, end);
	if (started)
		pthread_join(next, NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	int size = argc > 1 ? atoi(argv[1]) : 200;
	int wrong = 0;
	pthread_t first;

	array = calloc(size, sizeof(*array));
	if (!array)
		return 2;
	for (int i = 0; i < size; i++)
		array[i] = size - i;
	if (pthread_create(&first, NULL, sorter, (void *)(intptr_t)(size - 1)))
		return 2;
	pthread_join(first, NULL);
	for (int i = 0; i < size - 1; i++)
		wrong += array[i] > array[i + 1];
	printf("%d neighbours are out of order\n", wrong);
	free(array);
	return wrong != 0;
}
