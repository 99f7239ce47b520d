/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loops that tell what they access. The file SHAPES is compiled twice: first
 * as the truth, not instrumented, where R(x) and W(x) say the bytes of x before
 * they are read or written; then as any program, where they are x. Both run on
 * the same memory with the same content. A line of output is
 *
 *   touch THREAD FUNCTION r|w ADDRESS LENGTH
 *   shape FUNCTION few|any|each ELEMENTS
 *
 * where `few` promises far fewer events than elements once the optimiser runs,
 * and `each` at least one for every element.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNSEEN __attribute__((disable_sanitizer_instrumentation, noinline))
#define STRIDED _Pragma("clang loop vectorize(disable) interleave(disable)")

enum { GLOBALS = 1024, SLICE = 1 << 18 };
static const long sizes[] = {0, 1, 2, 3, 7, 16, 33, 100, 256, 1000};
static char *arena;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct pair {
	int x, y;
};
struct triple {
	int a;
	char b;
	long c;
};
typedef short unaligned_short __attribute__((aligned(1)));
typedef unsigned unaligned_int __attribute__((aligned(1)));
typedef long unaligned_long __attribute__((aligned(1)));
static int table[GLOBALS];
static struct pair pairs[GLOBALS];
static double grid[32][GLOBALS / 32];
static long counter;

#define INLINED __attribute__((always_inline)) static inline

/* ---- functions that shapes call: each has a frame, whatever its pointers lead to ---- */

INLINED unsigned next_number(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(*state >> 33);
}

/* Two structs of one type, and more than one way through. */
INLINED void turn(struct pair *at, const struct pair *by)
{
	if (at->x > 1000) {
		at->x -= by->x;
		at->y++;
	} else {
		at->x += by->y;
	}
}

/* ---- the truth ---- */

static int thread_now;
static const char *shape_now;
static struct touch {
	char kind;
	char *from, *to;
} touched;

UNSEEN static void flush(void)
{
	if (touched.kind)
		printf("touch T%d %s %c %p %ld\n", thread_now, shape_now, touched.kind, (void *)touched.from,
		       (long)(touched.to - touched.from));
	touched.kind = 0;
}

UNSEEN static void *say(char kind, void *p, size_t length)
{
	if (touched.kind != kind || touched.to != p) {
		flush();
		touched = (struct touch){kind, p, p};
	}
	touched.to += length;
	return p;
}

#define SHAPE(name, promise) UNSEEN static long truth_##name(char *memory, long n)
#define R(x) (*(__typeof__(x) *)say('r', (void *)&(x), sizeof(x)))
#define W(x) (*(__typeof__(x) *)say('w', (void *)&(x), sizeof(x)))
#include SHAPES
#undef SHAPE
#undef R
#undef W

/* ---- the program: functions that others may call, so each run is a segment of its own ---- */

struct shape {
	const char *name, *promise;
	long (*truth)(char *, long), (*run)(char *, long);
};
#define SHAPE(name, promise)                                                                             \
	long name(char *, long);                                                                         \
	__attribute__((section("shapes"), used, aligned(32))) static const struct shape shape_##name = { \
		#name, #promise, truth_##name, name};                                                    \
	__attribute__((noinline)) long name(char *memory, long n)
#define R(x) (x)
#define W(x) (x)
#include SHAPES

extern const struct shape __start_shapes[], __stop_shapes[];

UNSEEN static void reset(char *memory)
{
	for (int i = 0; i < SLICE; i++)
		memory[i] = (char)(i * 7 + 1);
	memset(table, 1, sizeof table);
	memset(pairs, 2, sizeof pairs);
	memset(grid, 0, sizeof grid);
	counter = 0;
}

/* A thread runs every other size. */
UNSEEN static void *work(void *argument)
{
	long self = (long)argument;
	size_t count = sizeof sizes / sizeof *sizes;

	for (const struct shape *s = __start_shapes; s < __stop_shapes; s++) {
		for (size_t i = (size_t)self; i < count; i += 2) {
			char *memory = arena + ((size_t)(s - __start_shapes) * count + i) * SLICE;
			long expected;

			thread_now = (int)self;
			shape_now = s->name;
			reset(memory);
			expected = s->truth(memory, sizes[i]);
			flush();
			reset(memory);
			if (s->run(memory, sizes[i]) != expected) {
				fprintf(stderr, "%s(%ld) computes something else\n", s->name, sizes[i]);
				exit(1);
			}
		}
	}
	return NULL;
}

UNSEEN int main(void)
{
	size_t shapes = (size_t)(__stop_shapes - __start_shapes);
	long elements = 0;
	pthread_t thread;

	arena = malloc(shapes * sizeof sizes / sizeof *sizes * SLICE);
	if (!arena)
		return 1;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		elements += sizes[i];
	work((void *)0);
	pthread_create(&thread, NULL, work, (void *)1);
	pthread_join(thread, NULL);
	for (const struct shape *s = __start_shapes; s < __stop_shapes; s++)
		printf("shape %s %s %ld\n", s->name, s->promise, elements);
	return 0;
}
