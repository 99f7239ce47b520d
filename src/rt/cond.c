/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Condition variables; cond.h says what a wait looks like. */
#include "rt/cond.h"
#include "rt/heal.h"
#include "rt/lock.h"
#include "rt/real.h"
#include "rt/watch.h"

#include <errno.h>

void cond_begin(struct cond_wait *wait, const struct timespec *until)
{
	bool refused = until && (until->tv_nsec < 0 || until->tv_nsec >= 1000000000);

	if (unlikely(heal_on))
		heal_on_wait(wait->mutex);

	/* libc looks at the time first and the owner second, and returns with the
	 * mutex as it was: that is no wait at all. */
	wait->recorded = (rt_on() || rt_watching & WATCH_SECTIONS) && !refused && rt_mutex_mine(wait->mutex);
	if (wait->recorded)
		rt_op_value(TRACE_OP_WAIT, 0, wait->condition, (uintptr_t)wait->mutex, wait->site);
}

void cond_end(const struct cond_wait *wait, int error)
{
	if (unlikely(heal_on))
		heal_on_waited(wait->mutex);
	if (!wait->recorded)
		return;
	rt_op_values(TRACE_OP_WAKE, 0, wait->condition, (uintptr_t)wait->mutex, error, wait->site);
	/* The one case in which a waiter comes back without the mutex. */
	if (error == ENOTRECOVERABLE)
		rt_op(TRACE_OP_UNLOCK, 0, wait->mutex, wait->site);
}

void cond_cancelled(void *wait)
{
	cond_end(wait, ECANCELED);
}

INTERPOSER int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	struct cond_wait wait = {condition, mutex, rt_take_site(), false};
	int error;

	COND_WAIT(wait, 0, NULL, error, REAL(pthread_cond_wait)(condition, mutex));
	return error;
}

/* glibc keeps the clock of pthread_condattr_setclock in a bit of its own. */
static clockid_t rt_cond_clock(const pthread_cond_t *condition)
{
	enum { CLOCK_BIT = 2 };

	return condition->__data.__wrefs & CLOCK_BIT ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

INTERPOSER int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
				      const struct timespec *until)
{
	struct cond_wait wait = {condition, mutex, rt_take_site(), false};
	int error;

	COND_WAIT(wait, rt_cond_clock(condition), until, error,
		  REAL(pthread_cond_timedwait)(condition, mutex, until));
	return error;
}

INTERPOSER int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
				      const struct timespec *until)
{
	struct cond_wait wait = {condition, mutex, rt_take_site(), false};
	int error;

	COND_WAIT(wait, clock, until, error, REAL(pthread_cond_clockwait)(condition, mutex, clock, until));
	return error;
}

INTERPOSER int pthread_cond_signal(pthread_cond_t *condition)
{
	const struct atomsan_site *site = rt_take_site();

	rt_op(TRACE_OP_SIGNAL, 0, condition, site);
	if (unlikely(sched.waiters) && sched_cond_signal(condition, false))
		return 0;
	return REAL(pthread_cond_signal)(condition);
}

INTERPOSER int pthread_cond_broadcast(pthread_cond_t *condition)
{
	const struct atomsan_site *site = rt_take_site();

	rt_op(TRACE_OP_BROADCAST, 0, condition, site);
	if (unlikely(sched.waiters))
		sched_cond_signal(condition, true);
	return REAL(pthread_cond_broadcast)(condition);
}
