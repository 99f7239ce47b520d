/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions that lock, in a program that is healed in the field. */
#include "rt/heal_field.h"

#include <errno.h>

/*
 * While there is no gate to look at, and the thread has nothing else under way, all
 * there is to a lock is to remember it, and in which order it was taken. Programs
 * lock in their innermost loops, so what is usual comes by itself, and all that
 * needs registers is out of its way.
 */
static inline __attribute__((always_inline)) bool remember(uint32_t count, const void *lock,
							   const void *place, bool shared)
{
	heal_self.held[count] = (struct heal_held){lock, place, 1, shared, false, false};
	heal_self.held_count = count + 1;
	return true;
}

/* Inside of others. False: it is one of them, or there is no room. */
static __attribute__((noinline)) bool remember_inner(const void *lock, const void *place, bool shared)
{
	uint32_t count = heal_self.held_count, node = (uint32_t)(heal_lock_gate(lock) - heal_locks);

	if (count == HEAL_HELD)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (heal_self.held[i].object == lock)
			return false;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t from = (uint32_t)(heal_lock_gate(heal_self.held[i].object) - heal_locks);

		if (heal_unlikely(!heal_order_has(from, node)))
			heal_order_add(from, node);
	}
	return remember(count, lock, place, shared);
}

/*
 * Somebody has a lock's gate, or waits at one, and perhaps for long: whoever is
 * in a section may not be let run. It is not this lock's gate, and the thread has
 * nothing that anybody could wait for, so it need not say that it waits for the
 * lock, but does say that it has it. The gate is looked at again when it does.
 */
static inline bool is_elsewhere(const void *lock)
{
	return !heal_self.under_way && !heal_self.held_count && !heal_use.leads && !heal_use.tracks &&
	       !heal_owner(heal_lock_gate(lock));
}

static bool remember_and_tell(const void *lock, const void *place, bool shared)
{
	if (heal_owner(heal_lock_gate(lock)))
		return false;
	remember(0, lock, place, shared);
	heal_lock_tell();
	return true;
}

/* Its last one. */
static inline __attribute__((always_inline)) bool forget(const void *lock)
{
	uint32_t count = heal_self.held_count;
	struct heal_held *held = &heal_self.held[count - 1];

	if (heal_unlikely(heal_self.under_way || !count || held->object != lock) ||
	    heal_unlikely((held->times ^ 1) | held->reserved))
		return false;
	if (heal_unlikely(held->known))
		heal_lock_untell(held);
	heal_self.held_count = count - 1;
	return true;
}

#define STRIP(...) __VA_ARGS__

/* A function that takes `lock`, and is undone by `unlock`: its gate is passed before, and again if somebody
 * closed it meanwhile. */
#define TAKES(name, parameters, arguments, shared, unlock)                                                \
	static __attribute__((noinline)) int take_by_##name(bool had, int taken, const void *place,       \
							    STRIP parameters)                             \
	{                                                                                                 \
		if (!had && is_elsewhere((const void *)lock)) {                                           \
			taken = REAL(name) arguments;                                                     \
			if (!taken && remember_and_tell((const void *)lock, place, shared))               \
				return 0;                                                                 \
			had = true;                                                                       \
		}                                                                                         \
		if (!field_looks())                                                                       \
			return had ? taken : REAL(name) arguments;                                        \
		heal_self.place = place;                                                                  \
		if (!had && (heal_self.apart & HEAL_IN_WHOLE || !heal_idle()))                            \
			heal_lock_before((const void *)lock);                                             \
		taken = HEAL_LOCK(lock, had ? (had = false, taken) : REAL(name) arguments,                \
				  REAL(unlock)(lock));                                                    \
		if (!taken || taken == EOWNERDEAD)                                                        \
			heal_lock_taken((const void *)lock, shared);                                      \
		return taken;                                                                             \
	}                                                                                                 \
	INTERPOSER int name parameters                                                                    \
	{                                                                                                 \
		int taken;                                                                                \
                                                                                                          \
		if (heal_unlikely(!field_is_free()))                                                      \
			return take_by_##name(false, 0, __builtin_return_address(0), STRIP arguments);    \
		taken = field_table.name arguments;                                                       \
		if (heal_unlikely(taken))                                                                 \
			return take_by_##name(true, taken, __builtin_return_address(0), STRIP arguments); \
		if (heal_likely(heal_unused()) &&                                                         \
		    (heal_likely(!heal_self.held_count)                                                   \
			     ? remember(0, (const void *)lock, __builtin_return_address(0), shared)       \
			     : remember_inner((const void *)lock, __builtin_return_address(0), shared)))  \
			return 0;                                                                         \
		return take_by_##name(true, 0, __builtin_return_address(0), STRIP arguments);             \
	}

#define GIVES(name, type)                                       \
	INTERPOSER int name(type *lock)                         \
	{                                                       \
		if (heal_likely(forget((const void *)lock)))    \
			return field_table.name(lock);          \
		if (field_looks())                              \
			heal_lock_released((const void *)lock); \
		return REAL(name)(lock);                        \
	}

TAKES(pthread_mutex_lock, (pthread_mutex_t * lock), (lock), false, pthread_mutex_unlock)
TAKES(pthread_mutex_trylock, (pthread_mutex_t * lock), (lock), false, pthread_mutex_unlock)
TAKES(pthread_mutex_timedlock, (pthread_mutex_t * lock, const struct timespec *until), (lock, until), false,
      pthread_mutex_unlock)
TAKES(pthread_mutex_clocklock, (pthread_mutex_t * lock, clockid_t clock, const struct timespec *until),
      (lock, clock, until), false, pthread_mutex_unlock)
GIVES(pthread_mutex_unlock, pthread_mutex_t)

#define RWLOCK(kind, shared)                                                                              \
	TAKES(pthread_rwlock_##kind, (pthread_rwlock_t * lock), (lock), shared, pthread_rwlock_unlock)    \
	TAKES(pthread_rwlock_try##kind, (pthread_rwlock_t * lock), (lock), shared, pthread_rwlock_unlock) \
	TAKES(pthread_rwlock_timed##kind, (pthread_rwlock_t * lock, const struct timespec *until),        \
	      (lock, until), shared, pthread_rwlock_unlock)                                               \
	TAKES(pthread_rwlock_clock##kind,                                                                 \
	      (pthread_rwlock_t * lock, clockid_t clock, const struct timespec *until),                   \
	      (lock, clock, until), shared, pthread_rwlock_unlock)
RWLOCK(rdlock, true)
RWLOCK(wrlock, false)
GIVES(pthread_rwlock_unlock, pthread_rwlock_t)

TAKES(pthread_spin_lock, (pthread_spinlock_t * lock), (lock), false, pthread_spin_unlock)
TAKES(pthread_spin_trylock, (pthread_spinlock_t * lock), (lock), false, pthread_spin_unlock)
GIVES(pthread_spin_unlock, pthread_spinlock_t)

/* glibc's C11 mutexes are its POSIX ones, but the calls do not meet. thrd_success is 0. */
TAKES(mtx_lock, (mtx_t * lock), (lock), false, mtx_unlock)
TAKES(mtx_trylock, (mtx_t * lock), (lock), false, mtx_unlock)
TAKES(mtx_timedlock, (mtx_t * lock, const struct timespec *until), (lock, until), false, mtx_unlock)
GIVES(mtx_unlock, mtx_t)

/* ---- bare locks ---- */

#define BARE(F)                                                                                        \
	F(ATOMSAN_HEAL_MUTEX, pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_unlock,         \
	  pthread_mutex_t)                                                                             \
	F(ATOMSAN_HEAL_MTX, mtx_lock, mtx_trylock, mtx_unlock, mtx_t)                                  \
	F(ATOMSAN_HEAL_SPIN, pthread_spin_lock, pthread_spin_trylock, pthread_spin_unlock,             \
	  pthread_spinlock_t)                                                                          \
	F(ATOMSAN_HEAL_RDLOCK, pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, pthread_rwlock_unlock, \
	  pthread_rwlock_t)                                                                            \
	F(ATOMSAN_HEAL_WRLOCK, pthread_rwlock_wrlock, pthread_rwlock_trywrlock, pthread_rwlock_unlock, \
	  pthread_rwlock_t)

/* Until libc's are found, who looks finds what does the finding. */
#define FIRST(kind, locks, tries, unlocks, type)    \
	static int first_##locks(void *lock)        \
	{                                           \
		return REAL(locks)((type *)lock);   \
	}                                           \
	static int first_un_##locks(void *lock)     \
	{                                           \
		return REAL(unlocks)((type *)lock); \
	}
BARE(FIRST)
#define ROW(kind, locks, tries, unlocks, type) [kind] = {first_##locks, first_un_##locks},
EXPORT struct atomsan_heal_real __atomsan_heal_real[ATOMSAN_HEAL_LOCKS] = {BARE(ROW)};

void field_bare_find(void)
{
#define FOUND(kind, locks, tries, unlocks, type)                        \
	if (field_table.locks && field_table.unlocks)                   \
		__atomsan_heal_real[kind] = (struct atomsan_heal_real){ \
			(int (*)(void *))field_table.locks, (int (*)(void *))field_table.unlocks};
	BARE(FOUND)
}

/* Takes it, if it need not wait. */
static int try(void *lock, uint32_t kind)
{
	switch (kind) {
#define TRY(kind, locks, tries, unlocks, type) \
	case kind:                             \
		return REAL(tries)((type *)lock);
		BARE(TRY)
	}
	return EINVAL;
}

/*
 * A bare lock is not remembered while nobody could want to know: nobody has its
 * gate, and who gets the gate has the lock before. Who has another one and would have to
 * wait says so first.
 */
EXPORT int __atomsan_heal_lock(void *lock, void *outer, uint32_t kinds, int taken)
{
	const void *place = __builtin_return_address(0);
	uint32_t kind = kinds & 0xffff;

	if (is_elsewhere(lock)) {
		if (taken == ATOMSAN_HEAL_NOT_YET) {
			int got = outer ? try(lock, kind) : __atomsan_heal_real[kind].lock(lock);

			/* Who gets the lock of a dead thread has it. */
			if (!outer || !got || got == EOWNERDEAD)
				taken = got;
		}
		if (!taken && !heal_owner(heal_lock_gate(lock)))
			return 0;
	}
	if (outer && field_looks() && !heal_lock_is_held(outer)) {
		heal_self.place = place;
		heal_lock_taken(outer, kinds >> 16 == ATOMSAN_HEAL_RDLOCK);
	}
	switch (kind) {
#define LOCK(kind, locks, tries, unlocks, type)                            \
	case kind:                                                         \
		return taken == ATOMSAN_HEAL_NOT_YET ? locks((type *)lock) \
						     : take_by_##locks(true, taken, place, (type *)lock);
		BARE(LOCK)
	}
	return taken;
}

EXPORT int __atomsan_heal_unlock(void *lock, uint32_t kind)
{
	switch (kind) {
#define UNLOCK(kind, locks, tries, unlocks, type) \
	case kind:                                \
		return unlocks((type *)lock);
		BARE(UNLOCK)
	}
	return EINVAL;
}
