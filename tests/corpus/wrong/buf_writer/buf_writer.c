/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * BufWriter, of the ConTest programs in Marathon's Table 1. Four threads write
 * into a buffer under its lock, one without, and a checker empties it from
 * time to time.
 *
 * What breaks: write_unlocked stores where pos points without the lock and
 * without moving pos, and takes the lock only to count what it wrote; whoever
 * writes in between overwrites it.
 *
 * How it shows: what was counted must be what the checker found; exit status 1
 * otherwise.
 *
 * usage: buf_writer [WRITES]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { SIZE = 1000, WRITERS = 4, THREADS = WRITERS + 2 };

struct buffer {
	pthread_mutex_t lock;
	int pos;
	long count;
	long written; /* found by the checker */
	int array[SIZE];
};

static struct buffer buffer = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int writes = 100;

static void write_locked(struct buffer *b, int value)
{
	pthread_mutex_lock(&b->lock);
	if (b->pos < SIZE) {
		b->array[b->pos] = value;
		b->pos++;
		b->count++;
	}
	pthread_mutex_unlock(&b->lock);
}

static void write_unlocked(struct buffer *b, int value)
{
	if (b->pos >= SIZE)
		return;
	b->array[b->pos] = value;
	STAGE(1);
	STAGE(4);
	pthread_mutex_lock(&b->lock);
	b->count++;
	pthread_mutex_unlock(&b->lock);
}

static void empty(struct buffer *b)
{
	pthread_mutex_lock(&b->lock);
	b->written += b->pos;
	b->pos = 0;
	pthread_mutex_unlock(&b->lock);
}

static void *careful(void *unused)
{
	for (int i = 0; i < writes; i++) {
		STAGE(2);
		write_locked(&buffer, i);
		STAGE(3);
	}
	return unused;
}

static void *careless(void *unused)
{
	for (int i = 0; i < writes; i++)
		write_unlocked(&buffer, i);
	return unused;
}

static void *checker(void *unused)
{
	AWAIT(4);
	for (int i = 0; i < writes; i++)
		empty(&buffer);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc > 1)
		writes = atoi(argv[1]);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL,
				   i < WRITERS    ? careful
				   : i == WRITERS ? careless
						  : checker,
				   NULL))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld counted, %ld found\n", buffer.count, buffer.written + buffer.pos);
	return buffer.count != buffer.written + buffer.pos;
}
