/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the compiler's pass leaves out because nobody else can reach it, and what
 * it must not. compiled.py looks for the lines in the trace: "seen" must be
 * there, "private" must not.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

struct table {
	long entries[64];
	long used;
};

static struct table *published;
static long counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Called with what is private alone. */
NOINLINE static void own_put(struct table *t, long value)
{
	t->entries[value & 63] = value; /* private */
}

/* The same, through another function that calls itself. */
NOINLINE static long own_sum(struct table *t, long from)
{
	if (from == 64)
		return 0;
	own_put(t, from);
	return t->entries[from] + own_sum(t, from + 1); /* private */
}

/* Called with both. */
NOINLINE static void any_put(struct table *t, long value)
{
	t->entries[value & 15] = value; /* seen: any_put */
}

/* Called by nobody but the thread library. */
static void *start(void *p)
{
	struct table *t = p;

	t->used++; /* seen: start */
	return NULL;
}

/* Also called by way of a pointer. */
NOINLINE static void by_pointer(struct table *t, long value)
{
	t->entries[16 + (value & 15)] = value; /* seen: by_pointer */
}
static void (*volatile way)(struct table *, long) = by_pointer;

/* Hands its parameter to somebody who keeps it. */
NOINLINE static void keep(struct table *t)
{
	pthread_mutex_lock(&lock);
	published = t;
	pthread_mutex_unlock(&lock);
}

/* Others may call it with anything. */
NOINLINE void open_put(struct table *t, long value)
{
	t->entries[32 + (value & 15)] = value; /* seen: open_put */
}

/* A pointer that walks through a local, and back to where it began. */
NOINLINE static long walk(long n)
{
	char text[256];
	char *p = text;
	long sum = 0;

	for (long i = 0; i < n; i++) {
		*p++ = (char)(i * n); /* private */
		if (p == text + sizeof(text))
			p = text;
	}
	for (const char *q = text; q < text + (n < 256 ? n : 256); q++)
		sum += *q; /* private */
	return sum;
}

/* The same through memory that is somebody else's, now and then. */
NOINLINE static void walk_both(long n, long *other)
{
	long own[8], *p = own;

	for (long i = 0; i < n; i++) {
		*p = i; /* seen: walk_both */
		p = i & 1 ? own + (i & 7) : other;
	}
}

/* How far the pointer came is no address, whichever way it came. */
static volatile long measured;
static volatile uintptr_t hidden;

NOINLINE static void measure(long n)
{
	char text[64], *p = text;
	long sum = 0;

	do
		*p++ = (char)('0' + n % 10); /* private */
	while (n /= 10);
	measured = p - text;
	hidden = (uintptr_t)p & 7;
	for (const char *q = text; q < p; q++)
		sum += *q; /* private */
	measured += sum;
}

NOINLINE static void measure_either(long n)
{
	char *text = calloc(1, 64), *p = text;
	long last;

	if (!text)
		abort();
	if (n & 1)
		for (; p < text + (n & 31); p++)
			*p = (char)(n * (p - text)); /* private */
	last = text[n & 15];                         /* private */
	measured = p - text + last;
	free(text);
}

/* As a number an address can get away: by itself, with others, in pieces, as a distance from elsewhere. */
NOINLINE static void hide_whole(long n)
{
	volatile long own[8];

	hidden = (uintptr_t)own;
	own[n & 7] = n; /* seen: hide_whole */
	measured = own[n & 7];
}

NOINLINE static void hide_twice(long n)
{
	volatile long own[8];

	hidden = (uintptr_t)own + (uintptr_t)&own[n & 7];
	own[n & 7] = n; /* seen: hide_twice */
	measured = own[n & 7];
}

NOINLINE static void hide_mixed(long n)
{
	volatile long own[8];

	hidden = (uintptr_t)own ^ (uintptr_t)n;
	own[n & 7] = n; /* seen: hide_mixed */
	measured = own[n & 7];
}

NOINLINE static void hide_behind(long n, const struct table *other)
{
	volatile long own[8];

	hidden = (uintptr_t)own - (uintptr_t)other;
	own[n & 7] = n; /* seen: hide_behind */
	measured = own[n & 7];
}

/* Where the second one is null, the whole address is left. */
NOINLINE static void hide_maybe(long n)
{
	volatile long own[8];
	const volatile long *zero = n & 4 ? NULL : own;

	hidden = (uintptr_t)&own[n & 7] - (uintptr_t)zero;
	own[n & 7] = n; /* seen: hide_maybe */
	measured = own[n & 7];
}

/* Inlined, with frames that have a local as their receiver. The index keeps it in memory. */
__attribute__((always_inline)) static inline void inlined_put(struct table *t, long value)
{
	t->entries[value * 7 & 63] += value; /* private */
	if (t->used < value)
		t->used = value; /* private */
}

NOINLINE static long mine(long n)
{
	struct table t = {{0}, 0};

	for (long i = 0; i < n; i++)
		inlined_put(&t, i + counter++); /* seen: mine */
	return t.used + t.entries[n & 63];      /* private */
}
static long (*volatile way_to_mine)(long) = mine;

/* Allocated here, and known to nobody. */
NOINLINE static long scratch(long n)
{
	struct table *t = calloc(1, sizeof(*t));
	long sum;

	if (!t)
		abort();
	t->used = n; /* private */
	own_put(t, n);
	sum = own_sum(t, n & 7) + t->used; /* private */
	any_put(t, n);
	free(t);
	return sum;
}

/* Allocated here, filled, and given away. */
NOINLINE static struct table *make(long n)
{
	struct table *t = malloc(sizeof(*t));

	if (!t)
		abort();
	t->used = n; /* seen: make */
	keep(t);
	return t;
}

int main(int argc, char **argv)
{
	struct table own = {{0}, 0};
	long sum = 0;
	pthread_t thread;
	struct table *t = make(argc);

	if (pthread_create(&thread, NULL, start, t))
		return 1;
	for (long i = 0; i < 40; i++) {
		sum += scratch(i) + walk(i + argc) + way_to_mine(i);
		walk_both(i, &t->entries[48 + (i & 15)]);
		any_put(t, i);
		way(t, i);
		open_put(t, i);
		own_put(&own, i);
		measure(i);
		measure_either(i);
		hide_whole(i);
		hide_twice(i);
		hide_mixed(i);
		hide_behind(i, t);
		hide_maybe(i);
	}
	pthread_join(thread, NULL);
	printf("%ld %ld %s\n", sum, published->used, argv[0] ? "" : "no name");
	free(t);
	return 0;
}
