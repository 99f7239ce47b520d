/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the interposers of the lock families share (mutex.c has the code). */
#ifndef ATOMSAN_RT_LOCK_H
#define ATOMSAN_RT_LOCK_H

#include "rt/rt.h"

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

/* Before pthread_mutex_unlock and mtx_unlock: records the UNLOCK unless libc is going to refuse. */
void rt_mutex_unlocking(const pthread_mutex_t *mutex, unsigned flags, const struct atomsan_site *site);

#endif
