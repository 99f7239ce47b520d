/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Partial sums are merged under a lock, round after round, and after each round the whole is looked
 * at: if it is wrong, the program ends. That it went on because it was right is no use of
 * what it saw. Who goes by what it saw in the same round, or stops going round, does use it.
 * expect: take_all stale-value queue.count
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { BINS = 4 };

struct histogram {
	pthread_mutex_t lock;
	long bins[BINS], samples;
};

struct queue {
	pthread_mutex_t lock;
	int count;
};

static struct histogram all = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct queue queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void merge(struct histogram *h, const long *part)
{
	pthread_mutex_lock(&h->lock);
	for (int i = 0; i < BINS; i++) {
		h->bins[i] += part[i];
		h->samples += part[i];
	}
	pthread_mutex_unlock(&h->lock);
}

static long total(struct histogram *h)
{
	long sum = 0, samples;

	pthread_mutex_lock(&h->lock);
	for (int i = 0; i < BINS; i++)
		sum += h->bins[i];
	samples = h->samples;
	pthread_mutex_unlock(&h->lock);
	return sum == samples ? sum : -1;
}

static int count(struct queue *q)
{
	int count;

	pthread_mutex_lock(&q->lock);
	count = q->count;
	pthread_mutex_unlock(&q->lock);
	return count;
}

static void put(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->count++;
	pthread_mutex_unlock(&q->lock);
}

static void take_all(struct queue *q)
{
	while (count(q) > 0) {
		pthread_mutex_lock(&q->lock);
		q->count = q->count - 1;
		pthread_mutex_unlock(&q->lock);
	}
}

static void go_round(const int *data)
{
	for (int round = 0; round < 8; round++) {
		long part[BINS] = {0};

		for (int i = 0; i < 16; i++)
			part[data[i] % BINS]++;
		merge(&all, part);
		if (total(&all) < 0)
			abort();
		put(&queue);
	}
}

static void *work(void *data)
{
	go_round(data);
	take_all(&queue);
	return NULL;
}

int main(void)
{
	static int data[16];
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, data);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return total(&all) < 0;
}
