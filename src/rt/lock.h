/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the interposers of the lock families share (mutex.c has the code). */
#ifndef ATOMSAN_RT_LOCK_H
#define ATOMSAN_RT_LOCK_H

#include "rt/order.h"
#include "rt/rt.h"
#include "rt/watch.h"

#include <pthread.h>

/*
 * A lock or semaphore that was not got: op is LOCK_FAILED or SEM_FAILED. A
 * thread that polls one object, with nothing else recorded in between, is
 * recorded once: the repetitions say nothing new and could fill a disk.
 */
void rt_failed(enum trace_op op, unsigned flags, const void *object, int error,
	       const struct atomsan_site *site);

/* After a lock operation on a pthread mutex that returned `error`. */
void rt_mutex_locked(const pthread_mutex_t *mutex, unsigned flags, int error,
		     const struct atomsan_site *site);

/* False if libc is going to refuse to unlock the mutex because the caller does not hold it. */
bool rt_mutex_mine(const pthread_mutex_t *mutex);

/*
 * Before a lock is asked for: while somebody else has it, `taken`, wait for a
 * moment. Recording makes critical sections several times as long, so threads
 * meet at locks that would not have met, and to be put to sleep and woken up costs
 * more than most sections take. The word is fetched as who writes to it fetches
 * it, lest it come twice, and beside it the keys that are noted at the lock.
 */
#define RT_LINGER(lock, word, taken)                                   \
	do {                                                           \
		enum { MOMENT = 64 };                                  \
                                                                       \
		__asm__ volatile("prefetchw %0" : : "m"(word));        \
		order_fetch(lock);                                     \
		if (unlikely(taken) && rt_on() && !rt_watching)        \
			for (int i_ = 0; i_ < MOMENT && (taken); i_++) \
				__asm__ volatile("pause");             \
	} while (0)

/* Of a mutex of the plainest kind, which is 0; all others look who asks. */
#define RT_MUTEX_LINGER(mutex)                   \
	RT_LINGER(mutex, (mutex)->__data.__lock, \
		  !(mutex)->__data.__kind && __atomic_load_n(&(mutex)->__data.__lock, __ATOMIC_RELAXED))

/* Before pthread_mutex_unlock and mtx_unlock: records the UNLOCK unless libc is going to refuse. */
void rt_mutex_unlocking(const pthread_mutex_t *mutex, unsigned flags, const struct atomsan_site *site);

#endif
