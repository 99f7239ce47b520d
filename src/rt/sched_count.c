/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is an event, and what is a point. Schedules say how far a thread runs by
 * counting its events, so the count must be the same in every run in which the
 * thread does the same, whatever others do meanwhile and however the run is
 * recorded:
 *
 *   - An access is an event. With events=first only the first access to its
 *     bytes, of its kind, in a *stretch* of the thread is: what the recorder's
 *     filter keeps, but for what it keeps because another thread interfered. A
 *     stretch ends with an operation that is an event, and where another call of
 *     a function (or iteration of a marked loop) is at work than at the access
 *     before. A free does not end it, nor does the allocation of a small block,
 *     whose bytes are forgotten instead.
 *   - A read that repeats the event before it, same place, same address, is
 *     none, nor is a failed attempt that repeats one: a thread that polls does
 *     so a different number of times in every run.
 *   - An operation is an event, unless it comes from inside a library and only
 *     concerns memory: the buffer of standard output, say, is allocated by
 *     whoever prints first.
 *   - What a signal handler does is none.
 *
 * src/predict/count.c does the same count on traces.
 */
#include "rt/event_inl.h"
#include "rt/scheduler.h"

/* A repetition this often is a thread that waits for others; a schedule that wants more of it first
 * is one that cannot be. */
enum { YIELD_AFTER = 2 };

enum { READS = 1 << ATOMSAN_READ_BITS, WRITES = 1 << ATOMSAN_WRITE_BITS };

/* ---- points ---- */

static void point(struct sched_thread *me, const void *object, bool writes,
		  bool counts) ATOMSAN_KEEPS_REGISTERS COLD;
static void point(struct sched_thread *me, const void *object, bool writes,
		  bool counts) ATOMSAN_KEEPS_REGISTERS
{
	me->next_object = object;
	me->next_writes = writes;
	me->next_counts = counts;
	if (sched.mode == SCHED_FOLLOW || counts || !me->go || sched.freed)
		sched_decide(me);
	if (counts) {
		sched_entry(me)->points = ++me->points;
		sched.report->points++;
	}
}

static void repeated(struct sched_thread *me) ATOMSAN_KEEPS_REGISTERS COLD;
static void repeated(struct sched_thread *me) ATOMSAN_KEEPS_REGISTERS
{
	if (++me->repeats < YIELD_AFTER)
		return;
	me->yields = true;
	me->until = 0; /* the next point is one at which others may run */
}

INLINE void event(struct sched_thread *me, const void *object, const struct atomsan_site *site)
{
	sched_entry(me)->events = ++me->events;
	sched.report->events++;
	sched.progress++;
	me->last_object = object;
	me->last_site = site;
	me->repeats = 0;
	me->yields = false;
}

INLINE struct sched_thread *scheduled(void)
{
	struct sched_thread *me = rt_self.sched;

	return rt_self.inside || rt_self.handlers || me->busy ? NULL : me;
}

/* The write of an update that nobody told of has been done by now. */
INLINE void settle(struct sched_thread *me)
{
	if (unlikely(me->half_done != NULL)) {
		me->half_done = NULL;
		event(me, me->last_object, me->last_site);
	}
}

static bool strategy_looks_at(const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS COLD;
static bool strategy_looks_at(const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	return sched_plan_site(rt_module_site(site));
}

static bool first_of_kind(struct sched_thread *me, const void *p, uint64_t length,
			  uint64_t access) ATOMSAN_KEEPS_REGISTERS COLD;
static bool first_of_kind(struct sched_thread *me, const void *p, uint64_t length,
			  uint64_t access) ATOMSAN_KEEPS_REGISTERS
{
	return sched_count_first(me, p, length, access);
}

void sched_access(const void *p, uint64_t length, uint64_t access,
		  const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	struct sched_thread *me = scheduled();
	bool repeats;

	if (!me)
		return;
	me->beat++;
	settle(me);
	if (!sched.counts_all && !first_of_kind(me, p, length, access))
		return;
	repeats = access == READS && me->last_object == p && me->last_site == site;
	if (me->events >= me->until || !me->go) {
		me->next_silent = repeats;
		point(me, p, access != READS, strategy_looks_at(site));
		if (!rt_self.sched)
			return;
	}
	if (repeats)
		repeated(me);
	else
		event(me, p, site);
	if (access == (READS | WRITES))
		me->half_done = p;
}

void sched_again(const void *p) ATOMSAN_KEEPS_REGISTERS
{
	struct sched_thread *me = scheduled();

	if (!me || sched.mode != SCHED_FOLLOW)
		return;
	me->beat++;
	settle(me);
	if (me->events >= me->until || !me->go) {
		me->next_silent = true;
		point(me, p, false, false);
	}
}

/* A check that stands before a loop speaks for all its updates, and the first write counts. */
void sched_store(const void *p) ATOMSAN_KEEPS_REGISTERS
{
	struct sched_thread *me = scheduled();

	if (!me || me->half_done != p)
		return;
	me->beat++;
	me->half_done = NULL;
	if (me->events >= me->until || !me->go) {
		me->next_silent = false;
		point(me, p, true, strategy_looks_at(me->last_site));
		if (!rt_self.sched)
			return;
	}
	event(me, p, me->last_site);
}

void sched_atomic(const void *p) ATOMSAN_KEEPS_REGISTERS
{
	struct sched_thread *me = scheduled();

	if (!me)
		return;
	me->beat++;
	settle(me);
	if (me->events >= me->until || !me->go) {
		/* A load, perhaps, of what was loaded last. */
		me->next_silent = me->last_object == p;
		point(me, p, true, true);
	}
}

/* The hook before it had no site, and did not know whether it would write. */
void sched_atomic_done(const void *p, bool wrote, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	struct sched_thread *me = scheduled();

	if (!me)
		return;
	if (!wrote && me->last_object == p && me->last_site == site) {
		repeated(me);
		return;
	}
	/* A relaxed load is recorded as plain reads are. */
	if (site->kind == ATOMSAN_ATOMIC_LOAD && site->order == ATOMSAN_RELAXED) {
		if (sched.counts_all || first_of_kind(me, p, site->size, READS))
			event(me, p, site);
		return;
	}
	event(me, p, site);
	sched_count_stretch(me);
}

/* ---- operations ---- */

enum {
	NOT = 0,   /* no event */
	COUNT = 1, /* an event; it has taken effect, or there is nobody whom it concerns */
	POINT = 2, /* a point and an event; it is about to take effect */
	SITED = 4, /* only if the program's own code calls it */
	FAILED = 8,
};

static const unsigned char kinds[256] = {
	[TRACE_OP_CREATE] = POINT,        [TRACE_OP_JOIN] = COUNT,         [TRACE_OP_DETACH] = COUNT,
	[TRACE_OP_LOCK] = COUNT,          [TRACE_OP_UNLOCK] = POINT,       [TRACE_OP_RDLOCK] = COUNT,
	[TRACE_OP_LOCK_FAILED] = FAILED,  [TRACE_OP_LOCK_INIT] = COUNT,    [TRACE_OP_LOCK_DESTROY] = COUNT,
	[TRACE_OP_WAIT] = POINT,          [TRACE_OP_WAKE] = COUNT,         [TRACE_OP_SIGNAL] = POINT,
	[TRACE_OP_BROADCAST] = POINT,     [TRACE_OP_BARRIER_INIT] = COUNT, [TRACE_OP_BARRIER_ENTER] = POINT,
	[TRACE_OP_BARRIER_LEAVE] = COUNT, [TRACE_OP_SEM_INIT] = COUNT,     [TRACE_OP_SEM_POST] = POINT,
	[TRACE_OP_SEM_WAIT] = COUNT,      [TRACE_OP_SEM_FAILED] = FAILED,  [TRACE_OP_ONCE_BEGIN] = COUNT,
	[TRACE_OP_ONCE_END] = COUNT,      [TRACE_OP_ONCE_SEEN] = COUNT,    [TRACE_OP_FENCE] = POINT,
	[TRACE_OP_ALLOC] = COUNT | SITED, [TRACE_OP_FREE] = POINT | SITED, [TRACE_OP_MAP] = COUNT | SITED,
	[TRACE_OP_UNMAP] = POINT | SITED, [TRACE_OP_FORK] = COUNT,         [TRACE_OP_EXEC] = COUNT,
	[TRACE_OP_CANCEL] = POINT,        [TRACE_OP_UNIT_BEGIN] = POINT,   [TRACE_OP_UNIT_END] = POINT,
};

/* Whoever waits for it can go on as soon as the caller comes to its next point. */
static bool gives_up(enum trace_op op)
{
	return op == TRACE_OP_UNLOCK || op == TRACE_OP_SEM_POST || op == TRACE_OP_ONCE_END;
}

static bool ends_stretch(enum trace_op op, uint64_t value)
{
	return op != TRACE_OP_FREE && (op != TRACE_OP_ALLOC || value > TRACE_SMALL_BLOCK);
}

static void operation(struct sched_thread *me, enum trace_op op, unsigned kind, const void *object,
		      uint64_t value, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS COLD;
static void operation(struct sched_thread *me, enum trace_op op, unsigned kind, const void *object,
		      uint64_t value, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	me->beat++;
	settle(me);
	if (kind & POINT && (me->events >= me->until || !me->go)) {
		me->next_silent = false;
		point(me, object, true, true);
		if (!rt_self.sched)
			return;
	}
	if (kind & FAILED && me->last_object == object && !me->last_site) {
		repeated(me);
		return;
	}
	/* A place of NULL marks failed attempts, whichever call they come from. */
	event(me, object, kind & FAILED ? NULL : site ? site : (const void *)1);
	if (ends_stretch(op, value))
		sched_count_stretch(me);
	if (gives_up(op))
		sched_wake(object);
}

static void forget(struct sched_thread *me, const void *block, uint64_t size) ATOMSAN_KEEPS_REGISTERS COLD;
static void forget(struct sched_thread *me, const void *block, uint64_t size) ATOMSAN_KEEPS_REGISTERS
{
	sched_count_forget(me, block, size);
}

void sched_op(enum trace_op op, const void *object, uint64_t value,
	      const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	struct sched_thread *me = scheduled();
	unsigned kind = kinds[op];

	if (me && op == TRACE_OP_ALLOC && value <= TRACE_SMALL_BLOCK)
		forget(me, object, value);

	if (me && kind && (site || !(kind & SITED)))
		operation(me, op, kind, object, value, site);
}

void sched_before(struct sched_thread *me, const void *object, const struct atomsan_site *site)
{
	me->beat++;
	settle(me);
	me->site = site;
	if (me->events >= me->until || !me->go) {
		/* An attempt, perhaps, at what failed last. */
		me->next_silent = me->last_object == object && !me->last_site;
		point(me, object, true, true);
	}
}

void sched_pause(struct sched_thread *me, const struct atomsan_site *site)
{
	me->beat++;
	settle(me);
	me->site = site;
	me->yields = true;
	me->repeats++;
	me->next_silent = true;
	sched_decide(me);
	me->yields = false;
}
