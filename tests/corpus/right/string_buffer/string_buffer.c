/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/string_buffer: length and characters are taken in
 * one critical section of the other buffer.
 *
 * Exit status 1 if characters were asked for that are not there.
 *
 * usage: string_buffer
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 64 };

struct buffer {
	pthread_mutex_t lock;
	int length;
	int missing; /* characters that were asked for and not there */
	char text[SIZE];
};

static struct buffer first = {.lock = PTHREAD_MUTEX_INITIALIZER, .length = 5, .text = "hello"};
static struct buffer second = {.lock = PTHREAD_MUTEX_INITIALIZER, .length = 6, .text = " world"};

/* The lock is held. */
static void get_chars(struct buffer *b, int count, char *to)
{
	if (count > b->length) {
		b->missing += count - b->length;
		count = b->length;
	}
	memcpy(to, b->text, count);
}

static void set_length(struct buffer *b, int length)
{
	pthread_mutex_lock(&b->lock);
	b->length = length;
	pthread_mutex_unlock(&b->lock);
}

static void append(struct buffer *b, struct buffer *other)
{
	char value[SIZE];
	int more;

	pthread_mutex_lock(&other->lock);
	more = other->length;
	get_chars(other, more, value);
	pthread_mutex_unlock(&other->lock);
	pthread_mutex_lock(&b->lock);
	memcpy(b->text + b->length, value, more);
	b->length += more;
	pthread_mutex_unlock(&b->lock);
}

static void *appender(void *unused)
{
	append(&first, &second);
	return unused;
}

static void *cutter(void *unused)
{
	set_length(&second, 0);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, appender, NULL) ||
	    pthread_create(&threads[1], NULL, cutter, NULL))
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%d characters were not there\n", second.missing);
	return second.missing != 0;
}
