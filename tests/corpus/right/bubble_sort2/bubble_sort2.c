/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/bubble_sort2: a pass is one critical section, in
 * the middle of which the next thread is started.
 *
 * Exit status 1 if the array is not sorted at the end.
 *
 * usage: bubble_sort2 [SIZE]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static int *array;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void exchange(int i)
{
	int left = array[i];

	array[i] = array[i + 1];
	array[i + 1] = left;
}

/* The part of a pass from `from` to `to`. */
static void bubble(int from, int to)
{
	for (int i = from; i < to; i++)
		if (array[i] > array[i + 1])
			exchange(i);
}

static void *sorter(void *argument)
{
	int end = (int)(intptr_t)argument;
	pthread_t next;
	int started;

	pthread_mutex_lock(&lock);
	bubble(0, 1);
	started = end > 1 && !pthread_create(&next, NULL, sorter, (void *)(intptr_t)(end - 1));
	bubble(1, end);
	pthread_mutex_unlock(&lock);
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
