/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * DelayQueue, of the collections in Marathon's Table 1; a reconstruction.
 * Items are kept in the order of the time when they are due; ten threads take
 * what is due.
 *
 * What breaks: take_due looks in one critical section whether the first item
 * is due, and takes the first in the next.
 *
 * How it shows: exit status 1 if an item was taken too early.
 *
 * usage: delay_queue
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { MOST = 64, THREADS = 10, DUE = 5, NOW = 100 };

struct queue {
	pthread_mutex_t lock;
	int count;
	int time[MOST]; /* descending: the next one is the last */
};

static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void put(struct queue *q, int time)
{
	int i;

	pthread_mutex_lock(&q->lock);
	for (i = q->count++; i > 0 && q->time[i - 1] < time; i--)
		q->time[i] = q->time[i - 1];
	q->time[i] = time;
	pthread_mutex_unlock(&q->lock);
}

static bool peek(struct queue *q, int *time)
{
	bool found;

	pthread_mutex_lock(&q->lock);
	found = q->count > 0;
	if (found)
		*time = q->time[q->count - 1];
	pthread_mutex_unlock(&q->lock);
	return found;
}

static bool poll(struct queue *q, int *time)
{
	bool found;

	pthread_mutex_lock(&q->lock);
	found = q->count > 0;
	if (found)
		*time = q->time[--q->count];
	pthread_mutex_unlock(&q->lock);
	return found;
}

static bool take_due(struct queue *q, int *time)
{
	if (!peek(q, time) || *time > NOW)
		return false;
	MEET(THREADS);
	return poll(q, time);
}

static void *taker(void *early)
{
	int time;

	if (take_due(&queue, &time) && time > NOW)
		++*(int *)early;
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int early[THREADS] = {0}, sum = 0;

	for (int i = 0; i < DUE; i++)
		put(&queue, i);
	for (int i = 1; i <= THREADS; i++)
		put(&queue, NOW + i);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, taker, &early[i]))
			return 2;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += early[i];
	}
	printf("%d items were taken too early\n", sum);
	return sum != 0;
}
