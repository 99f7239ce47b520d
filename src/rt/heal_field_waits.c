/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions that wait for other threads, in a program that is healed in the field: sections are given up
 * first. */
#include "rt/heal_field.h"

/* As rt/heal_wait.c has it: the mutex may be behind somebody's gate when the wait is over. */
void heal_on_waited(pthread_mutex_t *mutex)
{
	if (!field_looks())
		return;
	while (heal_lock_barred(mutex) && !(mutex->__data.__kind & ~3)) {
		if (REAL(pthread_mutex_unlock)(mutex))
			break;
		heal_lock_before(mutex);
		REAL(pthread_mutex_lock)(mutex);
	}
	heal_lock_taken(mutex, false);
}

/* A wait may end by cancellation, with the mutex held. */
static void waited(void *mutex)
{
	heal_on_waited(mutex);
}

#define WAIT(mutex, result, call)                    \
	do {                                         \
		heal_on_wait(mutex);                 \
		pthread_cleanup_push(waited, mutex); \
		(result) = (call);                   \
		pthread_cleanup_pop(1);              \
	} while (0)

INTERPOSER int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	int error;

	WAIT(mutex, error, REAL(pthread_cond_wait)(condition, mutex));
	return error;
}

INTERPOSER int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
				      const struct timespec *until)
{
	int error;

	WAIT(mutex, error, REAL(pthread_cond_timedwait)(condition, mutex, until));
	return error;
}

INTERPOSER int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
				      const struct timespec *until)
{
	int error;

	WAIT(mutex, error, REAL(pthread_cond_clockwait)(condition, mutex, clock, until));
	return error;
}

INTERPOSER int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
	int result;

	WAIT((pthread_mutex_t *)mutex, result, REAL(cnd_wait)(condition, mutex));
	return result;
}

INTERPOSER int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until)
{
	int result;

	WAIT((pthread_mutex_t *)mutex, result, REAL(cnd_timedwait)(condition, mutex, until));
	return result;
}

INTERPOSER int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	heal_on_wait(NULL);
	return REAL(pthread_barrier_wait)(barrier);
}

enum heal_semaphore heal_on_semaphore(sem_t *semaphore, int (*attempt)(sem_t *))
{
	return field_looks() ? heal_semaphore_before(semaphore, attempt) : HEAL_SEMAPHORE_WAIT;
}

#define TAKE(wait) HEAL_SEMAPHORE(semaphore, sem_trywait, sem_post(semaphore), wait)

INTERPOSER int sem_wait(sem_t *semaphore)
{
	return TAKE(REAL(sem_wait)(semaphore));
}

INTERPOSER int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	return TAKE(REAL(sem_timedwait)(semaphore, until));
}

INTERPOSER int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
	return TAKE(REAL(sem_clockwait)(semaphore, clock, until));
}

INTERPOSER int pthread_join(pthread_t thread, void **result)
{
	heal_on_wait(NULL);
	return REAL(pthread_join)(thread, result);
}

INTERPOSER int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
	heal_on_wait(NULL);
	return REAL(pthread_timedjoin_np)(thread, result, until);
}

INTERPOSER int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
				    const struct timespec *until)
{
	heal_on_wait(NULL);
	return REAL(pthread_clockjoin_np)(thread, result, clock, until);
}

INTERPOSER int thrd_join(thrd_t thread, int *value)
{
	heal_on_wait(NULL);
	return REAL(thrd_join)(thread, value);
}
