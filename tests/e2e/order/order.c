/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the cells hold at the end depends on the order of all updates: each
 * multiplies, then adds who did it. run.py takes the order from the trace,
 * computes the same, and must get the same. The argument says what keeps the
 * threads apart: mutex (two cells at a time), try (the same with trylock), rwlock,
 * wait (condition variables: the mutex is let go by waiting), spin (home-made, of
 * an atomic flag), cas (no lock at all), relaxed (what is added comes from another
 * cell, by a relaxed load), publish (every cell has one writer, who stores). And crowd, as
 * mutex, with locks of which the runtime keeps its notes in the same place.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { CELLS = 16, THREADS = 6, ROUNDS = 3000, MANY = 60000 };
#define FACTOR 6364136223846793005ull

struct cell {
	pthread_mutex_t own, *lock;
	pthread_rwlock_t gate;
	pthread_cond_t idle;
	int taken; /* under lock */
	atomic_flag busy;
	uint64_t value;
	_Atomic uint64_t shared;
};

static struct cell cells[CELLS];
static pthread_barrier_t begin;
static const char *mode;
static __thread unsigned pauses;

/* Lets others in between, now and then, however few processors there are. */
static void pause_step(void)
{
	if (++pauses % 5 == 0)
		sched_yield();
}

static void lock(struct cell *cell, int try)
{
	if (!try)
		pthread_mutex_lock(cell->lock);
	else
		while (pthread_mutex_trylock(cell->lock))
			sched_yield();
}

static void both_step(struct cell *a, struct cell *b, uint64_t me, int try)
{
	struct cell *first = a < b ? a : b, *second = a < b ? b : a;

	lock(first, try);
	if (second != first)
		lock(second, try);
	pause_step();
	a->value = a->value * FACTOR + b->value + me;
	pthread_mutex_unlock(a->lock);
	if (second != first)
		pthread_mutex_unlock(b->lock);
}

static void mutex_step(struct cell *a, struct cell *b, uint64_t me)
{
	both_step(a, b, me, 0);
}

static void try_step(struct cell *a, struct cell *b, uint64_t me)
{
	both_step(a, b, me, 1);
}

static void rwlock_step(struct cell *a, struct cell *b, uint64_t me)
{
	uint64_t seen;

	pthread_rwlock_rdlock(&b->gate);
	seen = b->value;
	pause_step();
	pthread_rwlock_unlock(&b->gate);
	pthread_rwlock_wrlock(&a->gate);
	a->value = a->value * FACTOR + seen + me;
	pthread_rwlock_unlock(&a->gate);
}

static void wait_step(struct cell *a, struct cell *b, uint64_t me)
{
	pthread_mutex_lock(a->lock);
	while (a->taken)
		pthread_cond_wait(&a->idle, a->lock);
	a->taken = 1;
	pthread_mutex_unlock(a->lock);
	pause_step();
	a->value = a->value * FACTOR + me;
	pthread_mutex_lock(a->lock);
	a->taken = 0;
	pthread_cond_signal(&a->idle);
	pthread_mutex_unlock(a->lock);
}

static void spin_step(struct cell *a, struct cell *b, uint64_t me)
{
	while (atomic_flag_test_and_set_explicit(&a->busy, memory_order_acquire))
		sched_yield();
	a->value = a->value * FACTOR + me;
	atomic_flag_clear_explicit(&a->busy, memory_order_release);
}

static void cas_step(struct cell *a, struct cell *b, uint64_t me)
{
	uint64_t old = atomic_load(&a->shared);

	while (!atomic_compare_exchange_weak(&a->shared, &old, old * FACTOR + me))
		;
}

static void relaxed_step(struct cell *a, struct cell *b, uint64_t me)
{
	uint64_t seen = atomic_load_explicit(&b->shared, memory_order_relaxed), old = atomic_load(&a->shared);

	while (!atomic_compare_exchange_weak(&a->shared, &old, old * FACTOR + seen + me))
		;
}

/* Without a look at what is there: a read in front of the write would have its stamp for it. */
static void publish_step(struct cell *a, struct cell *b, uint64_t me)
{
	static __thread uint64_t last;
	struct cell *mine = &cells[me];

	last = last * FACTOR + me +
	       atomic_load_explicit(b == mine ? &cells[0].shared : &b->shared, memory_order_acquire);
	atomic_store_explicit(&mine->shared, last, memory_order_release);
}

typedef void step_fn(struct cell *a, struct cell *b, uint64_t me);

static step_fn *step_of(const char *name)
{
	static const struct {
		const char *name;
		step_fn *step;
	} steps[] = {{"mutex", mutex_step},   {"crowd", mutex_step},     {"try", try_step},
		     {"rwlock", rwlock_step}, {"wait", wait_step},       {"spin", spin_step},
		     {"cas", cas_step},       {"relaxed", relaxed_step}, {"publish", publish_step}};

	for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++)
		if (!strcmp(steps[i].name, name))
			return steps[i].step;
	return NULL;
}

static void *work(void *argument)
{
	uint64_t me = (uint64_t)(uintptr_t)argument, random = me * 88172645463325252ull;
	/* Not looked at again: threads that read the same draw stamps, which would hide that others are
	 * missing. */
	step_fn *step = step_of(mode);

	pthread_barrier_wait(&begin);
	for (int i = 0; i < ROUNDS && step; i++) {
		struct cell *a, *b;

		pause_step();
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		a = &cells[random % CELLS];
		b = &cells[random / CELLS % CELLS];
		step(a, b, me);
	}
	return NULL;
}

/* As order_place_of() of src/rt/order.h. */
static uint64_t place_of(const pthread_mutex_t *lock)
{
	return ((uint64_t)lock >> 3) * 0x9e3779b97f4a7c15ull >> 53;
}

/* Of so many locks there are some thirty for each place. */
static void crowd(void)
{
	static pthread_mutex_t many[MANY];
	int found = 0;

	for (int i = 0; i < MANY && found < CELLS; i++)
		if (place_of(&many[i]) == place_of(&many[0])) {
			pthread_mutex_init(&many[i], NULL);
			cells[found++].lock = &many[i];
		}
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	mode = argc > 1 ? argv[1] : "mutex";
	pthread_barrier_init(&begin, NULL, THREADS);
	for (int i = 0; i < CELLS; i++) {
		cells[i].lock = &cells[i].own;
		pthread_mutex_init(cells[i].lock, NULL);
		pthread_rwlock_init(&cells[i].gate, NULL);
		pthread_cond_init(&cells[i].idle, NULL);
	}
	if (!strcmp(mode, "crowd"))
		crowd();
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < CELLS; i++)
		printf("%p %p %llx\n", (void *)&cells[i].value, (void *)&cells[i].shared,
		       (unsigned long long)(cells[i].value + atomic_load(&cells[i].shared)));
	return 0;
}
