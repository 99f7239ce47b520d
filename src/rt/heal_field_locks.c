/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions that lock, in a program that is healed in the field. */
#include "rt/heal_field.h"

#include <errno.h>

/* With its gate passed before, and again if somebody closed it meanwhile. */
#define TAKE(thing, shared, call, unlock)                               \
	do {                                                            \
		int taken_;                                             \
                                                                        \
		if (!field_looks())                                     \
			return (call);                                  \
		heal_self.place = __builtin_return_address(0);          \
		if (!heal_idle())                                       \
			heal_lock_before((const void *)(thing));        \
		taken_ = HEAL_LOCK(thing, call, unlock);                \
		if (!taken_ || taken_ == EOWNERDEAD)                    \
			heal_lock_taken((const void *)(thing), shared); \
		return taken_;                                          \
	} while (0)

#define GIVE(thing, call)                                          \
	do {                                                       \
		if (field_looks())                                 \
			heal_lock_released((const void *)(thing)); \
		return (call);                                     \
	} while (0)

INTERPOSER int pthread_mutex_lock(pthread_mutex_t *lock)
{
	TAKE(lock, false, REAL(pthread_mutex_lock)(lock), REAL(pthread_mutex_unlock)(lock));
}

INTERPOSER int pthread_mutex_trylock(pthread_mutex_t *lock)
{
	TAKE(lock, false, REAL(pthread_mutex_trylock)(lock), REAL(pthread_mutex_unlock)(lock));
}

INTERPOSER int pthread_mutex_timedlock(pthread_mutex_t *lock, const struct timespec *until)
{
	TAKE(lock, false, REAL(pthread_mutex_timedlock)(lock, until), REAL(pthread_mutex_unlock)(lock));
}

INTERPOSER int pthread_mutex_clocklock(pthread_mutex_t *lock, clockid_t clock, const struct timespec *until)
{
	TAKE(lock, false, REAL(pthread_mutex_clocklock)(lock, clock, until),
	     REAL(pthread_mutex_unlock)(lock));
}

INTERPOSER int pthread_mutex_unlock(pthread_mutex_t *lock)
{
	GIVE(lock, REAL(pthread_mutex_unlock)(lock));
}

#define RWLOCK(kind, shared)                                                                                 \
	INTERPOSER int pthread_rwlock_##kind(pthread_rwlock_t *lock)                                         \
	{                                                                                                    \
		TAKE(lock, shared, REAL(pthread_rwlock_##kind)(lock), REAL(pthread_rwlock_unlock)(lock));    \
	}                                                                                                    \
	INTERPOSER int pthread_rwlock_try##kind(pthread_rwlock_t *lock)                                      \
	{                                                                                                    \
		TAKE(lock, shared, REAL(pthread_rwlock_try##kind)(lock), REAL(pthread_rwlock_unlock)(lock)); \
	}                                                                                                    \
	INTERPOSER int pthread_rwlock_timed##kind(pthread_rwlock_t *lock, const struct timespec *until)      \
	{                                                                                                    \
		TAKE(lock, shared, REAL(pthread_rwlock_timed##kind)(lock, until),                            \
		     REAL(pthread_rwlock_unlock)(lock));                                                     \
	}                                                                                                    \
	INTERPOSER int pthread_rwlock_clock##kind(pthread_rwlock_t *lock, clockid_t clock,                   \
						  const struct timespec *until)                              \
	{                                                                                                    \
		TAKE(lock, shared, REAL(pthread_rwlock_clock##kind)(lock, clock, until),                     \
		     REAL(pthread_rwlock_unlock)(lock));                                                     \
	}
RWLOCK(rdlock, true)
RWLOCK(wrlock, false)

INTERPOSER int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	GIVE(lock, REAL(pthread_rwlock_unlock)(lock));
}

INTERPOSER int pthread_spin_lock(pthread_spinlock_t *lock)
{
	TAKE(lock, false, REAL(pthread_spin_lock)(lock), REAL(pthread_spin_unlock)(lock));
}

INTERPOSER int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	TAKE(lock, false, REAL(pthread_spin_trylock)(lock), REAL(pthread_spin_unlock)(lock));
}

INTERPOSER int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	GIVE(lock, REAL(pthread_spin_unlock)(lock));
}

/* glibc's C11 mutexes are its POSIX ones, but the calls do not meet. thrd_success is 0. */
INTERPOSER int mtx_lock(mtx_t *lock)
{
	TAKE(lock, false, REAL(mtx_lock)(lock), REAL(mtx_unlock)(lock));
}

INTERPOSER int mtx_trylock(mtx_t *lock)
{
	TAKE(lock, false, REAL(mtx_trylock)(lock), REAL(mtx_unlock)(lock));
}

INTERPOSER int mtx_timedlock(mtx_t *lock, const struct timespec *until)
{
	TAKE(lock, false, REAL(mtx_timedlock)(lock, until), REAL(mtx_unlock)(lock));
}

INTERPOSER int mtx_unlock(mtx_t *lock)
{
	GIVE(lock, REAL(mtx_unlock)(lock));
}
