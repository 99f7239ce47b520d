/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Threads that add to one number without a lock, in bursts: for a while one of
 * them does it alone, over and over, and then others come. Each addition is a
 * section, but for those of the last thread, which are single accesses outside
 * of all of them. Those of the first thread begin and end in one block, and are
 * made under a lock that nobody else has. If every section is whole the sum is right.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS = 4 };

struct sum {
	long value;
};
static struct sum sum;
static long rounds;
static pthread_barrier_t start;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) static void add(struct sum *to)
{
	long value = to->value; /* entry */

	__asm__ volatile("" : "+r"(value) : : "memory");
	to->value = value + 1; /* end */
}

__attribute__((noinline)) static void add_local(struct sum *to)
{
	to->value += 1; /* local */
}

__attribute__((noinline)) static void bump(struct sum *to)
{
	to->value += 1;
}

static void add_under(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	add_local(&sum);
	pthread_mutex_unlock(mutex);
}

static void *work(void *number)
{
	uint64_t seed = (uintptr_t)number * 0x9e3779b97f4a7c15ull + 1;

	pthread_barrier_wait(&start);
	for (long done = 0; done < rounds;) {
		long burst;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		burst = 1 + (long)(seed >> 33) % ((seed >> 20) % 4 ? 40 : 4000);
		for (; burst && done < rounds; burst--, done++)
			if ((uintptr_t)number == THREADS - 1)
				bump(&sum);
			else if (!number)
				add_under(&lock);
			else
				add(&sum);
		/* Sometimes the others are left alone. */
		if (!((seed >> 50) % 8)) {
			struct timespec moment = {0, 200000};

			nanosleep(&moment, NULL);
		}
	}
	return NULL;
}

int main(int count, char **words)
{
	pthread_t threads[THREADS];

	rounds = count > 1 ? atol(words[1]) : 60000;
	pthread_barrier_init(&start, NULL, THREADS);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld of %ld\n", sum.value, THREADS * rounds);
	return sum.value != THREADS * rounds;
}
