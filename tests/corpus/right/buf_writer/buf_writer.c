/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/buf_writer: all writers write the same way.
 *
 * Exit status 1 if what was counted is not what the checker found.
 *
 * usage: buf_writer [WRITES]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

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

static void put(struct buffer *b, int value)
{
	pthread_mutex_lock(&b->lock);
	if (b->pos < SIZE) {
		b->array[b->pos] = value;
		b->pos++;
		b->count++;
	}
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
		put(&buffer, i);
	}
	return unused;
}

static void *checker(void *unused)
{
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
		if (pthread_create(&threads[i], NULL, i <= WRITERS ? careful : checker, NULL))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld counted, %ld found\n", buffer.count, buffer.written + buffer.pos);
	return buffer.count != buffer.written + buffer.pos;
}
