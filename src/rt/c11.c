/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * C11 threads. glibc builds them on its POSIX functions, but calls those from
 * inside, past any interposer; the objects are the same (a mtx_t is a
 * pthread_mutex_t), so what is asked of a mutex is asked here too.
 */
#include "rt/cond.h"
#include "rt/create.h"
#include "rt/heal.h"
#include "rt/lock.h"
#include "rt/once.h"
#include "rt/real.h"

#include <errno.h>

static int to_errno(int result)
{
	switch (result) {
	case thrd_success:
		return 0;
	case thrd_busy:
		return EBUSY;
	case thrd_timedout:
		return ETIMEDOUT;
	case thrd_nomem:
		return ENOMEM;
	default:
		return EINVAL;
	}
}

static int from_errno(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case EBUSY:
		return thrd_busy;
	case ETIMEDOUT:
		return thrd_timedout;
	case ENOMEM:
		return thrd_nomem;
	default:
		return thrd_error;
	}
}

static int begin(void *slot)
{
	struct hand_over mine = create_begin(slot);

	return mine.start_c11(mine.argument);
}

INTERPOSER int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
	const struct atomsan_site *site = rt_take_site();
	struct hand_over *slot = create_prepare(argument, site);
	uint32_t number;
	int result;

	if (!slot)
		return thrd_nomem;
	slot->start_c11 = start;
	number = slot->number;
	result = REAL(thrd_create)(thread, begin, slot);
	if (result != thrd_success)
		create_failed(slot, to_errno(result), site);
	else
		sched_exists(number);
	return result;
}

INTERPOSER int thrd_join(thrd_t thread, int *value)
{
	const struct atomsan_site *site = rt_take_site();
	uint32_t number = rt_met() ? create_number(thread, 0, NULL) : RT_NO_THREAD;
	int result = CREATE_JOIN(number, thread, site, 0, REAL(thrd_join)(thread, value));

	if (result == thrd_success && number != RT_NO_THREAD)
		rt_op_value(TRACE_OP_JOIN, 0, NULL, number, site);
	return result;
}

INTERPOSER int thrd_detach(thrd_t thread)
{
	const struct atomsan_site *site = rt_take_site();
	uint32_t number = rt_met() ? create_number(thread, 0, NULL) : RT_NO_THREAD;
	int result = REAL(thrd_detach)(thread);

	if (result == thrd_success && number != RT_NO_THREAD)
		rt_op_value(TRACE_OP_DETACH, 0, NULL, number, site);
	return result;
}

INTERPOSER void thrd_exit(int value)
{
	rt_take_site();
	create_leaving();
	REAL(thrd_exit)(value);
}

INTERPOSER int mtx_init(mtx_t *mutex, int type)
{
	const struct atomsan_site *site = rt_take_site();
	int result = REAL(mtx_init)(mutex, type);

	if (result == thrd_success)
		rt_op(TRACE_OP_LOCK_INIT, TRACE_LOCK_C11, mutex, site);
	return result;
}

INTERPOSER void mtx_destroy(mtx_t *mutex)
{
	const struct atomsan_site *site = rt_take_site();

	REAL(mtx_destroy)(mutex);
	rt_op(TRACE_OP_LOCK_DESTROY, TRACE_LOCK_C11, mutex, site);
}

/* What the scheduler tries until it works. */
static int attempt(mtx_t *mutex)
{
	HEAL_ATTEMPT(mutex);
	return REAL(mtx_trylock)(mutex);
}
#define LOCK(deadline, real)                                                                            \
	HEAL_LOCK(mutex,                                                                                \
		  SCHED_WAIT(SCHED_WAIT_MUTEX, mutex, site, deadline, attempt(mutex), thrd_busy, real), \
		  REAL(mtx_unlock)(mutex))

static int lock_soon(mtx_t *mutex)
{
	RT_MUTEX_LINGER((const pthread_mutex_t *)mutex);
	return REAL(mtx_lock)(mutex);
}

INTERPOSER int mtx_lock(mtx_t *mutex)
{
	const struct atomsan_site *site = rt_take_site();
	int result = LOCK(0, lock_soon(mutex));

	rt_mutex_locked((pthread_mutex_t *)mutex, TRACE_LOCK_C11, to_errno(result), site);
	return result;
}

INTERPOSER int mtx_trylock(mtx_t *mutex)
{
	const struct atomsan_site *site = rt_take_site();
	int result;

	SCHED_POINT(mutex, site);
	result = HEAL_LOCK(mutex, REAL(mtx_trylock)(mutex), REAL(mtx_unlock)(mutex));
	rt_mutex_locked((pthread_mutex_t *)mutex, TRACE_LOCK_C11 | TRACE_LOCK_TRY, to_errno(result), site);
	return result;
}

INTERPOSER int mtx_timedlock(mtx_t *mutex, const struct timespec *until)
{
	const struct atomsan_site *site = rt_take_site();
	int result = LOCK(sched_deadline(CLOCK_REALTIME, until), REAL(mtx_timedlock)(mutex, until));

	rt_mutex_locked((pthread_mutex_t *)mutex, TRACE_LOCK_C11 | TRACE_LOCK_TIMED, to_errno(result), site);
	return result;
}

INTERPOSER int mtx_unlock(mtx_t *mutex)
{
	const struct atomsan_site *site = rt_take_site();
	int error;

	rt_mutex_unlocking((pthread_mutex_t *)mutex, TRACE_LOCK_C11, site);
	error = REAL(mtx_unlock)(mutex);
	rt_unlocked();
	return error;
}

INTERPOSER int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
	struct cond_wait wait = {condition, (pthread_mutex_t *)mutex, rt_take_site(), false};
	int error;

	COND_WAIT(wait, 0, NULL, error, to_errno(REAL(cnd_wait)(condition, mutex)));
	return from_errno(error);
}

INTERPOSER int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until)
{
	struct cond_wait wait = {condition, (pthread_mutex_t *)mutex, rt_take_site(), false};
	int error;

	COND_WAIT(wait, CLOCK_REALTIME, until, error, to_errno(REAL(cnd_timedwait)(condition, mutex, until)));
	return from_errno(error);
}

INTERPOSER int cnd_signal(cnd_t *condition)
{
	const struct atomsan_site *site = rt_take_site();

	rt_op(TRACE_OP_SIGNAL, 0, condition, site);
	if (unlikely(sched.waiters) && sched_cond_signal(condition, false))
		return thrd_success;
	return REAL(cnd_signal)(condition);
}

INTERPOSER int cnd_broadcast(cnd_t *condition)
{
	const struct atomsan_site *site = rt_take_site();

	rt_op(TRACE_OP_BROADCAST, 0, condition, site);
	if (unlikely(sched.waiters))
		sched_cond_signal(condition, true);
	return REAL(cnd_broadcast)(condition);
}

INTERPOSER void call_once(once_flag *flag, void (*routine)(void))
{
	once_call((pthread_once_t *)flag, routine, rt_take_site());
}
