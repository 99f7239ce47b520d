/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Each way out of a thread, and buffers that take none. A line that says
 * "private" must have a private place, one that says "not private" none.
 */
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "below/tally.h"
#include "worker.h"

enum { SIZE = 64 };

struct box {
	long *inside;
	long weight;
};

static long *published;
static long total;
static uintptr_t hidden;
static char pieces[sizeof(void *)];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int zero;
static void (*hook)(long *);

#define BOTH(mine, ours) ((mine)[1] = (ours)[1] + 7) /* the macro's place is one for two accesses */

__attribute__((noinline)) static long *make(void)
{
	return calloc(SIZE, sizeof(long));
}

__attribute__((noinline)) static void add_all(int count, ...)
{
	va_list list;

	va_start(list, count);
	for (int i = 0; i < count; i++)
		va_arg(list, long *)[0]++; /* not private */
	va_end(list);
}

static void through_hook(long *p)
{
	p[3]++; /* not private */
}

__attribute__((noinline)) static void copy_bytes(char *to, const char *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = from[i];
}

static void own(void)
{
	long *buffer = make(), *other = make(), sum = 0;

	for (int i = 0; i < SIZE; i++)
		buffer[(i * 7 + zero) % SIZE] = i; /* private */
	for (int i = 1; i < SIZE; i++)
		buffer[(i * 3 + zero) % SIZE] ^= i; /* private */
	bump(&other[2], 1);
	sum = tally(buffer, SIZE);
	pthread_mutex_lock(&lock);
	bump(&total, sum);
	pthread_mutex_unlock(&lock);
	free(buffer);
	free(other);
}

static void copied(long *from)
{
	long *buffer = make();

	for (int i = 0; i < SIZE; i++)
		buffer[i] = from[i]; /* not private: a memcpy from shared memory may stand here */
	BOTH(buffer, from);          /* not private */
	free(buffer);
}

static void ways_out(void)
{
	long *global = make(), *number = make(), *bytes = make(), *various = make(), *called = make(),
	     *outside = make();
	struct box *box = malloc(sizeof(*box));

	pthread_mutex_lock(&lock);
	free(published);
	published = global;
	global[0] = 1; /* not private */
	hidden = (uintptr_t)number ^ 5;
	((long *)(hidden ^ 5))[zero] = 2; /* not private */
	number[zero + 1] = 2;             /* not private */
	copy_bytes(pieces, (char *)&bytes, sizeof(bytes));
	bytes[zero] = 3; /* not private */
	add_all(1, various);
	various[zero + 2] = 4; /* not private */
	hook(called);
	called[zero] = 5; /* not private */
	fputs("", stdout);
	setvbuf(stdout, (char *)outside, _IOFBF, SIZE);
	setvbuf(stdout, NULL, _IOLBF, SIZE);
	outside[zero] = 6; /* not private */
	box->inside = global;
	box->weight = zero;            /* not private: it has a pointer to what is shared */
	box->inside[1] += box->weight; /* not private */
	pthread_mutex_unlock(&lock);
	free(number), free(bytes), free(various), free(called), free(outside), free(box);
}

static void *start(void *argument)
{
	long *mine = calloc(SIZE, sizeof(*mine));

	for (int i = 0; i < 3; i++) {
		own();
		ways_out();
		copied(argument);
	}
	mine[zero] = 8; /* not private: whoever joins gets it */
	return mine;
}

int main(void)
{
	long *shared = make();
	pthread_t threads[2];
	void *result;

	hook = through_hook;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, start, shared))
			return 1;
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], &result);
		printf("%ld\n", ((long *)result)[zero]); /* not private */
		free(result);
	}
	free(shared);
	free(published);
	return 0;
}
