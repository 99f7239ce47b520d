/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How many there are is asked in one critical section, and each is asked for again
 * when it is taken. Whoever goes on, or stops, when there is none has made a guess
 * and is right; who counts that as a mistake has relied on the first answer.
 *
 * expect: counts_missing stale-value queue.count
 * expect: counts_in_branch stale-value queue.count
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct queue {
	pthread_mutex_t lock;
	int count;
};

static struct queue queue = {PTHREAD_MUTEX_INITIALIZER, 5};

static void put(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->count++;
	pthread_mutex_unlock(&q->lock);
}

static bool poll(struct queue *q)
{
	bool found;

	pthread_mutex_lock(&q->lock);
	found = q->count > 0;
	if (found)
		q->count--;
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

static int counts_missing(struct queue *q)
{
	int count = count_of(q), missing = 0;

	for (int i = 0; i < count; i++)
		missing += !poll(q);
	return missing;
}

static int counts_in_branch(struct queue *q)
{
	int count = count_of(q), missing = 0;

	for (int i = 0; i < count; i++)
		if (!poll(q))
			missing++;
	return missing;
}

static int counts_taken(struct queue *q)
{
	int count = count_of(q), taken = 0;

	for (int i = 0; i < count; i++)
		taken += poll(q);
	return taken;
}

static int stops(struct queue *q)
{
	int count = count_of(q), taken = 0;

	for (int i = 0; i < count; i++) {
		if (!poll(q))
			break;
		taken++;
	}
	return taken;
}

static bool one(struct queue *q)
{
	int count = count_of(q);

	for (int i = 0; i < count; i++)
		if (poll(q))
			return true;
	return false;
}

static void *worker(void *sum)
{
	put(&queue);
	*(int *)sum = counts_missing(&queue) + counts_in_branch(&queue) + counts_taken(&queue) +
		      stops(&queue) + one(&queue);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int sums[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, &sums[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return sums[0] + sums[1] < 0;
}
