/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Readers-writer locks: RDLOCK for a reader, LOCK for a writer, one UNLOCK for
 * both, for that is what POSIX has. libc never refuses an unlock.
 */
#include "rt/lock.h"
#include "rt/real.h"

static void locked(enum trace_op op, unsigned flags, const void *lock, int error,
		   const struct atomsan_site *site)
{
	flags |= TRACE_LOCK_RW;
	if (error)
		rt_failed(TRACE_OP_LOCK_FAILED, flags, lock, error, site);
	else
		rt_op(op, flags, lock, site);
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

#define PLAIN(name, op, flags)                                    \
	INTERPOSER int name(pthread_rwlock_t *lock)               \
	{                                                         \
		const struct atomsan_site *site = rt_take_site(); \
		int error = REAL(name)(lock);                     \
                                                                  \
		locked(TRACE_OP_##op, flags, lock, error, site);  \
		return error;                                     \
	}
PLAIN(pthread_rwlock_rdlock, RDLOCK, 0)
PLAIN(pthread_rwlock_wrlock, LOCK, 0)
PLAIN(pthread_rwlock_tryrdlock, RDLOCK, TRACE_LOCK_TRY)
PLAIN(pthread_rwlock_trywrlock, LOCK, TRACE_LOCK_TRY)

#define TIMED(name, op)                                                           \
	INTERPOSER int name(pthread_rwlock_t *lock, const struct timespec *until) \
	{                                                                         \
		const struct atomsan_site *site = rt_take_site();                 \
		int error = REAL(name)(lock, until);                              \
                                                                                  \
		locked(TRACE_OP_##op, TRACE_LOCK_TIMED, lock, error, site);       \
		return error;                                                     \
	}
TIMED(pthread_rwlock_timedrdlock, RDLOCK)
TIMED(pthread_rwlock_timedwrlock, LOCK)

#define CLOCKED(name, op)                                                                          \
	INTERPOSER int name(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *until) \
	{                                                                                          \
		const struct atomsan_site *site = rt_take_site();                                  \
		int error = REAL(name)(lock, clock, until);                                        \
                                                                                                   \
		locked(TRACE_OP_##op, TRACE_LOCK_TIMED, lock, error, site);                        \
		return error;                                                                      \
	}
CLOCKED(pthread_rwlock_clockrdlock, RDLOCK)
CLOCKED(pthread_rwlock_clockwrlock, LOCK)

INTERPOSER int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	const struct atomsan_site *site = rt_take_site();

	rt_op(TRACE_OP_UNLOCK, TRACE_LOCK_RW, lock, site);
	return REAL(pthread_rwlock_unlock)(lock);
}
