/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Spin locks. They know no owner, so no unlock is ever refused. */
#include "rt/heal.h"
#include "rt/lock.h"
#include "rt/real.h"
#include "rt/scheduler.h"

#include <errno.h>

/* pthread.h has the locks as pointers to volatile; the trace wants the address only. */
static void locked(unsigned flags, pthread_spinlock_t *lock, int error, const struct atomsan_site *site)
{
	flags |= TRACE_LOCK_SPIN;
	if (error)
		rt_failed(TRACE_OP_LOCK_FAILED, flags, (const void *)lock, error, site);
	else
		rt_op_lock(TRACE_OP_LOCK, flags, (const void *)lock, site);
}

INTERPOSER int pthread_spin_init(pthread_spinlock_t *lock, int shared)
{
	const struct atomsan_site *site = rt_take_site();
	int error = REAL(pthread_spin_init)(lock, shared);

	if (!error)
		rt_op(TRACE_OP_LOCK_INIT, TRACE_LOCK_SPIN, (const void *)lock, site);
	return error;
}

INTERPOSER int pthread_spin_destroy(pthread_spinlock_t *lock)
{
	const struct atomsan_site *site = rt_take_site();
	int error = REAL(pthread_spin_destroy)(lock);

	if (!error)
		rt_op(TRACE_OP_LOCK_DESTROY, TRACE_LOCK_SPIN, (const void *)lock, site);
	return error;
}

/* What the scheduler tries until it works. */
static int attempt(pthread_spinlock_t *lock)
{
	HEAL_ATTEMPT(lock);
	return REAL(pthread_spin_trylock)(lock);
}

INTERPOSER int pthread_spin_lock(pthread_spinlock_t *lock)
{
	const struct atomsan_site *site = rt_take_site();
	int error = HEAL_LOCK(lock,
			      SCHED_WAIT(SCHED_WAIT_SPIN, lock, site, 0, attempt(lock), EBUSY,
					 REAL(pthread_spin_lock)(lock)),
			      REAL(pthread_spin_unlock)(lock));

	locked(0, lock, error, site);
	return error;
}

INTERPOSER int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	const struct atomsan_site *site = rt_take_site();
	int error;

	SCHED_POINT(lock, site);
	error = HEAL_LOCK(lock, REAL(pthread_spin_trylock)(lock), REAL(pthread_spin_unlock)(lock));
	locked(TRACE_LOCK_TRY, lock, error, site);
	return error;
}

INTERPOSER int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	const struct atomsan_site *site = rt_take_site();
	int error;

	rt_op_lock(TRACE_OP_UNLOCK, TRACE_LOCK_SPIN, (const void *)lock, site);
	error = REAL(pthread_spin_unlock)(lock);
	rt_unlocked();
	return error;
}
