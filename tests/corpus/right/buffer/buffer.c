/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Buffer, in MoTH's Table 1, after Artho, Havelund and Biere; a
 * reconstruction. Workers take an item from a buffer in one critical section,
 * compute, and store the result in another.
 *
 * Why it looks wrong: which item it is leaves the first critical section and
 * enters the second. Why it is right: the buffer gives each item to one
 * worker, so nobody else could have changed what belongs to it. MoTH has a
 * false alarm here.
 *
 * Exit status 1 if a result is missing or wrong.
 *
 * usage: buffer
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { WORKERS = 3, ITEMS = 20 };

struct buffer {
	pthread_mutex_t lock;
	int next;
	int item[ITEMS], result[ITEMS];
};

static struct buffer buffer = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The place of an item that is the caller's from now on, or -1. */
static int take(struct buffer *b, int *item)
{
	int place = -1;

	pthread_mutex_lock(&b->lock);
	if (b->next < ITEMS) {
		place = b->next++;
		*item = b->item[place];
	}
	pthread_mutex_unlock(&b->lock);
	return place;
}

static void store(struct buffer *b, int place, int result)
{
	pthread_mutex_lock(&b->lock);
	b->result[place] = result;
	pthread_mutex_unlock(&b->lock);
}

static bool work_on_one(struct buffer *b)
{
	int item, place = take(b, &item);

	if (place < 0)
		return false;
	MEET(WORKERS);
	store(b, place, item * item);
	return true;
}

static void *worker(void *unused)
{
	while (work_on_one(&buffer))
		continue;
	return unused;
}

int main(void)
{
	pthread_t threads[WORKERS];
	int wrong = 0;

	for (int i = 0; i < ITEMS; i++)
		buffer.item[i] = i + 1;
	for (int i = 0; i < WORKERS; i++)
		if (pthread_create(&threads[i], NULL, worker, NULL))
			return 2;
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < ITEMS; i++)
		wrong += buffer.result[i] != (i + 1) * (i + 1);
	printf("%d results are wrong\n", wrong);
	return wrong != 0;
}
