/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Barriers. A thread's ENTER comes before it arrives and its LEAVE after all
 * have arrived, so in the order of stamps every ENTER of a round stands before
 * every LEAVE of that round.
 */
#include "rt/real.h"
#include "rt/scheduler.h"

INTERPOSER int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
				    unsigned threads)
{
	const struct atomsan_site *site = rt_take_site();
	int error = REAL(pthread_barrier_init)(barrier, attributes, threads);

	if (!error)
		rt_op_value(TRACE_OP_BARRIER_INIT, 0, barrier, threads, site);
	return error;
}

INTERPOSER int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	const struct atomsan_site *site = rt_take_site();
	struct sched_thread *me;
	int result;

	rt_op(TRACE_OP_BARRIER_ENTER, 0, barrier, site);
	me = sched_me();
	result = unlikely(me) ? sched_barrier(me, barrier, site) : REAL(pthread_barrier_wait)(barrier);
	rt_op_value(TRACE_OP_BARRIER_LEAVE, 0, barrier, result == PTHREAD_BARRIER_SERIAL_THREAD, site);
	return result;
}
