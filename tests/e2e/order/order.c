/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the cells hold at the end depends on the order of all updates: each
 * multiplies, then adds who did it. run.py takes the order from the trace,
 * computes the same, and must get the same. The argument says what keeps the
 * threads apart: mutex (two cells at a time), rwlock, spin (home-made, of an
 * atomic flag), cas (no lock at all).
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 16, THREADS = 6, ROUNDS = 3000 };
#define FACTOR 6364136223846793005ull

struct cell {
	pthread_mutex_t lock;
	pthread_rwlock_t gate;
	atomic_flag busy;
	uint64_t value;
	_Atomic uint64_t shared;
};

static struct cell cells[CELLS];
static const char *mode;

static void mutex_step(struct cell *a, struct cell *b, uint64_t me)
{
	struct cell *first = a < b ? a : b, *second = a < b ? b : a;

	pthread_mutex_lock(&first->lock);
	if (second != first)
		pthread_mutex_lock(&second->lock);
	a->value = a->value * FACTOR + b->value + me;
	pthread_mutex_unlock(&a->lock);
	if (second != first)
		pthread_mutex_unlock(&b->lock);
}

static void rwlock_step(struct cell *a, struct cell *b, uint64_t me)
{
	uint64_t seen;

	pthread_rwlock_rdlock(&b->gate);
	seen = b->value;
	pthread_rwlock_unlock(&b->gate);
	pthread_rwlock_wrlock(&a->gate);
	a->value = a->value * FACTOR + seen + me;
	pthread_rwlock_unlock(&a->gate);
}

static void spin_step(struct cell *a, uint64_t me)
{
	while (atomic_flag_test_and_set_explicit(&a->busy, memory_order_acquire))
		sched_yield();
	a->value = a->value * FACTOR + me;
	atomic_flag_clear_explicit(&a->busy, memory_order_release);
}

static void cas_step(struct cell *a, uint64_t me)
{
	uint64_t old = atomic_load(&a->shared);

	while (!atomic_compare_exchange_weak(&a->shared, &old, old * FACTOR + me))
		;
}

static void *work(void *argument)
{
	uint64_t me = (uint64_t)(uintptr_t)argument, random = me * 88172645463325252ull;

	for (int i = 0; i < ROUNDS; i++) {
		struct cell *a, *b;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		a = &cells[random % CELLS];
		b = &cells[random / CELLS % CELLS];
		if (!strcmp(mode, "mutex"))
			mutex_step(a, b, me);
		else if (!strcmp(mode, "rwlock"))
			rwlock_step(a, b, me);
		else if (!strcmp(mode, "spin"))
			spin_step(a, me);
		else
			cas_step(a, me);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	mode = argc > 1 ? argv[1] : "mutex";
	for (int i = 0; i < CELLS; i++) {
		pthread_mutex_init(&cells[i].lock, NULL);
		pthread_rwlock_init(&cells[i].gate, NULL);
	}
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < CELLS; i++)
		printf("%p %p %llx\n", (void *)&cells[i].value, (void *)&cells[i].shared,
		       (unsigned long long)(cells[i].value + atomic_load(&cells[i].shared)));
	return 0;
}
