/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/race.h"
#include "rt/noise.h"
#include "rt/spinlock.h"
#include "rt/sys.h"
#include "rt/watch_report.h"

#include <signal.h>

/* So many windows a thread opens by itself, more and more seldom, which is for programs that do not live
 * long; from then on the sampler says when. */
enum { FIRST_WINDOWS = 32 };

static struct {
	uint64_t windows, hits, changes;
} count;

/* Pairs of sites that were seen to race. */
enum { PAIRS = 4096 };
static struct pair {
	const struct atomsan_site *first, *second;
	uint64_t times, number;
} pairs[PAIRS];
static uint64_t pair_count;
static uint32_t lock;

void race_start(void)
{
	watchpoint_start();
	if (rt_options.race)
		rt_watching |= WATCH_RACE;
}

/* ---- when ---- */

static void disarm(void)
{
	__atomsan_thread.fresh = WATCHPOINT_CLEAR;
	__atomsan_thread.segment = WATCHPOINT_CLEAR;
}

/* The sampler arms threads, too, and writes `fresh` first. */
static bool is_armed(void)
{
	return __atomsan_thread.fresh == WATCHPOINT_ARMED;
}

static void arm(void)
{
	__atomsan_thread.fresh = WATCHPOINT_ARMED;
	__atomsan_thread.segment = WATCHPOINT_ARMED;
}

static uint32_t next_skip(void)
{
	uint64_t random = noise_mix(watch_self.birth.seed + watch_self.windows);

	/* None at first; what is possible doubles with every third window. */
	return (uint32_t)(random % (1ull << watch_self.windows / 3));
}

void race_thread_begin(void)
{
	__atomsan_thread.shadow_base = __atomsan_thread.reader_base = (char *)watchpoint_cells;
	__atomsan_thread.shadow_mask = (WATCHPOINT_CELLS - 1) * sizeof(uint64_t);
	disarm();
	sampler_add();
	if (sampler_threads() > 1) {
		watch_self.skip = next_skip();
		arm();
	}
}

/* With a second thread there is somebody to race with. */
void race_creates(void)
{
	if (rt_watching != WATCH_RACE || rt_recording)
		return;
	sampler_start();
	if (watch_self.windows < FIRST_WINDOWS && !is_armed()) {
		watch_self.skip = next_skip();
		arm();
	}
}

void race_thread_end(void)
{
	sampler_remove();
}

/* Is this access to be watched though no noise asked for it? */
static bool due(void)
{
	if (rt_watching != WATCH_RACE || rt_recording || rt_self.sched)
		return false;
	if (!is_armed()) {
		/* As it came to be if the sampler was half done when the last window was opened. */
		__atomsan_thread.segment = WATCHPOINT_CLEAR;
		return false;
	}
	if (watch_self.skip) {
		watch_self.skip--;
		return false;
	}
	if (watch_self.windows < FIRST_WINDOWS) {
		watch_self.windows++;
		watch_self.skip = next_skip();
	} else {
		disarm();
	}
	return sampler_threads() > 1;
}

/* ---- what was seen ---- */

static char op_of(unsigned kinds)
{
	return kinds == WATCH_READ ? 'R' : kinds == WATCH_WRITE ? 'W' : 'U';
}

/* Counts the pair; true if it is new. */
static bool is_new(const struct atomsan_site *a, const struct atomsan_site *b, struct pair *seen)
{
	const struct atomsan_site *first = a < b ? a : b, *second = a < b ? b : a;
	uint64_t at = noise_mix((uint64_t)first ^ (uint64_t)second << 20) % PAIRS;
	bool news = false;

	rt_spin_enter(&lock);
	while (pairs[at].number && (pairs[at].first != first || pairs[at].second != second))
		at = (at + 1) % PAIRS;
	if (!pairs[at].number && pair_count < PAIRS / 2) {
		pairs[at] = (struct pair){first, second, 0, ++pair_count};
		news = true;
	}
	pairs[at].times++;
	*seen = pairs[at];
	rt_spin_leave(&lock);
	return news;
}

static const char *note_of(const struct atomsan_site *site)
{
	if (site->flags & ATOMSAN_SITE_VOLATILE)
		return "volatile";
	return site->order != ATOMSAN_PLAIN ? "atomic" : "";
}

static void describe(struct watch_report_access *to, const struct watchpoint_access *access,
		     const char *thread, const struct atomsan_function **frames, uint32_t depth)
{
	to->op = op_of(access->kinds);
	to->thread = thread;
	to->site = access->site;
	to->address = access->address;
	to->length = access->length;
	to->frames = frames;
	to->depth = depth;
	to->note = note_of(access->site);
}

/* Somebody changed it and was not seen. */
static void describe_unseen(struct watch_report_access *to, const struct watchpoint_access *mine)
{
	to->op = 'W';
	to->thread = "";
	to->site = NULL;
	to->address = mine->address;
	to->length = mine->length;
	to->depth = 0;
	to->note = "an access that was not seen: of code that is not instrumented, or under way";
}

/* With the watchpoint that somebody ran into; NULL if nobody did, for then it is somebody else's already. */
static void report(const struct watchpoint_access *mine, struct watchpoint *hit, uint64_t before,
		   uint64_t after)
{
	static const struct atomsan_function *frames[WATCHPOINT_FRAMES];
	static struct watch_report report = {.kind = "race", .title = "data race", .access_count = 2};
	struct pair seen;

	if (!is_new(mine->site, hit ? hit->other.site : NULL, &seen)) {
		/* Also a run that is killed has said roughly how often. */
		if (seen.number && !(seen.times & (seen.times - 1)))
			watch_report_seen("race", seen.number, seen.times);
		return;
	}
	rt_spin_enter(&lock);
	report.number = seen.number;
	describe(&report.accesses[0], mine, watch_self.birth.name, frames,
		 watch_report_stack(frames, WATCHPOINT_FRAMES));
	if (hit)
		describe(&report.accesses[1], &hit->other, hit->name, hit->frames, hit->depth);
	else
		describe_unseen(&report.accesses[1], mine);
	report.has_values = before != after;
	report.before = before;
	report.after = after;
	watch_report(&report);
	rt_spin_leave(&lock);
}

/* ---- windows ---- */

static uint64_t value_at(const struct watchpoint_access *a)
{
	const volatile void *p = (const volatile void *)a->address;

	switch (a->length) {
	case 1:
		return *(const volatile uint8_t *)p;
	case 2:
		return *(const volatile uint16_t *)p;
	case 4:
		return *(const volatile uint32_t *)p;
	case 8:
		return *(const volatile uint64_t *)p;
	default:
		return 0;
	}
}

/*
 * No handler runs while the window is open: one that left by longjmp would leave
 * it open for ever, and one that writes would look like somebody else. What the
 * thread's own instructions can cause is let through: reading the value may find
 * a page that the program's handler is to bring in.
 */
static uint64_t hold_signals(void)
{
	uint64_t all = ~(1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1) | 1ull << (SIGFPE - 1) |
			 1ull << (SIGILL - 1) | 1ull << (SIGTRAP - 1));
	uint64_t before = 0;

	sys4(rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof all);
	return before;
}

static enum watchpoint_end close_window(struct watchpoint *w)
{
	enum watchpoint_end end;

	/* Who claimed it has a few words to write; if he never does, the place stays taken. */
	for (unsigned tries = 0; (end = watchpoint_close(w)) == WATCHPOINT_WAIT && tries < 100000; tries++)
		sys0(sched_yield);
	return end;
}

static void open_window(const struct watchpoint_access *access, const struct watch_pause *pause)
{
	/* The value says nothing of a wide access: what is in it may be others' business, a lock for one. */
	bool look = access->length <= 8 && !access->marked && !(access->address & (access->length - 1));
	uint64_t before = look ? value_at(access) : 0, after = 0, signals;
	struct watchpoint *w;
	enum watchpoint_end end;

	signals = hold_signals();
	w = watchpoint_set(access, noise_mix(watch_self.birth.seed ^ watch_self.events ^ access->address));
	if (w) {
		__atomic_fetch_add(&count.windows, 1, __ATOMIC_RELAXED);
		before = look ? value_at(access) : 0;
	}
	noise_pause(pause);
	if (w) {
		after = look ? value_at(access) : 0;
		end = close_window(w);
		if (end == WATCHPOINT_HIT) {
			__atomic_fetch_add(&count.hits, 1, __ATOMIC_RELAXED);
			report(access, w, before, after);
			watchpoint_free(w);
		} else if (before != after) {
			__atomic_fetch_add(&count.changes, 1, __ATOMIC_RELAXED);
			report(access, NULL, before, after);
		}
	}
	sys4(rt_sigprocmask, SIG_SETMASK, &signals, NULL, sizeof signals);
}

static void run_into(const struct watchpoint_access *access)
{
	struct watchpoint *w = watchpoint_claim(access);

	if (!w)
		return;
	w->other = *access;
	w->depth = watch_report_stack(w->frames, WATCHPOINT_FRAMES);
	for (unsigned i = 0; i < sizeof w->name; i++)
		w->name[i] = watch_self.birth.name[i];
	watchpoint_tell(w);
}

void race_access(const void *p, uint64_t length, unsigned kinds, const struct atomsan_site *site,
		 const struct watch_pause *pause)
{
	struct watchpoint_access access = {
		.address = (uint64_t)p,
		.length = length,
		.site = site,
		.thread = rt_self.number,
		.kinds = (uint8_t)kinds,
		.marked = site->order != ATOMSAN_PLAIN || site->flags & ATOMSAN_SITE_VOLATILE,
	};
	/* Without a length it is open between two hooks and no longer: the paper's window. */
	struct watch_pause short_one = {rt_options.race_window ? WATCH_SLEEP : WATCH_NO_PAUSE,
					(uint32_t)rt_options.race_window};

	/* An access that the program may not make in the end is nobody's business. */
	if (site->flags & ATOMSAN_SITE_MOVED) {
		if (pause->kind)
			noise_pause(pause);
		return;
	}
	if (watchpoint_active)
		run_into(&access);
	if (pause->kind)
		open_window(&access, pause);
	else if (due())
		open_window(&access, &short_one);
}

void race_finish(void)
{
	rt_spin_enter(&lock);
	for (unsigned i = 0; i < PAIRS; i++)
		if (pairs[i].times > 1)
			watch_report_seen("race", pairs[i].number, pairs[i].times);
	rt_spin_leave(&lock);
	watch_report_count("watchpoints", count.windows);
	watch_report_count("hits", count.hits);
	watch_report_count("changes by code that was not seen", count.changes);
}

void race_fork_child(void)
{
	/* Those who had windows open are not here. */
	watchpoint_start();
	lock = 0;
	sampler_fork_child();
	if (rt_watching == WATCH_RACE && !rt_recording && rt_self.number != RT_NO_THREAD)
		race_thread_begin();
}
