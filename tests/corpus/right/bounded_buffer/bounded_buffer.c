/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/bounded_buffer: put waits and fills under one
 * lock. What happens while it waits is no violation: a condition wait gives
 * the lock up, and the condition is tested again behind it.
 *
 * Exit status 1 if the consumer did not see every item once.
 *
 * usage: bounded_buffer [ITEMS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { PRODUCERS = 2, SIZE = 1 };

struct buffer {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int count, in, out;
	long item[SIZE];
};

static struct buffer buffer = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static long items = 20;

static void put(struct buffer *b, long item)
{
	pthread_mutex_lock(&b->lock);
	while (b->count >= SIZE)
		pthread_cond_wait(&b->changed, &b->lock);
	b->item[b->in] = item;
	b->in = (b->in + 1) % SIZE;
	b->count++;
	pthread_cond_broadcast(&b->changed);
	pthread_mutex_unlock(&b->lock);
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
