/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A wait splits the region around it, also under if: what was read before is
 * old behind it.
 * expect: take stale-value queue.count
 */
#include <pthread.h>

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int count;
};

static struct queue queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};

static void take(struct queue *q)
{
	int count;

	pthread_mutex_lock(&q->lock);
	count = q->count;
	if (count == 0)
		pthread_cond_wait(&q->changed, &q->lock);
	q->count = count - 1;
	pthread_mutex_unlock(&q->lock);
}

/* Reads again behind the wait. */
static void take_right(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	while (q->count == 0)
		pthread_cond_wait(&q->changed, &q->lock);
	q->count = q->count - 1;
	pthread_mutex_unlock(&q->lock);
}

static void put(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->count++;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

static void *taker(void *unused)
{
	take(&queue);
	take_right(&queue);
	return unused;
}

static void *putter(void *unused)
{
	put(&queue);
	put(&queue);
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, taker, NULL);
	pthread_create(&b, NULL, putter, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
