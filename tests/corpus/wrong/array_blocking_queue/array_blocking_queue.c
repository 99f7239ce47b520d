/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ArrayBlockingQueue, of the collections in Marathon's Table 1; a
 * reconstruction. A ring with one lock and two conditions; five threads put
 * and take, five drain.
 *
 * What breaks: drain asks for the number of items in one critical section and
 * takes as many in the following ones, while others take too.
 *
 * How it shows: exit status 1 if an item that drain counted on was not there.
 *
 * usage: array_blocking_queue [ROUNDS]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { SIZE = 8, PAIRS = 5 };

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t not_full;
	int count, first;
	int item[SIZE];
};

static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .not_full = PTHREAD_COND_INITIALIZER};
static int rounds = 10;

static void put(struct queue *q, int item)
{
	pthread_mutex_lock(&q->lock);
	while (q->count == SIZE)
		pthread_cond_wait(&q->not_full, &q->lock);
	q->item[(q->first + q->count++) % SIZE] = item;
	pthread_mutex_unlock(&q->lock);
}

static bool poll(struct queue *q, int *item)
{
	bool found;

	pthread_mutex_lock(&q->lock);
	found = q->count > 0;
	if (found) {
		*item = q->item[q->first];
		q->first = (q->first + 1) % SIZE;
		q->count--;
		pthread_cond_signal(&q->not_full);
	}
	pthread_mutex_unlock(&q->lock);
	return found;
}

static int count_of(struct queue *q)
{
	int count;

	pthread_mutex_lock(&q->lock);
	count = q->count;
	pthread_mutex_unlock(&q->lock);
	return count;
}

/* Fills `items` and returns how many of those that were there are missing. */
static int drain(struct queue *q, int *items)
{
	int count = count_of(q);
	int missing = 0;

	MEET(PAIRS);
	STAGE(1);
	STAGE(4);
	for (int i = 0; i < count; i++)
		missing += !poll(q, &items[i]);
	STAGE(5);
	return missing;
}

static void *user(void *unused)
{
	int item;

	for (int i = 0; i < rounds; i++) {
		STAGE(2);
		poll(&queue, &item);
		STAGE(3);
		AWAIT(5);
		put(&queue, i);
	}
	return unused;
}

static void *drainer(void *missing)
{
	int items[SIZE];

	for (int i = 0; i < rounds; i++)
		*(int *)missing += drain(&queue, items);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2 * PAIRS];
	int missing[PAIRS] = {0}, item, sum = 0;

	if (argc > 1)
		rounds = atoi(argv[1]);
	put(&queue, -1);
	for (int i = 0; i < PAIRS; i++)
		if (pthread_create(&threads[i], NULL, user, NULL))
			return 2;
	for (int i = 0; i < PAIRS; i++)
		if (pthread_create(&threads[PAIRS + i], NULL, drainer, &missing[i]))
			return 2;
	/* Putters may wait for room after the last drain. */
	for (int i = 0; i < PAIRS; i++)
		pthread_join(threads[PAIRS + i], NULL);
	for (int i = 0; i < PAIRS * rounds; i++)
		poll(&queue, &item);
	for (int i = 0; i < PAIRS; i++) {
		pthread_join(threads[i], NULL);
		sum += missing[i];
	}
	printf("%d items were missing\n", sum);
	return sum != 0;
}
