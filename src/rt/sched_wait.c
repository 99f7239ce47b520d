/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Waits that cannot be made of attempts. A wait for a condition is modelled
 * whole: which waiter a signal wakes is then a rule (whom a schedule wants
 * next, else who came first) and not libc's choice. Such a wait outlives the scheduler, for a thread that
 * waits when all are freed must not go on before it is signalled; so signals look here first for as long as
 * anybody is left.
 */
#include "rt/real.h"
#include "rt/scheduler.h"
#include "rt/sys.h"

#include <errno.h>
#include <linux/futex.h>

uint64_t sched_deadline(clockid_t clock, const struct timespec *until)
{
	struct timespec now = {0, 0};
	int64_t left;

	if (!until)
		return 0;
	sys2(clock_gettime, clock, &now);
	left = (until->tv_sec - now.tv_sec) * 1000000000ll + (until->tv_nsec - now.tv_nsec);
	return left > 0 ? sched_now() + (uint64_t)left : 1;
}

void sched_testcancel(void)
{
	REAL(pthread_testcancel)();
}

/* ---- conditions ---- */

static bool may_be_woken(const struct sched_thread *t, const void *condition)
{
	return t->waits == SCHED_WAIT_CONDITION && t->object == condition && !t->signalled;
}

/* Who came first; but in a free run libc may have woken another one, and the schedule that was made of it has
 * that one go on. */
static struct sched_thread *whom_to_wake(const void *condition)
{
	struct sched_thread *first = NULL, *wanted;
	unsigned count = 0;

	for (uint32_t i = 0; i < sched.count; i++) {
		struct sched_thread *t = sched_thread(i);

		if (!may_be_woken(t, condition))
			continue;
		count++;
		if (!first || t->ticket < first->ticket)
			first = t;
	}
	wanted = count > 1 && sched.mode == SCHED_FOLLOW && !sched.freed
			 ? sched_plan_wants(SCHED_WAIT_CONDITION, condition)
			 : NULL;
	/* One that waits for some time only may be meant to go on because that is over. */
	return wanted && !wanted->deadline ? wanted : first;
}

bool sched_cond_signal(const void *condition, bool all)
{
	bool found = false;

	if (rt_self.sched && rt_self.sched->busy)
		return false; /* a handler; libc does not allow it anyway */
	sched_lock();
	for (;;) {
		struct sched_thread *first = whom_to_wake(condition);

		if (!first)
			break;
		found = true;
		first->status = SCHED_READY;
		sched.progress++;
		/* pairs with the loads in sched_cond_wait() and freely() */
		__atomic_store_n(&first->signalled, 1, __ATOMIC_RELEASE);
		if (sched.freed)
			sys3(futex, &first->signalled, FUTEX_WAKE_PRIVATE, 1);
		if (!all)
			break;
	}
	sched_unlock();
	return found;
}

/* The scheduler is off, and nobody has signalled yet. */
static int freely(struct sched_thread *me)
{
	int error = 0;

	while (!__atomic_load_n(&me->signalled, __ATOMIC_ACQUIRE)) {
		struct timespec most;
		uint64_t now = sched_now(), left;

		if (!me->deadline) {
			sys4(futex, &me->signalled, FUTEX_WAIT_PRIVATE, 0, NULL);
			continue;
		}
		left = me->deadline > now ? me->deadline - now : 0;
		most = (struct timespec){(time_t)(left / 1000000000), (long)(left % 1000000000)};
		if (left) {
			sys4(futex, &me->signalled, FUTEX_WAIT_PRIVATE, 0, &most);
			continue;
		}
		sched_lock();
		if (!me->signalled) {
			error = ETIMEDOUT;
			me->waits = SCHED_WAIT_NONE;
		}
		sched_unlock();
		if (error)
			break;
	}
	return error;
}

static int lock_again(struct sched_thread *me, pthread_mutex_t *mutex, const struct atomsan_site *site)
{
	int error;

	if (sched.freed)
		return REAL(pthread_mutex_lock)(mutex);
	while ((error = REAL(pthread_mutex_trylock)(mutex)) == EBUSY)
		if (sched_block(me, SCHED_WAIT_MUTEX, mutex, site, 0) == SCHED_FREE)
			return REAL(pthread_mutex_lock)(mutex);
	return error;
}

int sched_cond_wait(struct sched_thread *me, const void *condition, pthread_mutex_t *mutex,
		    const struct atomsan_site *site, uint64_t deadline)
{
	enum sched_woken woken;
	int error, failed;

	sched_testcancel();
	error = REAL(pthread_mutex_unlock)(mutex);
	if (error)
		return error;
	me->signalled = 0;
	__atomic_fetch_add(&sched.waiters, 1, __ATOMIC_ACQ_REL);
	sched_wake(mutex);
	woken = sched_block(me, SCHED_WAIT_CONDITION, condition, site, deadline);
	if (woken == SCHED_FREE)
		error = freely(me);
	else if (!me->signalled)
		error = woken == SCHED_LATE ? ETIMEDOUT : woken == SCHED_CANCELLED ? ECANCELED : 0;
	me->waits = SCHED_WAIT_NONE;
	me->signalled = 0;
	__atomic_fetch_sub(&sched.waiters, 1, __ATOMIC_ACQ_REL);
	failed = lock_again(me, mutex, site);
	if (error == ECANCELED) {
		sched_testcancel();
		error = 0; /* it has that switched off: a wait may end for no reason */
	}
	return failed ? failed : error;
}

/* ---- barriers ---- */

/* glibc keeps how many must come in the third word. */
static unsigned wanted(const pthread_barrier_t *barrier)
{
	return ((const unsigned *)(const void *)barrier)[2];
}

int sched_barrier(struct sched_thread *me, pthread_barrier_t *barrier, const struct atomsan_site *site)
{
	unsigned here = 1;

	if (sched.freed)
		return REAL(pthread_barrier_wait)(barrier);
	sched_lock();
	for (uint32_t i = 0; i < sched.count; i++) {
		const struct sched_thread *t = sched_thread(i);

		here += t->waits == SCHED_WAIT_BARRIER && t->object == barrier && !t->signalled;
	}
	if (here >= wanted(barrier)) {
		for (uint32_t i = 0; i < sched.count; i++) {
			struct sched_thread *t = sched_thread(i);

			if (t->waits != SCHED_WAIT_BARRIER || t->object != barrier)
				continue;
			t->signalled = 1;
			t->status = SCHED_READY;
			sched.progress++;
		}
		sched_unlock();
		return PTHREAD_BARRIER_SERIAL_THREAD;
	}
	sched_unlock();
	me->signalled = 0;
	while (!me->signalled)
		if (sched_block(me, SCHED_WAIT_BARRIER, barrier, site, 0) == SCHED_FREE) {
			bool may_go = me->signalled;

			me->waits = SCHED_WAIT_NONE;
			return may_go ? 0 : REAL(pthread_barrier_wait)(barrier);
		}
	return 0;
}

/* ---- once ---- */

void sched_once(struct sched_thread *me, const pthread_once_t *control, const struct atomsan_site *site)
{
	enum { STATE = 3, UNDER_WAY = 1 };

	sched_before(me, control, site);
	while ((__atomic_load_n(control, __ATOMIC_ACQUIRE) & STATE) == UNDER_WAY)
		if (sched_block(me, SCHED_WAIT_ONCE, control, site, 0) == SCHED_FREE)
			return;
}
