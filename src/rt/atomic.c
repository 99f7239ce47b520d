/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Atomic operations. The program's own instruction stays as it is; around it
 * a stripe, chosen by the address, keeps other threads' atomic operations on
 * the location out until the operation has its stamp. A stripe is never waited
 * for without end: its holder may be a thread that a signal handler took away,
 * and then order is given up for this one operation, and counted.
 */
#include "rt/event_inl.h"
#include "rt/follow.h"
#include "rt/scheduler.h"
#include "rt/sys.h"
#include "rt/watch.h"

#include <time.h>

struct stripe {
	uint32_t holder; /* thread number + 1, 0 if free */
	uint32_t reserved;
	uint64_t version; /* counts operations that wrote */
};
static struct stripe stripes[4096];

INLINE struct stripe *stripe_of(const void *p)
{
	return &stripes[((uint64_t)p >> 3) * 0x9e3779b97f4a7c15ull >> 52];
}

EXPORT ATOMSAN_HOOK __atomsan_atomic_begin(const void *p, const struct atomsan_site *site)
{
	/* A holder that lost its processor comes back within these, one that is gone does not. */
	enum { SPINS = 128, YIELDS = 256, NAPS = 4096 };
	struct timespec nap = {0, 100000};
	struct stripe *stripe = stripe_of(p);
	uint32_t me = rt_self.number + 1;

	if (watch_wanted_at(p, site->size))
		watch_atomic(p, site);
	if (!rt_recording || rt_self.number == RT_NO_THREAD)
		return;
	if (unlikely(rt_self.sched))
		sched_atomic(p);
	for (unsigned tries = 0; tries < SPINS + YIELDS + NAPS; tries++) {
		uint32_t holder = 0;

		/* Acquire pairs with the release in __atomsan_atomic_end. */
		if (__atomic_compare_exchange_n(&stripe->holder, &holder, me, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return;
		if (holder == me)
			return; /* a signal handler inside the operation that it interrupted */
		if (tries < SPINS)
			__asm__ volatile("pause");
		else if (tries < SPINS + YIELDS)
			sys0(sched_yield);
		else
			sys2(nanosleep, &nap, NULL);
		/* A holder that waits for the checker will go on. */
		if (tries == SPINS + YIELDS && follow_waiting())
			tries--;
	}
	rt_count(TRACE_COUNT_ATOMIC_UNORDERED);
	__atomic_store_n(&stripe->holder, me, __ATOMIC_RELAXED);
}

/* Is this the load that the thread just recorded, of a location that nobody wrote since? */
INLINE bool spinning(const void *p, const struct stripe *stripe, const struct atomsan_site *site)
{
	return rt_self.spin_location == p && rt_self.spin_site == site &&
	       rt_self.spin_version == stripe->version && rt_self.spin_next == rt_self.next;
}

EXPORT ATOMSAN_HOOK __atomsan_atomic_end(const void *p, uint64_t wrote, const struct atomsan_site *site)
{
	struct stripe *stripe = stripe_of(p);
	enum trace_op op =
		wrote ? (site->kind == ATOMSAN_ATOMIC_STORE ? TRACE_OP_ATOMIC_STORE : TRACE_OP_ATOMIC_RMW)
		      : (site->kind == ATOMSAN_ATOMIC_RMW ? TRACE_OP_ATOMIC_FAILED : TRACE_OP_ATOMIC_LOAD);

	if (unlikely(rt_watching)) {
		if (rt_watching != WATCH_RACE)
			watch_atomic_done(p, wrote, site);
		if (!rt_recording)
			return;
	}
	if (!rt_recording || rt_self.number == RT_NO_THREAD) {
		rt_thread_off();
		return;
	}
	if (unlikely(rt_self.sched))
		sched_atomic_done(p, wrote, site);
	if (site->kind == ATOMSAN_ATOMIC_LOAD && site->order == ATOMSAN_RELAXED) {
		access_relaxed_load(p, site);
	} else if (!wrote && rt_options.filter && spinning(p, stripe, site)) {
		rt_count(TRACE_COUNT_SPIN);
	} else {
		rt_op(op, site->order, p, site);
		access_touch(p, site->size, wrote);
		if (wrote)
			stripe->version++;
		rt_self.spin_location = wrote ? NULL : p;
		rt_self.spin_site = site;
		rt_self.spin_version = stripe->version;
		rt_self.spin_next = rt_self.next;
	}
	if (__atomic_load_n(&stripe->holder, __ATOMIC_RELAXED) == rt_self.number + 1)
		__atomic_store_n(&stripe->holder, 0, __ATOMIC_RELEASE);
}

EXPORT ATOMSAN_HOOK __atomsan_fence(const struct atomsan_site *site)
{
	rt_op(TRACE_OP_FENCE, site->order, NULL, site);
}
