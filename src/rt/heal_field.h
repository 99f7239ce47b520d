/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The runtime of a program that was built with `cc --heal`: healing, and nothing
 * else. It is linked only if the program has a section, and then stands in front
 * of the functions that lock and wait.
 *
 *   heal_field.c        start and end, threads, units, accesses
 *   heal_field_locks.c  functions that lock
 *   heal_field_waits.c  functions that wait for others
 */
#ifndef ATOMSAN_RT_HEAL_FIELD_H
#define ATOMSAN_RT_HEAL_FIELD_H

#include "rt/heal.h"

#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#pragma GCC visibility push(hidden)

#define FIELD_FUNCTIONS(F)                                                                                 \
	F(int, pthread_mutex_lock, (pthread_mutex_t *), NULL)                                              \
	F(int, pthread_mutex_trylock, (pthread_mutex_t *), NULL)                                           \
	F(int, pthread_mutex_timedlock, (pthread_mutex_t *, const struct timespec *), NULL)                \
	F(int, pthread_mutex_clocklock, (pthread_mutex_t *, clockid_t, const struct timespec *), NULL)     \
	F(int, pthread_mutex_unlock, (pthread_mutex_t *), NULL)                                            \
	F(int, pthread_rwlock_rdlock, (pthread_rwlock_t *), NULL)                                          \
	F(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *), NULL)                                       \
	F(int, pthread_rwlock_timedrdlock, (pthread_rwlock_t *, const struct timespec *), NULL)            \
	F(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t *, clockid_t, const struct timespec *), NULL) \
	F(int, pthread_rwlock_wrlock, (pthread_rwlock_t *), NULL)                                          \
	F(int, pthread_rwlock_trywrlock, (pthread_rwlock_t *), NULL)                                       \
	F(int, pthread_rwlock_timedwrlock, (pthread_rwlock_t *, const struct timespec *), NULL)            \
	F(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t *, clockid_t, const struct timespec *), NULL) \
	F(int, pthread_rwlock_unlock, (pthread_rwlock_t *), NULL)                                          \
	F(int, pthread_spin_lock, (pthread_spinlock_t *), NULL)                                            \
	F(int, pthread_spin_trylock, (pthread_spinlock_t *), NULL)                                         \
	F(int, pthread_spin_unlock, (pthread_spinlock_t *), NULL)                                          \
	F(int, mtx_lock, (mtx_t *), NULL)                                                                  \
	F(int, mtx_trylock, (mtx_t *), NULL)                                                               \
	F(int, mtx_timedlock, (mtx_t *, const struct timespec *), NULL)                                    \
	F(int, mtx_unlock, (mtx_t *), NULL)                                                                \
	F(int, pthread_cond_wait, (pthread_cond_t *, pthread_mutex_t *), "GLIBC_2.3.2")                    \
	F(int, pthread_cond_timedwait, (pthread_cond_t *, pthread_mutex_t *, const struct timespec *),     \
	  "GLIBC_2.3.2")                                                                                   \
	F(int, pthread_cond_clockwait,                                                                     \
	  (pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *), NULL)                 \
	F(int, cnd_wait, (cnd_t *, mtx_t *), NULL)                                                         \
	F(int, cnd_timedwait, (cnd_t *, mtx_t *, const struct timespec *), NULL)                           \
	F(int, pthread_barrier_wait, (pthread_barrier_t *), NULL)                                          \
	F(int, sem_wait, (sem_t *), NULL)                                                                  \
	F(int, sem_timedwait, (sem_t *, const struct timespec *), NULL)                                    \
	F(int, sem_clockwait, (sem_t *, clockid_t, const struct timespec *), NULL)                         \
	F(int, pthread_join, (pthread_t, void **), NULL)                                                   \
	F(int, pthread_timedjoin_np, (pthread_t, void **, const struct timespec *), NULL)                  \
	F(int, pthread_clockjoin_np, (pthread_t, void **, clockid_t, const struct timespec *), NULL)       \
	F(int, thrd_join, (thrd_t, int *), NULL)

extern struct field_table {
	bool ready;
#define F(result, name, parameters, version) result(*name) parameters;
	FIELD_FUNCTIONS(F)
#undef F
} field_table;
void field_find(void); /* fills it */

static inline const struct field_table *field_get(void)
{
	if (unlikely(!__atomic_load_n(&field_table.ready, __ATOMIC_ACQUIRE)))
		field_find();
	return &field_table;
}
#define REAL(name) (field_get()->name)

/* True: the caller's thread is known, what it has left is seen to, and healing is on. */
bool field_looks(void);

#pragma GCC visibility pop

#endif
