/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions that lock, in a program that is healed in the field. */
#include "rt/heal_field.h"

#include <errno.h>

/* While there is no gate to look at, and the thread has nothing else under way, all there is to a lock is to
 * remember it, and in which order it was taken. False: it is held already, or there is no room. */
static inline bool remember(const void *lock, const void *place, bool shared)
{
	uint32_t count = heal_self.held_count;

	if (heal_unlikely(count)) {
		uint32_t node = heal_lock_node(lock);

		if (count == HEAL_HELD)
			return false;
		for (uint32_t i = 0; i < count; i++)
			if (heal_self.held[i].object == lock)
				return false;
		for (uint32_t i = 0; i < count; i++)
			heal_order_add(heal_lock_node(heal_self.held[i].object), node);
	}
	heal_self.held[count] = (struct heal_held){lock, place, 1, shared, false, false};
	heal_self.held_count = count + 1;
	return true;
}

/* Its last one. */
static inline bool forget(const void *lock)
{
	const struct heal_held *held = &heal_self.held[heal_self.held_count - 1];

	if (heal_unlikely(!field_is_free() || !heal_self.held_count || held->object != lock ||
			  held->times != 1 || held->known || held->reserved))
		return false;
	heal_self.held_count--;
	return true;
}

/* With its gate passed before, and again if somebody closed it meanwhile. */
#define TAKE(thing, shared, call, unlock)                                                         \
	do {                                                                                      \
		bool whole_ = heal_unlikely(heal_use.whole) && field_self.count;                  \
		bool had_ = !whole_ && field_is_free();                                           \
		int taken_ = 0;                                                                   \
                                                                                                  \
		if (heal_likely(had_)) {                                                          \
			taken_ = (call);                                                          \
			if (heal_likely(!taken_ && heal_unused()) &&                              \
			    remember((const void *)(thing), __builtin_return_address(0), shared)) \
				return 0;                                                         \
		}                                                                                 \
		if (!field_looks())                                                               \
			return had_ ? taken_ : (call);                                            \
		heal_self.place = __builtin_return_address(0);                                    \
		if (!had_ && (whole_ || !heal_idle()))                                            \
			heal_lock_before((const void *)(thing));                                  \
		taken_ = HEAL_LOCK(thing, had_ ? (had_ = false, taken_) : (call), unlock);        \
		if (!taken_ || taken_ == EOWNERDEAD)                                              \
			heal_lock_taken((const void *)(thing), shared);                           \
		return taken_;                                                                    \
	} while (0)

#define GIVE(thing, call)                                            \
	do {                                                         \
		if (!forget((const void *)(thing)) && field_looks()) \
			heal_lock_released((const void *)(thing));   \
		return (call);                                       \
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
