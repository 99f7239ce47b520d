/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Things that are done once: pthread_once, C11's call_once, and the guards of
 * C++ static locals. BEGIN and END stand around the routine in the thread that
 * runs it; END is missing where the routine was left by an exception, by
 * cancellation or by longjmp, and then somebody else begins again. Everybody
 * else has a SEEN, after the END.
 */
#include "rt/once.h"
#include "rt/atomic.h"
#include "rt/real.h"
#include "rt/scheduler.h"
#include "rt/sys.h"

#include <linux/futex.h>

/*
 * libc calls the routine without an argument, so what it needs to know hangs
 * on the thread. The entry is taken off before the routine runs: whichever way
 * the routine is left, nothing points into this frame any more.
 */
struct call {
	void (*routine)(void);
	const void *control;
	const struct atomsan_site *site;
	struct call *outer;
	bool ran;
};
static __thread struct call *calls;

static void run(void)
{
	struct call *call = calls;

	calls = call->outer;
	call->ran = true;
	rt_op(TRACE_OP_ONCE_BEGIN, 0, call->control, call->site);
	call->routine();
	rt_op(TRACE_OP_ONCE_END, 0, call->control, call->site);
}

int once_call(pthread_once_t *control, void (*routine)(void), const struct atomsan_site *site)
{
	struct call call = {routine, control, site, calls, false};
	struct sched_thread *me = sched_me();
	int error;

	if (unlikely(me))
		sched_once(me, control, site);
	calls = &call;
	error = REAL(pthread_once)(control, run);
	if (!call.ran) {
		calls = call.outer;
		rt_op(TRACE_OP_ONCE_SEEN, 0, control, site);
	}
	return error;
}

INTERPOSER int pthread_once(pthread_once_t *control, void (*routine)(void))
{
	return once_call(control, routine, rt_take_site());
}

/*
 * The guards of the C++ ABI. The runtime has them all to itself and does not
 * look for those of the C++ library: a C program may load that library later,
 * out of reach of dlsym, and a program with the library linked in statically
 * has no second copy. The first byte says "done", which compiled code tests by
 * itself before it calls; the other bits are those of libstdc++, in case a
 * module brings guards of its own.
 */
enum { GUARD_DONE = 1, GUARD_BUSY = 1 << 8, GUARD_WAITED = 1 << 16 };

INTERPOSER int __cxa_guard_acquire(uint64_t *guard);
INTERPOSER void __cxa_guard_release(uint64_t *guard);
INTERPOSER void __cxa_guard_abort(uint64_t *guard);

INTERPOSER int __cxa_guard_acquire(uint64_t *guard)
{
	const struct atomsan_site *site = rt_take_site();
	uint32_t *word = (uint32_t *)guard;
	struct sched_thread *me = sched_me();
	uint32_t seen;

	if (unlikely(me))
		sched_before(me, guard, site);
	seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	for (;;) {
		if (seen & GUARD_DONE) {
			rt_op(TRACE_OP_ONCE_SEEN, 0, guard, site);
			return 0;
		}
		if (!(seen & GUARD_BUSY)) {
			/* pairs with the exchange in leave_guard() */
			if (__atomic_compare_exchange_n(word, &seen, GUARD_BUSY, false, __ATOMIC_ACQ_REL,
							__ATOMIC_ACQUIRE))
				break;
			continue;
		}
		if (!(seen & GUARD_WAITED) &&
		    !__atomic_compare_exchange_n(word, &seen, seen | GUARD_WAITED, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
			continue;
		if (unlikely(me) && sched_block(me, SCHED_WAIT_ONCE, guard, site, 0) == SCHED_FREE)
			me = NULL;
		else if (!me)
			sys4(futex, word, FUTEX_WAIT_PRIVATE, GUARD_BUSY | GUARD_WAITED, 0);
		seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	}
	rt_op(TRACE_OP_ONCE_BEGIN, 0, guard, site);
	return 1;
}

static void leave_guard(uint64_t *guard, uint32_t state)
{
	uint32_t *word = (uint32_t *)guard;

	if (__atomic_exchange_n(word, state, __ATOMIC_ACQ_REL) & GUARD_WAITED)
		sys3(futex, word, FUTEX_WAKE_PRIVATE, 0x7fffffff);
}

/* Compiled code tests the first byte with an atomic load that is an event. One that finds it 0 comes before
 * the END, and does call: so others may have their turn here, and the order knows who was first. */
INTERPOSER void __cxa_guard_release(uint64_t *guard)
{
	const struct atomsan_site *site = rt_take_site();
	struct sched_thread *me = sched_me();
	bool ordered;

	if (unlikely(me))
		sched_before(me, guard, site);
	ordered = atomic_publish_begin(guard);
	rt_op(TRACE_OP_ONCE_END, 0, guard, site);
	leave_guard(guard, GUARD_DONE);
	if (ordered)
		atomic_publish_end(guard);
}

INTERPOSER void __cxa_guard_abort(uint64_t *guard)
{
	rt_take_site();
	leave_guard(guard, 0);
	if (unlikely(sched_me()))
		sched_wake(guard);
}
