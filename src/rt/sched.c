/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The token: exactly one scheduled thread has it. The others wait, each on a
 * futex of its own. Nobody who waits sleeps for long: now and then it looks
 * whether the one with the token is stuck in the kernel, in a call that nobody
 * announced, and then takes the token away from it.
 */
#include "rt/scheduler.h"
#include "rt/sys.h"
#include "rt/task.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/mman.h>

/* How often those who wait look around, and how long a thing may take of which nobody can say
 * whether it ever comes. */
enum { LOOK_NS = 20 * 1000 * 1000 };
#define BUSY_NS 1000000000ull
#define PATIENCE_NS (rt_options.sched_patience * 1000000ull)

struct sched_state_of_all sched = {.holder = SCHED_NOBODY, .last = SCHED_NOBODY};
static struct sched_thread *threads;
static uint32_t lock_word;
static bool handler_ran;

/* A place to stop at for a debugger: the schedule has come to its end, or to a deadlock. */
EXPORT __attribute__((noinline)) void __atomsan_schedule_end(void)
{
	__asm__ volatile("" ::: "memory");
}

void sched_lock(void)
{
	unsigned tries = 0;

	/* pairs with the release in sched_unlock() */
	while (__atomic_exchange_n(&lock_word, 1, __ATOMIC_ACQUIRE))
		if (++tries > 64)
			sys0(sched_yield);
}

void sched_unlock(void)
{
	__atomic_store_n(&lock_word, 0, __ATOMIC_RELEASE);
}

struct sched_thread *sched_thread(uint32_t index)
{
	return &threads[index];
}

bool sched_make_room(void)
{
	long p = sys6(mmap, 0, SCHED_THREADS * sizeof *threads, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (sys_failed(p))
		return false;
	threads = (struct sched_thread *)p;
	return true;
}

uint64_t sched_now(void)
{
	struct timespec t = {0, 0};

	sys2(clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

void sched_copy(char *to, uint64_t room, const char *from)
{
	uint64_t i = 0;

	for (; from && from[i] && i + 1 < room; i++)
		to[i] = from[i];
	to[i] = 0;
}

/* ---- handing over ---- */

static void log_turn(struct sched_thread *t)
{
	struct sched_report *report = sched.report;
	uint64_t n = report->switches;

	/* Who had the token and did nothing with it need not have had it. */
	if (t->events == t->since)
		return;
	if (n && n <= SCHED_SWITCHES && report->log[n - 1].thread == t->index)
		n--;
	if (n < SCHED_SWITCHES)
		report->log[n] =
			(struct sched_switch){t->index, t->status != SCHED_READY || t->yields, t->events};
	report->switches = n + 1;
}

/* The lock is held. */
void sched_give(struct sched_thread *next)
{
	if (!next) {
		sched.holder = SCHED_NOBODY;
		sched.idle_since = sched_now();
		return;
	}
	if (sched.last != next->index) {
		if (sched.last != SCHED_NOBODY)
			log_turn(&threads[sched.last]);
		next->since = next->events;
		sched.last = next->index;
	}
	sched.holder = next->index;
	sched.report->current = next->index;
	/* pairs with the load in sched_wait_for_token() */
	__atomic_store_n(&next->go, 1, __ATOMIC_RELEASE);
	if (next != rt_self.sched)
		sys3(futex, &next->go, FUTEX_WAKE_PRIVATE, 1);
}

static bool may_look_again(const struct sched_thread *t)
{
	return t->status == SCHED_BLOCKED && t->waits != SCHED_WAIT_CONDITION &&
	       t->waits != SCHED_WAIT_BARRIER;
}

static bool let_all_look(void)
{
	bool any = false;

	for (uint32_t i = 0; i < sched.count; i++)
		if (may_look_again(&threads[i])) {
			threads[i].status = SCHED_READY;
			any = true;
		}
	return any;
}

/* Who has what the thread waits for, as libc notes it down: index + 1, or 0. */
static uint32_t holder_of(const struct sched_thread *t)
{
	int tid = 0;

	if (t->waits == SCHED_WAIT_JOIN && t->object)
		return ((const struct sched_thread *)t->object)->index + 1;
	if (t->waits == SCHED_WAIT_MUTEX)
		tid = ((const pthread_mutex_t *)t->object)->__data.__owner;
	else if (t->waits == SCHED_WAIT_RWLOCK)
		tid = ((const pthread_rwlock_t *)t->object)->__data.__cur_writer;
	for (uint32_t i = 0; tid && i < sched.count; i++)
		if (threads[i].tid == tid && threads[i].status != SCHED_GONE)
			return i + 1;
	return 0;
}

static void COLD deadlock(void)
{
	struct sched_report *report = sched.report;

	for (uint32_t i = 0; i < sched.count; i++) {
		const struct sched_thread *t = &threads[i];
		struct sched_report_thread *entry = sched_entry(t);

		if (t->status == SCHED_GONE)
			continue;
		entry->waits = t->waits;
		entry->object = (uint64_t)t->object;
		entry->holder = holder_of(t);
		sched_describe(entry->where, sizeof entry->where, t->site);
		if (rt_options.verbosity)
			rt_say("deadlock: %s waits at %s", entry->name, entry->where);
	}
	report->state = SCHED_DEADLOCK;
	__atomsan_schedule_end();
	/* There is nobody left to be disturbed. */
	sys1(exit_group, 66);
}

/* Also when all are gone: then there is nobody to be stuck. */
static bool somebody_may_come(void)
{
	bool all_gone = true;

	for (uint32_t i = 0; i < sched.count; i++) {
		if (threads[i].status == SCHED_AWAY ||
		    (threads[i].status == SCHED_BLOCKED && threads[i].deadline))
			return true;
		all_gone &= threads[i].status == SCHED_GONE;
	}
	return all_gone;
}

/* Who is next? NULL: nobody, until a thread comes back from the kernel. The lock is held. */
struct sched_thread *sched_next(struct sched_thread *me)
{
	struct sched_thread *next;

	for (;;) {
		bool ready = false;

		next = sched.mode == SCHED_FOLLOW ? sched_plan_pick(me) : sched_pick(me);
		if (next || sched.freed)
			return next;
		for (uint32_t i = 0; i < sched.count && !ready; i++)
			ready = threads[i].status == SCHED_READY;
		/* The schedule waits for somebody who is in the kernel. */
		if (ready)
			return NULL;
		/* Somebody may have given up what is waited for without our knowing. */
		if (sched.looked != sched.progress) {
			sched.looked = sched.progress;
			if (let_all_look())
				continue;
		}
		if (somebody_may_come() || sched.foreign || sched.forked || rt_signal_handlers)
			return NULL;
		deadlock();
	}
}

void sched_release(void)
{
	sched.freed = true;
	sched.mode = SCHED_OFF;
	sched.report->state = SCHED_FREED;
	for (uint32_t i = 0; i < sched.count; i++) {
		struct sched_thread *t = &threads[i];

		if (t->status == SCHED_GONE)
			continue;
		t->until = 0;
		if (t->tid)
			sched_cpu_end(t->tid);
		__atomic_store_n(&t->go, 1, __ATOMIC_RELEASE);
		sys3(futex, &t->go, FUTEX_WAKE_PRIVATE, 1);
	}
}

/* ---- waiting for the token ---- */

/* Those who wait take turns at this; the lock is held. */
static void look_at_holder(struct sched_thread *me)
{
	struct sched_thread *h = &threads[sched.holder];

	if (h == me || !h->tid)
		return;
	if (me->watched != h->index + 1 || me->watched_beat != h->beat) {
		me->watched = h->index + 1;
		me->watched_beat = h->beat;
		me->watched_since = sched_now();
		return;
	}
	/* One that computes for long goes on doing so: it stops at its next point. */
	if (h->busy || (!rt_task_asleep(h->tid) && sched_now() - me->watched_since < BUSY_NS))
		return;
	h->status = SCHED_AWAY;
	h->waits = SCHED_WAIT_KERNEL;
	h->go = 0;
	sched.report->taken_away++;
	sched_give(sched_next(NULL));
}

static bool somebody_computes(void)
{
	for (uint32_t i = 0; i < sched.count; i++)
		if (threads[i].status == SCHED_AWAY && !rt_task_asleep(threads[i].tid))
			return true;
	return false;
}

/* How long a schedule waits for a thread that is in the kernel. Where it has done so in vain it is not
 * followed any more as it is written, and each step of one who sleeps would take as long: the run would seem
 * to hang. */
static uint64_t patience(void)
{
	return sched.mode == SCHED_FOLLOW && sched.report->diverged ? LOOK_NS : PATIENCE_NS;
}

/* Nobody has the token; the lock is held. */
static void look_around(struct sched_thread *me)
{
	uint64_t now = sched_now();
	bool again =
		__atomic_exchange_n(&handler_ran, false, __ATOMIC_RELAXED) || sched.foreign || sched.forked;

	if (me->status == SCHED_BLOCKED && me->deadline && now >= me->deadline) {
		me->status = SCHED_READY;
		me->expired = true;
		sched.progress++;
		sched_give(sched_next(NULL));
		return;
	}
	if (again)
		sched.progress++;
	else if (now - sched.idle_since < patience() || somebody_computes())
		return;
	else if (sched.mode == SCHED_FOLLOW)
		sched_plan_lost();
	else if (somebody_may_come())
		return;
	else if (sched.looked == sched.progress)
		deadlock();
	sched_give(sched_next(NULL));
}

void sched_wait_for_token(struct sched_thread *me)
{
	while (!__atomic_load_n(&me->go, __ATOMIC_ACQUIRE)) {
		struct timespec most = {0, LOOK_NS};
		long result;

		if (me->status == SCHED_BLOCKED && me->deadline) {
			uint64_t now = sched_now(), left = me->deadline > now ? me->deadline - now : 1;

			if (left < LOOK_NS)
				most.tv_nsec = (long)left;
		}
		result = sys4(futex, &me->go, FUTEX_WAIT_PRIVATE, 0, &most);
		if (result != -ETIMEDOUT && result != -EINTR)
			continue;
		sched_lock();
		if (!me->go && !sched.freed) {
			if (sched.holder == SCHED_NOBODY)
				look_around(me);
			else
				look_at_holder(me);
		}
		sched_unlock();
	}
}

/* ---- what the thread with the token does ---- */

static void pass_on(struct sched_thread *me)
{
	struct sched_thread *next;

	sched_lock();
	if (sched.freed) {
		sched_unlock();
		return;
	}
	/* It may have been taken away a moment ago. */
	if (me->go) {
		next = sched_next(me);
		if (next != me && !sched.freed) {
			me->go = 0;
			sched_give(next);
		}
	}
	sched_unlock();
	sched_wait_for_token(me);
}

/* The scheduler is off: forget it. */
void sched_leave(void)
{
	rt_self.sched = NULL;
	__atomsan_thread.scheduled = NULL;
	if (!*rt_options.record)
		rt_thread_off();
}

void sched_decide(struct sched_thread *me)
{
	me->busy = true;
	if (!me->go)
		sched_back(me);
	else if (!sched.freed)
		pass_on(me);
	me->busy = false;
	if (sched.freed)
		sched_leave();
}

enum sched_woken sched_block(struct sched_thread *me, enum sched_wait waits, const void *object,
			     const struct atomsan_site *site, uint64_t deadline)
{
	enum sched_woken woken;

	me->busy = true;
	me->waits = waits;
	me->object = object;
	me->site = site;
	me->deadline = deadline;
	me->expired = me->cancelled = false;
	me->ticket = ++sched.tickets;
	me->status = SCHED_BLOCKED;
	pass_on(me);
	woken = sched.freed     ? SCHED_FREE
		: me->cancelled ? SCHED_CANCELLED
		: me->expired   ? SCHED_LATE
				: SCHED_AGAIN;
	me->busy = false;
	if (woken == SCHED_FREE) {
		/* What it waits for stays, for somebody may be about to signal it. */
		sched_leave();
		return woken;
	}
	me->status = SCHED_READY;
	me->waits = SCHED_WAIT_NONE;
	me->deadline = 0;
	return woken;
}

void sched_away(struct sched_thread *me, const struct atomsan_site *site)
{
	me->busy = true;
	sched_lock();
	if (!sched.freed && me->go) {
		me->status = SCHED_AWAY;
		me->waits = SCHED_WAIT_KERNEL;
		me->site = site;
		me->go = 0;
		sched_give(sched_next(NULL));
	}
	sched_unlock();
	me->busy = false;
}

void sched_back(struct sched_thread *me)
{
	bool was = me->busy;

	me->busy = true;
	sched_lock();
	if (!sched.freed && !me->go) {
		me->status = SCHED_READY;
		me->waits = SCHED_WAIT_NONE;
		sched.progress++;
		if (sched.holder == SCHED_NOBODY)
			sched_give(sched_next(me));
	}
	sched_unlock();
	sched_wait_for_token(me);
	me->busy = was;
}

void sched_sleep(struct sched_thread *me, const struct timespec *time)
{
	bool away = false;

	sched_lock();
	for (uint32_t i = 0; i < sched.count; i++)
		away |= threads[i].status == SCHED_AWAY;
	sched_unlock();
	if (away)
		sched_away(me, me->last_site);
	else
		me->busy = true; /* known to be asleep: the token stays */
	sys2(nanosleep, time, NULL);
	me->busy = false;
	if (away)
		sched_back(me);
}

/* The lock is held. */
uint32_t sched_wake_up(const void *object)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < sched.count; i++)
		if (threads[i].object == object && may_look_again(&threads[i])) {
			threads[i].status = SCHED_READY;
			threads[i].signalled = threads[i].waits == SCHED_WAIT_FUTEX;
			sched.progress++;
			count++;
		}
	return count;
}

uint32_t sched_wake(const void *object)
{
	uint32_t count;

	sched_lock();
	count = sched_wake_up(object);
	sched_unlock();
	return count;
}

void sched_signal_ran(void)
{
	__atomic_store_n(&handler_ran, true, __ATOMIC_RELAXED);
}
