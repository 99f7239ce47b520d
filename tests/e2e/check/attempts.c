/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Locks that are taken in a loop of attempts. Whoever takes one goes on with its unit: each
 * `_torn` reads in one critical section what it writes in another, and is told of. `drain`
 * is a loop that works under the lock, an iteration each time, and is not.
 */
#include "stage.h"

#include <errno.h>
#include <semaphore.h>

struct data {
	pthread_mutex_t mutex, second;
	sem_t semaphore;
	int value, count;
};

static void try_lock(struct data *d)
{
	while (pthread_mutex_trylock(&d->mutex))
		sched_yield();
}

static void wait_lock(struct data *d)
{
	while (sem_wait(&d->semaphore) < 0 && errno == EINTR)
		;
}

static void back_off(struct data *d)
{
	for (;;) {
		pthread_mutex_lock(&d->mutex);
		if (!pthread_mutex_trylock(&d->second))
			return;
		pthread_mutex_unlock(&d->mutex);
		sched_yield();
	}
}

static void unlock_both(struct data *d)
{
	pthread_mutex_unlock(&d->second);
	pthread_mutex_unlock(&d->mutex);
}

#define CASE(name, first, lock, unlock)                         \
	static struct name {                                    \
		struct data d;                                  \
	} name;                                                 \
	__attribute__((noinline)) static void name##_torn(void) \
	{                                                       \
		lock;                                           \
		int value = name.d.value;                       \
		unlock;                                         \
		STAGE(first);                                   \
		STAGE((first) + 3);                             \
		lock;                                           \
		name.d.value = value + 1;                       \
		unlock;                                         \
	}                                                       \
	__attribute__((noinline)) static void name##_set(void)  \
	{                                                       \
		STAGE((first) + 1);                             \
		lock;                                           \
		name.d.value = 7;                               \
		unlock;                                         \
		STAGE((first) + 2);                             \
	}

CASE(tried, 0, try_lock(&tried.d), pthread_mutex_unlock(&tried.d.mutex))
CASE(waited, 4, wait_lock(&waited.d), sem_post(&waited.d.semaphore))
CASE(both, 12, back_off(&both.d), unlock_both(&both.d))

static struct drained {
	struct data d;
} drained;

__attribute__((noinline)) static void drain(struct drained *of)
{
	for (int i = 0; i < 2; i++) {
		while (pthread_mutex_trylock(&of->d.mutex))
			sched_yield();
		of->d.value += of->d.count;
		pthread_mutex_unlock(&of->d.mutex);
		if (!i) {
			STAGE(8);
			STAGE(11);
		}
	}
}

__attribute__((noinline)) static void refill(struct drained *of)
{
	STAGE(9);
	try_lock(&of->d);
	of->d.count = 5;
	of->d.value = 0;
	pthread_mutex_unlock(&of->d.mutex);
	STAGE(10);
}

static void *one(void *unused)
{
	tried_torn();
	waited_torn();
	drain(&drained);
	both_torn();
	return unused;
}

static void *other(void *unused)
{
	tried_set();
	waited_set();
	refill(&drained);
	both_set();
	return unused;
}

int main(void)
{
	pthread_mutex_init(&tried.d.mutex, NULL);
	pthread_mutex_init(&drained.d.mutex, NULL);
	pthread_mutex_init(&both.d.mutex, NULL);
	pthread_mutex_init(&both.d.second, NULL);
	sem_init(&waited.d.semaphore, 0, 1);
	TOGETHER(one, other);
	return tried.d.value != 1 || waited.d.value != 1 || drained.d.value != 5 || both.d.value != 1;
}
