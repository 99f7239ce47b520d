/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Locks under which nothing is healed, and others. Behind each function stands how
 * many of its calls that lock are bare, and how many there are. `shared.value` has
 * a section: read under the lock `outer` and written under it, which is let go in between.
 *
 * As a program: some threads go through the section, and others take two locks, one inside of the other, in
 * the order in which the section's thread must not be waited for.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <threads.h>

struct node {
	pthread_mutex_t lock;
	struct node *next;
	long value;
};

static struct shared {
	long value;
} shared;
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static long count, other;

void unknown(void);
#define APART __attribute__((noinline))

APART long quiet(long n)
{
	count += n;
	return count * n;
} /* bare 0 of 0 */

void simple(pthread_mutex_t *a)
{
	pthread_mutex_lock(a);
	count++;
	pthread_mutex_unlock(a);
} /* bare 1 of 1 */

void nested(pthread_mutex_t *a, pthread_mutex_t *b)
{
	pthread_mutex_lock(a);
	pthread_mutex_lock(b);
	count++;
	pthread_mutex_unlock(b);
	pthread_mutex_unlock(a);
} /* bare 2 of 2 */

void nested_if(pthread_mutex_t *a, pthread_mutex_t *b)
{
	pthread_mutex_lock(a);
	if (a != b)
		pthread_mutex_lock(b);
	for (volatile int i = 0; i < 3; i++)
		count++;
	if (a != b)
		pthread_mutex_unlock(b);
	pthread_mutex_unlock(a);
} /* bare 2 of 2 */

void nested_thrice(pthread_mutex_t *a, pthread_mutex_t *b, pthread_mutex_t *c)
{
	pthread_mutex_lock(a);
	pthread_mutex_lock(b);
	pthread_mutex_lock(c);
	count++;
	pthread_mutex_unlock(c);
	pthread_mutex_unlock(b);
	pthread_mutex_unlock(a);
} /* bare 1 of 3 */

int early(pthread_mutex_t *a, int way)
{
	if (pthread_mutex_lock(a))
		return -1;
	if (way) {
		count++;
		pthread_mutex_unlock(a);
		return 1;
	}
	other++;
	pthread_mutex_unlock(a);
	return 0;
} /* bare 1 of 1 */

void either(pthread_mutex_t *a, pthread_mutex_t *b, int way)
{
	/* One call for both lets them go, and which one it is depends on the way. */
	if (way) {
		quiet(3);
		pthread_mutex_lock(a);
		for (volatile int i = 0; i < 3; i++)
			count++;
		pthread_mutex_unlock(a);
	} else {
		pthread_mutex_lock(b);
		for (volatile int i = 0; i < 5; i++)
			other++;
		pthread_mutex_unlock(b);
	}
} /* bare 2 of 2 */

void again_and_again(pthread_mutex_t *a, int times)
{
	for (int i = 0; i < times; i++) {
		pthread_mutex_lock(a);
		count += times;
		pthread_mutex_unlock(a);
	}
} /* bare 1 of 1 */

void behind_a_pointer(struct node **node)
{
	pthread_mutex_lock(&(*node)->lock);
	(*node)->value++;
	pthread_mutex_unlock(&(*node)->lock);
} /* bare 1 of 1 */

int shared_until_it_works(pthread_rwlock_t *a)
{
	int error;

	do
		error = pthread_rwlock_rdlock(a);
	while (error == 11);
	if (error)
		return error;
	error = (int)count;
	pthread_rwlock_unlock(a);
	return error;
} /* bare 1 of 1 */

void kinds(pthread_rwlock_t *a, pthread_spinlock_t *b, mtx_t *c)
{
	pthread_rwlock_wrlock(a);
	count++;
	pthread_rwlock_unlock(a);
	pthread_spin_lock(b);
	count++;
	pthread_spin_unlock(b);
	mtx_lock(c);
	count++;
	mtx_unlock(c);
} /* bare 3 of 3 */

void calls_quiet(pthread_mutex_t *a)
{
	pthread_mutex_lock(a);
	other = quiet(other);
	pthread_mutex_unlock(a);
} /* bare 1 of 1 */

void keeps(pthread_mutex_t *a)
{
	pthread_mutex_lock(a);
	count++;
} /* bare 0 of 1 */

void twice(pthread_mutex_t *a)
{
	pthread_mutex_lock(a);
	pthread_mutex_lock(a);
	count++;
	pthread_mutex_unlock(a);
	unknown();
	pthread_mutex_unlock(a);
} /* bare 1 of 2 */

void calls_unknown(pthread_mutex_t *a)
{
	pthread_mutex_lock(a);
	unknown();
	pthread_mutex_unlock(a);
} /* bare 0 of 1 */

void calls_pointer(pthread_mutex_t *a, void (*function)(void))
{
	pthread_mutex_lock(a);
	function();
	pthread_mutex_unlock(a);
} /* bare 0 of 1 */

APART void locks_too(void)
{
	pthread_mutex_lock(&inner);
	count++;
	pthread_mutex_unlock(&inner);
} /* bare 1 of 1 */

void calls_locks(pthread_mutex_t *a)
{
	pthread_mutex_lock(a);
	locks_too();
	pthread_mutex_unlock(a);
} /* bare 0 of 1 */

void waits(pthread_mutex_t *a)
{
	pthread_mutex_lock(a);
	while (!count)
		pthread_cond_wait(&condition, a);
	pthread_mutex_unlock(a);
} /* bare 0 of 1 */

void jumps(pthread_mutex_t *a, jmp_buf to)
{
	pthread_mutex_lock(a);
	if (count)
		longjmp(to, 1);
	pthread_mutex_unlock(a);
} /* bare 0 of 1 */

void tries(pthread_mutex_t *a, pthread_mutex_t *b)
{
	pthread_mutex_lock(a);
	if (!pthread_mutex_trylock(b)) {
		count++;
		pthread_mutex_unlock(b);
	}
	pthread_mutex_unlock(a);
} /* bare 0 of 1 */

void perhaps_held(pthread_mutex_t *a, pthread_mutex_t *b, int way)
{
	int same = way;

	/* The optimiser must not know. */
	__asm__ volatile("" : "+r"(same));
	pthread_mutex_lock(a);
	if (way)
		pthread_mutex_unlock(a);
	pthread_mutex_lock(b);
	count++;
	pthread_mutex_unlock(b);
	if (!same)
		pthread_mutex_unlock(a);
} /* bare 1 of 2 */

void hand_over_hand(struct node *node)
{
	pthread_mutex_lock(&node->lock);
	while (node->next) {
		struct node *next = node->next;

		pthread_mutex_lock(&next->lock);
		pthread_mutex_unlock(&node->lock);
		node = next;
	}
	node->value++;
	pthread_mutex_unlock(&node->lock);
} /* bare 0 of 2 */

APART long get(void)
{
	long value;

	pthread_mutex_lock(&outer);
	value = shared.value; /* entry */
	pthread_mutex_unlock(&outer);
	return value;
} /* bare 0 of 1 */

APART void set(long value)
{
	pthread_mutex_lock(&outer);
	shared.value = value; /* end */
	pthread_mutex_unlock(&outer);
} /* bare 0 of 1 */

void calls_section(pthread_mutex_t *a)
{
	pthread_mutex_lock(a);
	set(get() + 1);
	pthread_mutex_unlock(a);
} /* bare 0 of 1 */

/* ---- the program ---- */

enum { THREADS = 4, TIMES = 4000 };

/* So that others come in between. */
static void pause_a_moment(void)
{
	for (volatile int i = 0; i < 300; i++)
		continue;
}

APART void add(void)
{
	long value = get();

	pause_a_moment();
	/* Somebody who has this one waits for the other one, whose gate is closed. */
	pthread_mutex_lock(&inner);
	count++;
	pthread_mutex_unlock(&inner);
	set(value + 1);
}

APART void both(void)
{
	pthread_mutex_lock(&inner);
	pause_a_moment();
	pthread_mutex_lock(&outer);
	count++;
	pthread_mutex_unlock(&outer);
	pthread_mutex_unlock(&inner);
}

static void *run(void *role)
{
	for (int i = 0; i < TIMES; i++)
		if (role)
			add();
		else
			both();
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, run, i % 2 ? &shared : NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld %ld\n", shared.value, count);
	return shared.value != THREADS / 2 * TIMES;
}
