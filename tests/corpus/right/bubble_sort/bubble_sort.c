/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/bubble_sort: a pass is one critical section.
 *
 * Exit status 1 if the numbers are not sorted at the end.
 *
 * usage: bubble_sort
 */
#include <pthread.h>
#include <stdio.h>

enum { SIZE = 8, THREADS = SIZE };

struct array {
	pthread_mutex_t lock;
	int item[SIZE];
};

static struct array array = {PTHREAD_MUTEX_INITIALIZER, {3, 5, 9, 2, 0, 4, -6, -3}};

static void exchange(struct array *a, int i)
{
	int left = a->item[i];

	a->item[i] = a->item[i + 1];
	a->item[i + 1] = left;
}

static void bubble(struct array *a)
{
	pthread_mutex_lock(&a->lock);
	for (int i = 0; i < SIZE - 1; i++)
		if (a->item[i] > a->item[i + 1])
			exchange(a, i);
	pthread_mutex_unlock(&a->lock);
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
