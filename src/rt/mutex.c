/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Mutexes. A lock is recorded when it has been got, an unlock before it is
 * done, so that of two critical sections the stamps give the order.
 */
#include "rt/heal.h"
#include "rt/lock.h"
#include "rt/real.h"
#include "rt/scheduler.h"
#include "rt/sys.h"

#include <errno.h>
#include <linux/futex.h>

/* Bits of glibc's mutex kind that pthread.h does not name. */
enum { KIND_TYPE = 3, KIND_ROBUST = 16, KIND_INHERIT = 32 };

static __thread struct {
	const void *object;
	uint64_t next;
	int error;
} last_failure;

void rt_failed(enum trace_op op, unsigned flags, const void *object, int error,
	       const struct atomsan_site *site)
{
	if (!rt_on())
		return;
	if (last_failure.object == object && last_failure.error == error && last_failure.next == rt_self.next)
		return;
	rt_op_value(op, flags, object, error, site);
	last_failure.object = object;
	last_failure.error = error;
	last_failure.next = rt_self.next;
}

/* To be asked by the holder only: the count is not anybody else's to read. */
static unsigned recursive_flag(const pthread_mutex_t *mutex)
{
	bool again =
		(mutex->__data.__kind & KIND_TYPE) == PTHREAD_MUTEX_RECURSIVE && mutex->__data.__count > 1;

	return again ? TRACE_LOCK_RECURSIVE : 0;
}

void rt_mutex_locked(const pthread_mutex_t *mutex, unsigned flags, int error, const struct atomsan_site *site)
{
	if (error == EOWNERDEAD)
		flags |= TRACE_LOCK_OWNERDEAD;
	else if (error) {
		rt_failed(TRACE_OP_LOCK_FAILED, flags, mutex, error, site);
		return;
	}
	rt_op_lock(TRACE_OP_LOCK, flags | recursive_flag(mutex), mutex, site);
}

bool rt_mutex_mine(const pthread_mutex_t *mutex)
{
	int kind = mutex->__data.__kind;
	int type = kind & KIND_TYPE;

	/* The lock word has the owner; the field for it may say "inconsistent". */
	if (kind & (KIND_ROBUST | KIND_INHERIT))
		return (__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) & FUTEX_TID_MASK) ==
		       (int)sys0(gettid);
	if (type == PTHREAD_MUTEX_RECURSIVE || type == PTHREAD_MUTEX_ERRORCHECK)
		return __atomic_load_n(&mutex->__data.__owner, __ATOMIC_RELAXED) == (int)sys0(gettid);
	/* A plain mutex has no owner worth asking: libc unlocks it for whoever calls. */
	return true;
}

/*
 * The stamp must be drawn before the unlock, when it is not yet known whether
 * libc will refuse. Recording an unlock and taking it back would let the
 * holder's critical section look broken, so the owner is asked first, as libc
 * does; only the owner can change the answer, so it stays true until the call.
 */
void rt_mutex_unlocking(const pthread_mutex_t *mutex, unsigned flags, const struct atomsan_site *site)
{
	if (!rt_on() || rt_mutex_mine(mutex))
		rt_op_lock(TRACE_OP_UNLOCK, flags | recursive_flag(mutex), mutex, site);
}

/* What the scheduler tries until it works. Who already holds a mutex that checks for it is told so. */
static int attempt(pthread_mutex_t *mutex)
{
	int error;
	bool checks = (mutex->__data.__kind & KIND_TYPE) == PTHREAD_MUTEX_ERRORCHECK;

	HEAL_ATTEMPT(mutex);
	error = REAL(pthread_mutex_trylock)(mutex);
	return error == EBUSY && checks && rt_mutex_mine(mutex) ? REAL(pthread_mutex_lock)(mutex) : error;
}
#define LOCK(deadline, real)                                                                               \
	HEAL_LOCK(mutex, SCHED_WAIT(SCHED_WAIT_MUTEX, mutex, site, deadline, attempt(mutex), EBUSY, real), \
		  REAL(pthread_mutex_unlock)(mutex))

INTERPOSER int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
	const struct atomsan_site *site = rt_take_site();
	int error = REAL(pthread_mutex_init)(mutex, attributes);

	if (!error)
		rt_op(TRACE_OP_LOCK_INIT, 0, mutex, site);
	return error;
}

INTERPOSER int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	const struct atomsan_site *site = rt_take_site();
	int error = REAL(pthread_mutex_destroy)(mutex);

	/* Nobody may use it any more, so there is nobody to be ordered with. */
	if (!error)
		rt_op(TRACE_OP_LOCK_DESTROY, 0, mutex, site);
	return error;
}

static int lock_soon(pthread_mutex_t *mutex)
{
	RT_MUTEX_LINGER(mutex);
	return REAL(pthread_mutex_lock)(mutex);
}

INTERPOSER int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	const struct atomsan_site *site = rt_take_site();
	int error = LOCK(0, lock_soon(mutex));

	rt_mutex_locked(mutex, 0, error, site);
	return error;
}

INTERPOSER int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	const struct atomsan_site *site = rt_take_site();
	int error;

	SCHED_POINT(mutex, site);
	error = HEAL_LOCK(mutex, REAL(pthread_mutex_trylock)(mutex), REAL(pthread_mutex_unlock)(mutex));
	rt_mutex_locked(mutex, TRACE_LOCK_TRY, error, site);
	return error;
}

INTERPOSER int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	const struct atomsan_site *site = rt_take_site();
	int error = LOCK(sched_deadline(CLOCK_REALTIME, until), REAL(pthread_mutex_timedlock)(mutex, until));

	rt_mutex_locked(mutex, TRACE_LOCK_TIMED, error, site);
	return error;
}

INTERPOSER int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
	const struct atomsan_site *site = rt_take_site();
	int error = LOCK(sched_deadline(clock, until), REAL(pthread_mutex_clocklock)(mutex, clock, until));

	rt_mutex_locked(mutex, TRACE_LOCK_TIMED, error, site);
	return error;
}

INTERPOSER int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	const struct atomsan_site *site = rt_take_site();
	int error;

	rt_mutex_unlocking(mutex, 0, site);
	error = REAL(pthread_mutex_unlock)(mutex);
	rt_unlocked();
	return error;
}
