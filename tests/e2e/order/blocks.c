/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Blocks of many sizes, given from thread to thread by no other way than the
 * allocator: what one frees another gets, whole, in pieces, or joined with its
 * neighbours, and nothing else synchronises the two. Some are handed over
 * under a lock and freed by who did not allocate them, some are made larger.
 * With an argument there are small blocks alone, and nothing else synchronises.
 * blocks.py plays the trace. `twice` is in one stretch without synchronisation: memory that comes back is
 * another object, and what was done to other memory stays known.
 */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

enum { THREADS = 4, ROUNDS = 6000, SLOTS = 64 };

struct object {
	long value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *handed[SLOTS];
static long other;
static pthread_barrier_t together;

NOINLINE static long twice(void)
{
	struct object *first, *second;
	long found;

	other = 1;
	first = malloc(sizeof *first);
	first->value = 1; /* once */
	__asm__ volatile("" : : "r"(first) : "memory");
	found = first->value;
	free(first);
	other = 2;
	second = malloc(sizeof *second);
	__asm__ volatile("" : : "r"(second) : "memory");
	second->value = 2; /* again */
	__asm__ volatile("" : : "r"(second) : "memory");
	found += second == first;
	free(second);
	return found;
}

static size_t size_of(unsigned *seed)
{
	unsigned n = (unsigned)rand_r(seed);

	/* Around the size from which on a block is a large one, too. */
	return n % 8 == 0 ? 400 + n / 8 % 400 : n % 64 == 1 ? 5000 : 1 + n / 8 % 120;
}

static void *work(void *p)
{
	unsigned seed = (unsigned)(uintptr_t)p;
	char *mine[SLOTS] = {NULL};

	for (int i = 0; i < ROUNDS; i++) {
		unsigned slot = (unsigned)rand_r(&seed) % SLOTS;
		size_t size = size_of(&seed);

		switch (rand_r(&seed) % 8) {
		case 0:
			pthread_mutex_lock(&lock);
			char *theirs = handed[slot];
			handed[slot] = mine[slot];
			mine[slot] = theirs;
			pthread_mutex_unlock(&lock);
			break;
		case 1:
			mine[slot] = realloc(mine[slot], size);
			mine[slot][size - 1] = 1;
			break;
		default:
			free(mine[slot]);
			mine[slot] = malloc(size);
			memset(mine[slot], i, size);
		}
	}
	for (int i = 0; i < SLOTS; i++)
		free(mine[i]);
	return NULL;
}

static void *work_small(void *p)
{
	unsigned seed = (unsigned)(uintptr_t)p;
	char *mine[SLOTS] = {NULL};

	pthread_barrier_wait(&together);
	for (int i = 0; i < ROUNDS; i++) {
		unsigned slot = (unsigned)rand_r(&seed) % SLOTS;

		if (i % 16 == 0)
			sched_yield();
		free(mine[slot]);
		mine[slot] = malloc(1 + (unsigned)rand_r(&seed) % 120);
		mine[slot][0] = 1;
	}
	for (int i = 0; i < SLOTS; i++)
		free(mine[i]);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	long reused = twice();

	(void)argv;
	pthread_barrier_init(&together, NULL, THREADS);
	/* One place for all, that they get in each other's way; and blocks are joined when they are freed. */
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MXFAST, 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, argc > 1 ? work_small : work, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < SLOTS; i++)
		free(handed[i]);
	printf("%ld\n", reused + other - 2);
	return 0;
}
