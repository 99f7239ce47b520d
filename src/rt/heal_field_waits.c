/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Functions that wait for others, in a program that is healed in the field: sections are given up first. */
#include "rt/heal_field.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

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

/* As a lock it may be part of a section; with nothing to be had it is somebody else's turn. */
static void give_up(sem_t *semaphore)
{
	int value;

	if (!sem_getvalue(semaphore, &value) && value <= 0)
		heal_on_wait(NULL);
}

INTERPOSER int sem_wait(sem_t *semaphore)
{
	give_up(semaphore);
	return REAL(sem_wait)(semaphore);
}

INTERPOSER int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	give_up(semaphore);
	return REAL(sem_timedwait)(semaphore, until);
}

INTERPOSER int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
	give_up(semaphore);
	return REAL(sem_clockwait)(semaphore, clock, until);
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

/* ---- asleep in the kernel; a sleep for some time, without anything to wait for, is none of these ---- */

/* Most come here with nothing, and go on at once. */
static inline void asleep(bool sleeps)
{
	if (heal_unlikely(heal_self.open_count) && sleeps)
		heal_on_wait(NULL);
}

INTERPOSER int poll(struct pollfd *files, nfds_t count, int timeout)
{
	asleep(count && timeout);
	return REAL(poll)(files, count, timeout);
}

INTERPOSER int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	asleep(count && (!timeout || timeout->tv_sec || timeout->tv_nsec));
	return REAL(ppoll)(files, count, timeout, mask);
}

INTERPOSER int select(int count, fd_set *reads, fd_set *writes, fd_set *others, struct timeval *timeout)
{
	asleep(count && (!timeout || timeout->tv_sec || timeout->tv_usec));
	return REAL(select)(count, reads, writes, others, timeout);
}

INTERPOSER int pselect(int count, fd_set *reads, fd_set *writes, fd_set *others,
		       const struct timespec *timeout, const sigset_t *mask)
{
	asleep(count && (!timeout || timeout->tv_sec || timeout->tv_nsec));
	return REAL(pselect)(count, reads, writes, others, timeout, mask);
}

INTERPOSER int epoll_wait(int file, struct epoll_event *events, int count, int timeout)
{
	asleep(timeout);
	return REAL(epoll_wait)(file, events, count, timeout);
}

INTERPOSER int accept(int file, struct sockaddr *address, socklen_t *length)
{
	asleep(true);
	return REAL(accept)(file, address, length);
}

INTERPOSER int accept4(int file, struct sockaddr *address, socklen_t *length, int flags)
{
	asleep(true);
	return REAL(accept4)(file, address, length, flags);
}
