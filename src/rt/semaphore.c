/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * POSIX semaphores, unnamed and named. A post that libc refuses (the value
 * would overflow) has its SEM_POST already; a SEM_FAILED right behind it in
 * the same thread takes it back.
 */
#include "rt/lock.h"
#include "rt/real.h"
#include "rt/scheduler.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

static int waited(const sem_t *semaphore, int result, const struct atomsan_site *site)
{
	if (result)
		rt_failed(TRACE_OP_SEM_FAILED, 0, semaphore, errno, site);
	else
		rt_op(TRACE_OP_SEM_WAIT, 0, semaphore, site);
	return result;
}

/* What the scheduler tries until it works: 0, EAGAIN, or -1 and libc's errno. */
static int attempt(sem_t *semaphore)
{
	int saved = errno, result = REAL(sem_trywait)(semaphore);

	if (!result || errno != EAGAIN)
		return result;
	errno = saved;
	return EAGAIN;
}

#define WAIT(deadline, real)                                                                           \
	HEAL_SEMAPHORE(semaphore, attempt, REAL(sem_post)(semaphore),                                  \
		       SCHED_WAIT(SCHED_WAIT_SEMAPHORE, semaphore, site, deadline, attempt(semaphore), \
				  EAGAIN, real))

INTERPOSER int sem_init(sem_t *semaphore, int shared, unsigned value)
{
	const struct atomsan_site *site = rt_take_site();
	int result = REAL(sem_init)(semaphore, shared, value);

	if (!result)
		rt_op_value(TRACE_OP_SEM_INIT, 0, semaphore, value, site);
	return result;
}

INTERPOSER int sem_post(sem_t *semaphore)
{
	const struct atomsan_site *site = rt_take_site();
	int result;

	rt_op(TRACE_OP_SEM_POST, 0, semaphore, site);
	result = REAL(sem_post)(semaphore);
	if (result)
		rt_op_value(TRACE_OP_SEM_FAILED, 0, semaphore, errno, site);
	return result;
}

INTERPOSER int sem_wait(sem_t *semaphore)
{
	const struct atomsan_site *site = rt_take_site();

	return waited(semaphore, WAIT(0, REAL(sem_wait)(semaphore)), site);
}

INTERPOSER int sem_trywait(sem_t *semaphore)
{
	const struct atomsan_site *site = rt_take_site();

	SCHED_POINT(semaphore, site);
	return waited(semaphore, REAL(sem_trywait)(semaphore), site);
}

INTERPOSER int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	const struct atomsan_site *site = rt_take_site();

	return waited(semaphore,
		      WAIT(sched_deadline(CLOCK_REALTIME, until), REAL(sem_timedwait)(semaphore, until)),
		      site);
}

INTERPOSER int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
	const struct atomsan_site *site = rt_take_site();

	return waited(semaphore,
		      WAIT(sched_deadline(clock, until), REAL(sem_clockwait)(semaphore, clock, until)), site);
}

/*
 * Named semaphores that are open. libc gives every sem_open of one name the
 * same address, and only the first may look like an initialisation. When the
 * table is full the rest have no SEM_INIT, which says that the initial value
 * is not known.
 */
enum { NAMED_MAX = 256 };
static struct {
	sem_t *semaphore;
	int opened;
} named[NAMED_MAX];

static bool opened_first(sem_t *semaphore)
{
	for (int i = 0; i < NAMED_MAX; i++) {
		sem_t *there = NULL;

		/* pairs with the exchange of the thread that took the entry */
		if (__atomic_compare_exchange_n(&named[i].semaphore, &there, semaphore, false,
						__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) ||
		    there == semaphore)
			return __atomic_fetch_add(&named[i].opened, 1, __ATOMIC_ACQ_REL) == 0;
	}
	return false;
}

/* An entry stays with its address: a name opened later at the same place finds it with the count at 0. */
static void closed(sem_t *semaphore)
{
	for (int i = 0; i < NAMED_MAX; i++)
		if (__atomic_load_n(&named[i].semaphore, __ATOMIC_ACQUIRE) == semaphore) {
			__atomic_fetch_sub(&named[i].opened, 1, __ATOMIC_ACQ_REL);
			return;
		}
}

INTERPOSER sem_t *sem_open(const char *name, int flags, ...)
{
	const struct atomsan_site *site = rt_take_site();
	sem_t *semaphore;
	int value = 0;

	if (flags & O_CREAT) {
		mode_t mode;
		unsigned initial;
		va_list list;

		va_start(list, flags);
		mode = va_arg(list, mode_t);
		initial = va_arg(list, unsigned);
		va_end(list);
		semaphore = REAL(sem_open)(name, flags, mode, initial);
	} else {
		semaphore = REAL(sem_open)(name, flags);
	}
	/* Not `initial`: the semaphore may have existed. */
	if (semaphore != SEM_FAILED && opened_first(semaphore) && !sem_getvalue(semaphore, &value))
		rt_op_value(TRACE_OP_SEM_INIT, 0, semaphore, value, site);
	return semaphore;
}

INTERPOSER int sem_close(sem_t *semaphore)
{
	closed(semaphore);
	return REAL(sem_close)(semaphore);
}
