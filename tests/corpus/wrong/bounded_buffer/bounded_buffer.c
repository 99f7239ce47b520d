/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * BoundedBuffer, of the ConTest programs in Marathon's Table 1; a
 * reconstruction. Two producers and a consumer share a buffer of one place.
 *
 * What breaks: put waits for room in one critical section and fills the place
 * in the next, so both producers may have seen the same room. The wait itself
 * is as it should be.
 *
 * How it shows: the consumer must see every item once; exit status 1 if the
 * sum is wrong.
 *
 * usage: bounded_buffer [ITEMS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { PRODUCERS = 2, SIZE = 1 };

struct buffer {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int count, in, out;
	long item[SIZE];
};

static struct buffer buffer = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static long items = 20;

static void wait_for_room(struct buffer *b)
{
	pthread_mutex_lock(&b->lock);
	while (b->count >= SIZE)
		pthread_cond_wait(&b->changed, &b->lock);
	pthread_mutex_unlock(&b->lock);
}

static void fill(struct buffer *b, long item)
{
	pthread_mutex_lock(&b->lock);
	b->item[b->in] = item;
	b->in = (b->in + 1) % SIZE;
	b->count++;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
}

static void put(struct buffer *b, long item)
{
	wait_for_room(b);
	MEET(PRODUCERS);
	fill(b, item);
	PASS();
}

static long get(struct buffer *b)
{
	long item;

	pthread_mutex_lock(&b->lock);
	while (b->count == 0)
		pthread_cond_wait(&b->changed, &b->lock);
	item = b->item[b->out];
	b->out = (b->out + 1) % SIZE;
	b->count--;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
	return item;
}

static void *producer(void *first)
{
	for (long i = 0; i < items; i++)
		put(&buffer, *(long *)first + i);
	return NULL;
}

static void *consumer(void *sum)
{
	AWAIT(PRODUCERS);
	for (long i = 0; i < PRODUCERS * items; i++)
		*(long *)sum += get(&buffer);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[PRODUCERS + 1];
	long first[PRODUCERS], sum = 0, expected = 0;

	if (argc > 1)
		items = atol(argv[1]);
	for (int i = 0; i < PRODUCERS; i++) {
		first[i] = i * items;
		if (pthread_create(&threads[i], NULL, producer, &first[i]))
			return 2;
	}
	if (pthread_create(&threads[PRODUCERS], NULL, consumer, &sum))
		return 2;
	for (int i = 0; i <= PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	for (long i = 0; i < PRODUCERS * items; i++)
		expected += i;
	printf("consumed %ld of %ld\n", sum, expected);
	return sum != expected;
}
