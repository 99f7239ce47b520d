/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/merge_sort_bug: the number of threads has a lock.
 * The arrays need none: each part has one thread at a time, and changes hands
 * by create and join.
 *
 * Exit status 1 if more threads were started than allowed, or the array is not
 * sorted.
 *
 * usage: merge_sort_bug [THREADS]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 64 };

struct part {
	int from, to;
};

static int array[SIZE], merged[SIZE];
static int max_threads = 3;
static atomic_int started;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool take_thread(void)
{
	bool taken = false;

	pthread_mutex_lock(&lock);
	if (max_threads > 0) {
		max_threads--;
		started++;
		taken = true;
	}
	pthread_mutex_unlock(&lock);
	return taken;
}

static void merge(int from, int middle, int to)
{
	int left = from, right = middle;

	for (int i = from; i < to; i++)
		if (right == to || (left < middle && array[left] <= array[right]))
			merged[i] = array[left++];
		else
			merged[i] = array[right++];
	memcpy(array + from, merged + from, (to - from) * sizeof(*array));
}

static void *sort(void *argument)
{
	struct part *part = argument;
	int middle = (part->from + part->to) / 2;
	struct part left = {part->from, middle};
	struct part right = {middle, part->to};
	pthread_t thread;

	if (part->to - part->from < 2)
		return NULL;
	if (take_thread()) {
		if (pthread_create(&thread, NULL, sort, &left))
			abort();
		sort(&right);
		pthread_join(thread, NULL);
	} else {
		sort(&left);
		sort(&right);
	}
	merge(part->from, middle, part->to);
	return NULL;
}

int main(int argc, char **argv)
{
	struct part all = {0, SIZE};
	int allowed, wrong = 0;

	if (argc > 1)
		max_threads = atoi(argv[1]);
	allowed = max_threads;
	for (int i = 0; i < SIZE; i++)
		array[i] = i * 37 % SIZE;
	sort(&all);
	for (int i = 1; i < SIZE; i++)
		wrong += array[i - 1] > array[i];
	printf("%d of %d threads, %d neighbours out of order\n", started, allowed, wrong);
	return wrong || started > allowed;
}
