/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A wait on a condition variable, POSIX's or C11's: WAIT is recorded before
 * (it releases the mutex), WAKE after (the mutex is held again), whichever way
 * the wait ends: woken, timed out, or cancelled, when libc takes the mutex
 * before the thread's cleanup handlers run.
 */
#ifndef ATOMSAN_RT_COND_H
#define ATOMSAN_RT_COND_H

#include "rt/scheduler.h"

#include <pthread.h>
#include <time.h>

struct cond_wait {
	const void *condition;
	pthread_mutex_t *mutex;
	const struct atomsan_site *site;
	bool recorded;
};

/* `until` is NULL where the wait has no time-out. */
void cond_begin(struct cond_wait *wait, const struct timespec *until);
void cond_end(const struct cond_wait *wait, int error);
void cond_cancelled(void *wait);

/* `call` waits by itself and gives an errno; it is a cancellation point. */
#define COND_WAIT(wait, clock, until, error, call)                                                          \
	do {                                                                                                \
		struct sched_thread *me_;                                                                   \
                                                                                                            \
		cond_begin(&(wait), until);                                                                 \
		me_ = (wait).recorded ? sched_me() : NULL;                                                  \
		pthread_cleanup_push(cond_cancelled, &(wait));                                              \
		(error) = unlikely(me_) ? sched_cond_wait(me_, (wait).condition, (wait).mutex, (wait).site, \
							  sched_deadline(clock, until))                     \
					: (call);                                                           \
		pthread_cleanup_pop(0);                                                                     \
		cond_end(&(wait), error);                                                                   \
	} while (0)

#endif
