/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Atomic operations. The program's own instruction stays as it is; around it
 * a stripe, chosen by the address, keeps other threads' atomic operations on
 * the location out until the operation has its place in the order. A stripe is never waited
 * for without end: its holder may be a thread that a signal handler took away,
 * and then order is given up for this one operation, and counted.
 *
 * Stamps are drawn as in order.h. The stripe has the highest keys with which
 * its locations were written and read: who reads must be above the former, who
 * writes above both. The cells know of plain accesses to the same bytes, and
 * whoever finds a higher key there draws a stamp, too.
 */
#include "rt/atomic.h"
#include "rt/event_inl.h"
#include "rt/follow.h"
#include "rt/order.h"
#include "rt/scheduler.h"
#include "rt/sys.h"
#include "rt/watch.h"

#include <time.h>

struct stripe {
	uint32_t holder;      /* thread number + 1, 0 if free */
	uint32_t version;     /* counts operations that wrote */
	uint64_t wrote, read; /* keys; under `holder` */
	uint64_t reserved;
};
static struct stripe stripes[4096];

void order_forget_atomics(void)
{
	for (unsigned i = 0; i < sizeof stripes / sizeof *stripes; i++)
		stripes[i] = (struct stripe){0};
}

INLINE struct stripe *stripe_of(const void *p)
{
	return &stripes[((uint64_t)p >> 3) * 0x9e3779b97f4a7c15ull >> 52];
}

/* Keep others out of the stripe. */
INLINE void stripe_enter(struct stripe *stripe)
{
	/* A holder that lost its processor comes back within these, one that is gone does not. */
	enum { SPINS = 128, YIELDS = 256, NAPS = 4096 };
	struct timespec nap = {0, 100000};
	uint32_t me = rt_self.number + 1;

	for (unsigned tries = 0; tries < SPINS + YIELDS + NAPS; tries++) {
		uint32_t holder = 0;

		/* Acquire pairs with the release in stripe_leave. */
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

INLINE void stripe_leave(struct stripe *stripe)
{
	if (__atomic_load_n(&stripe->holder, __ATOMIC_RELAXED) == rt_self.number + 1)
		__atomic_store_n(&stripe->holder, 0, __ATOMIC_RELEASE);
}

EXPORT ATOMSAN_HOOK __atomsan_atomic_begin(const void *p, const struct atomsan_site *site)
{
	if (watch_wanted_at(p, site->size))
		watch_atomic(p, site);
	if (!rt_recording || rt_self.number == RT_NO_THREAD)
		return;
	if (unlikely(rt_self.sched))
		sched_atomic(p);
	/* Both are asked for before the exchange below, which nothing overtakes. */
	shadow_fetch(shadow_cell(shadow_granule(p)));
	shadow_fetch(p);
	stripe_enter(stripe_of(p));
}

/* Is this the load that the thread just recorded, of a location that nobody wrote since? */
INLINE bool spinning(const void *p, const struct stripe *stripe, const struct atomsan_site *site)
{
	return rt_self.spin_location == p && rt_self.spin_site == site &&
	       rt_self.spin_version == stripe->version && rt_self.spin_next == rt_self.next;
}

INLINE uint64_t stamp_of(uint64_t cell)
{
	return cell >> ATOMSAN_STAMP_SHIFT;
}

/* Does the shadow know of a plain access, or a relaxed load, that has a higher key? */
INLINE bool cell_younger(uint64_t granule, bool write)
{
	uint64_t cell = *shadow_cell(granule);

	if (stamp_of(cell) > rt_self.stamp)
		return true;
	if (likely(!write || !shadow_is_shared(cell)))
		return false;
	for (unsigned slot = 0; slot < ATOMSAN_SLOTS; slot++)
		if (cell >> slot & 1 && stamp_of(*shadow_reader(slot, granule)) > rt_self.stamp)
			return true;
	return false;
}

INLINE bool stamp_due(const struct stripe *stripe, const void *p, uint64_t length, bool write)
{
	if (order_due_anyway() || stripe->wrote > rt_self.stamp || (write && stripe->read > rt_self.stamp))
		return true;
	for (uint64_t q = (uint64_t)p, end = q + length; q < end; q = (q & ~7ull) + 8)
		if (cell_younger(shadow_granule((void *)q), write))
			return true;
	return false;
}

INLINE void raise(uint64_t *key)
{
	uint64_t own = order_key();

	if (*key < own)
		*key = own;
}

/* Its segment may be one in which the same was recorded before somebody wrote: begin another, with a stamp.
 */
INLINE void relaxed_load(struct stripe *stripe, const void *p, const struct atomsan_site *site)
{
	if (unlikely(stripe->wrote > rt_self.stamp)) {
		rt_self.sub = SHADOW_SUBS;
		__atomsan_thread.segment = __atomsan_thread.fresh;
	}
	access_relaxed_load(p, site);
	raise(&stripe->read);
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
		relaxed_load(stripe, p, site);
	} else if (!wrote && rt_options.filter && spinning(p, stripe, site)) {
		rt_count(TRACE_COUNT_SPIN);
	} else {
		event_atomic(op, site->order, p, site, stamp_due(stripe, p, site->size, wrote));
		access_touch(p, site->size, wrote);
		raise(wrote ? &stripe->wrote : &stripe->read);
		if (wrote)
			stripe->version++;
		rt_self.spin_location = wrote ? NULL : p;
		rt_self.spin_site = site;
		rt_self.spin_version = stripe->version;
		rt_self.spin_next = rt_self.next;
	}
	stripe_leave(stripe);
}

bool atomic_publish_begin(const void *p)
{
	if (!rt_recording || rt_self.number == RT_NO_THREAD)
		return false;
	stripe_enter(stripe_of(p));
	return true;
}

void atomic_publish_end(const void *p)
{
	struct stripe *stripe = stripe_of(p);

	raise(&stripe->wrote);
	stripe->version++;
	stripe_leave(stripe);
}

EXPORT ATOMSAN_HOOK __atomsan_fence(const struct atomsan_site *site)
{
	rt_op(TRACE_OP_FENCE, site->order, NULL, site);
}
