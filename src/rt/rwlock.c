/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Readers-writer locks: RDLOCK for a reader, LOCK for a writer, one UNLOCK for
 * both, for that is what POSIX has. libc never refuses an unlock.
 */
#include "rt/heal.h"
#include "rt/lock.h"
#include "rt/order.h"
#include "rt/real.h"
#include "rt/scheduler.h"
#include "rt/sys.h"

#include <errno.h>

static void locked(enum trace_op op, unsigned flags, const void *lock, int error,
		   const struct atomsan_site *site)
{
	flags |= TRACE_LOCK_RW;
	if (error)
		rt_failed(TRACE_OP_LOCK_FAILED, flags, lock, error, site);
	else
		rt_op_lock(op, flags, lock, site);
}

INTERPOSER int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes)
{
	const struct atomsan_site *site = rt_take_site();
	int error = REAL(pthread_rwlock_init)(lock, attributes);

	if (!error)
		rt_op(TRACE_OP_LOCK_INIT, TRACE_LOCK_RW, lock, site);
	return error;
}

INTERPOSER int pthread_rwlock_destroy(pthread_rwlock_t *lock)
{
	const struct atomsan_site *site = rt_take_site();
	int error = REAL(pthread_rwlock_destroy)(lock);

	if (!error)
		rt_op(TRACE_OP_LOCK_DESTROY, TRACE_LOCK_RW, lock, site);
	return error;
}

/* What the scheduler tries until it works. libc refuses who writes already. */
static int attempt(pthread_rwlock_t *lock, int (*try)(pthread_rwlock_t *), int (*wait)(pthread_rwlock_t *))
{
	int error;

	HEAL_ATTEMPT(lock);
	error = try(lock);
	return error == EBUSY && lock->__data.__cur_writer == (int)sys0(gettid) ? wait(lock) : error;
}
#define LOCK(deadline, kind, real)                                                                       \
	HEAL_LOCK(lock,                                                                                  \
		  SCHED_WAIT(SCHED_WAIT_RWLOCK, lock, site, deadline,                                    \
			     attempt(lock, REAL(pthread_rwlock_try##kind), REAL(pthread_rwlock_##kind)), \
			     EBUSY, real),                                                               \
		  REAL(pthread_rwlock_unlock)(lock))

/* Bits of glibc's word, which pthread.h does not name: writers' turn, a writer has it, and above how many
 * read. */
enum { WRITERS_TURN = 1, WRITING = 2, READERS_SHIFT = 3 };

static inline bool keeps_rdlock(const pthread_rwlock_t *lock)
{
	unsigned word = __atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED);

	return !(~word & (WRITERS_TURN | WRITING));
}

static inline bool keeps_wrlock(const pthread_rwlock_t *lock)
{
	unsigned word = __atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED);

	return word & WRITING || word >> READERS_SHIFT;
}

#define PLAIN(kind, op)                                                      \
	static int kind##_soon(pthread_rwlock_t *lock)                       \
	{                                                                    \
		RT_LINGER(lock, lock->__data.__readers, keeps_##kind(lock)); \
		return REAL(pthread_rwlock_##kind)(lock);                    \
	}                                                                    \
                                                                             \
	INTERPOSER int pthread_rwlock_##kind(pthread_rwlock_t *lock)         \
	{                                                                    \
		const struct atomsan_site *site = rt_take_site();            \
		int error = LOCK(0, kind, kind##_soon(lock));                \
                                                                             \
		locked(TRACE_OP_##op, 0, lock, error, site);                 \
		return error;                                                \
	}
PLAIN(rdlock, RDLOCK)
PLAIN(wrlock, LOCK)

#define TRY(name, op)                                                                         \
	INTERPOSER int name(pthread_rwlock_t *lock)                                           \
	{                                                                                     \
		const struct atomsan_site *site = rt_take_site();                             \
		int error;                                                                    \
                                                                                              \
		SCHED_POINT(lock, site);                                                      \
		error = HEAL_LOCK(lock, REAL(name)(lock), REAL(pthread_rwlock_unlock)(lock)); \
		locked(TRACE_OP_##op, TRACE_LOCK_TRY, lock, error, site);                     \
		return error;                                                                 \
	}
TRY(pthread_rwlock_tryrdlock, RDLOCK)
TRY(pthread_rwlock_trywrlock, LOCK)

#define TIMED(name, op, kind)                                                                           \
	INTERPOSER int name(pthread_rwlock_t *lock, const struct timespec *until)                       \
	{                                                                                               \
		const struct atomsan_site *site = rt_take_site();                                       \
		int error = LOCK(sched_deadline(CLOCK_REALTIME, until), kind, REAL(name)(lock, until)); \
                                                                                                        \
		locked(TRACE_OP_##op, TRACE_LOCK_TIMED, lock, error, site);                             \
		return error;                                                                           \
	}
TIMED(pthread_rwlock_timedrdlock, RDLOCK, rdlock)
TIMED(pthread_rwlock_timedwrlock, LOCK, wrlock)

#define CLOCKED(name, op, kind)                                                                       \
	INTERPOSER int name(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until)    \
	{                                                                                             \
		const struct atomsan_site *site = rt_take_site();                                     \
		int error = LOCK(sched_deadline(clock, until), kind, REAL(name)(lock, clock, until)); \
                                                                                                      \
		locked(TRACE_OP_##op, TRACE_LOCK_TIMED, lock, error, site);                           \
		return error;                                                                         \
	}
CLOCKED(pthread_rwlock_clockrdlock, RDLOCK, rdlock)
CLOCKED(pthread_rwlock_clockwrlock, LOCK, wrlock)

/* libc notes who writes; the caller holds the lock, so a writer would be the caller. */
bool order_held_shared(const void *lock) ATOMSAN_KEEPS_REGISTERS
{
	return !__atomic_load_n(&((const pthread_rwlock_t *)lock)->__data.__cur_writer, __ATOMIC_RELAXED);
}

INTERPOSER int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	const struct atomsan_site *site = rt_take_site();
	int error;

	rt_op_lock(TRACE_OP_UNLOCK, TRACE_LOCK_RW, lock, site);
	error = REAL(pthread_rwlock_unlock)(lock);
	rt_unlocked();
	return error;
}
