/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/synth.h"

#include "base/err.h"
#include "predict/search.h"

#include <stdlib.h>
#include <string.h>

/* Threads that wait for threads that wait for threads. */
#define DEMAND_DEPTH 64

/* Points between e1 and e2 that are tried for f. */
#define POINTS_LIMIT 8

/* Of one search, and of all for the predictions of one run. */
#define SEARCH_MOVES 4096
#define SEARCH_MOVES_IN_ALL 1000000

void synth_init(struct synth *s, struct predict *predict)
{
	*s = (struct synth){.predict = predict, .locks = &predict->locks, .search_left = SEARCH_MOVES_IN_ALL};
	machine_index_build(&s->index, predict->history);
	synth_reduce(predict->history, &s->index, &s->whole);
	stray_init(&s->stray, predict->history, &s->index);
	s->limits = mem_zalloc(predict->history->thread_count + 1ull, sizeof(*s->limits));
	s->needed = mem_zalloc(predict->history->thread_count + 1ull, sizeof(*s->needed));
}

void synth_release(struct synth *s)
{
	machine_index_release(&s->index);
	stray_release(&s->stray);
	synth_schedule_release(&s->whole);
	free(s->limits);
	free(s->needed);
	*s = (struct synth){0};
}

void synth_schedule_release(struct synth_schedule *schedule)
{
	free(schedule->steps);
	*schedule = (struct synth_schedule){0};
}

/* How far the thread has come in the schedule that is being made. */
static uint32_t reached(const struct synth *s, uint32_t thread)
{
	uint32_t next = s->machine.next[thread];

	return next == s->index.first[thread] ? 0 : s->index.events[next - 1] + 1;
}

/* The machine knows of synchronisation. Memory, pointers and flags that others must have come to first are
 * known to the order alone. */
static bool is_due(const struct synth *s, uint32_t thread, uint32_t event)
{
	const struct order *order = &s->predict->order;

	if (event == HISTORY_NONE || !order_ends_segment(order, event))
		return true;
	for (uint32_t u = 0; u < s->predict->history->thread_count; u++)
		if (u != thread && order_needs(order, thread, event + 1, u) > reached(s, u))
			return false;
	return true;
}

static bool step(struct synth *s, uint32_t thread)
{
	uint32_t event = machine_next(&s->machine, thread);

	if (!is_due(s, thread, event) || !machine_step(&s->machine, thread))
		return false;
	s->out->events++;
	synth_add_step(s->out, thread, event + 1);
	return true;
}

static bool involved(const struct weave_goal *goal, uint32_t thread)
{
	for (uint32_t i = 0; i < goal->count; i++)
		if (goal->threads[i] == thread)
			return true;
	return false;
}

/*
 * Where each thread leaves the observed run: without locks, before the pattern
 * begins. Who was created, joined or let go by something that would be left out
 * that way takes it along: the other thread goes on until it has no lock. Who
 * needs more of the pattern's own threads than they have done stays behind.
 */
static bool plan_region_one(struct synth *s, const struct weave *w)
{
	const struct vclock *clock = order_whole(&s->predict->order);
	uint32_t threads = s->predict->history->thread_count;
	bool again = true;

	for (uint32_t t = 0; t < threads; t++) {
		s->limits[t] = lockset_free_before(s->locks, t, w->start);
		s->needed[t] = false;
	}
	for (uint32_t t = 0; t < w->goal->count; t++)
		s->limits[w->goal->threads[t]] = w->from[t];
	while (again) {
		again = false;
		for (uint32_t t = 0; t < threads; t++)
			for (uint32_t u = 0; u < threads; u++) {
				uint32_t need = vclock_needs(clock, t, s->limits[t], u);

				if (u == t || need <= s->limits[u])
					continue;
				again = true;
				if (involved(w->goal, u)) {
					if (involved(w->goal, t) || s->needed[t])
						return false;
					s->limits[t] = lockset_free_before(
						s->locks, t, vclock_first(clock, t, u, s->limits[u] + 1));
					break;
				}
				uint32_t free_at = lockset_free_after(s->locks, u, need);

				s->limits[u] = free_at == HISTORY_NONE ? need : free_at;
				s->needed[u] = true;
			}
	}
	return true;
}

static void region_one(struct synth *s)
{
	const struct history *h = s->predict->history;
	bool *stalled = mem_zalloc(h->thread_count + 1ull, sizeof(*stalled));
	uint32_t left = 0;

	for (uint32_t t = 0; t < h->thread_count; t++) {
		uint32_t next = machine_next(&s->machine, t);

		stalled[t] = next == HISTORY_NONE || next >= s->limits[t];
		left += !stalled[t];
	}
	for (uint32_t i = 0; i < s->whole.count && left; i++) {
		uint32_t t = s->whole.steps[i].thread, limit = s->whole.steps[i].limit, next;

		if (stalled[t])
			continue;
		while ((next = machine_next(&s->machine, t)) < limit && next < s->limits[t])
			if (!step(s, t)) /* waits for something that was left out: so it stays behind */
				break;
		if (next >= s->limits[t] || next < limit) {
			stalled[t] = true;
			left--;
		}
	}
	free(stalled);
	s->out->observed = s->out->count;
}

/* Lets the thread run to the limit, after those that it has to wait for. */
static bool demand(struct synth *s, const struct weave_goal *goal, uint32_t thread, uint32_t limit,
		   unsigned depth)
{
	const struct history *h = s->predict->history;
	uint32_t next;

	while ((next = machine_next(&s->machine, thread)) < limit) {
		if (step(s, thread))
			continue;
		/* It waits. For whom, the order knows, as far as it is certain. */
		bool helped = false;

		if (depth == DEMAND_DEPTH)
			return false;
		for (uint32_t u = 0; u < h->thread_count; u++) {
			uint32_t need = order_needs(&s->predict->order, thread, next + 1, u);

			if (u == thread || involved(goal, u) || need <= reached(s, u))
				continue;
			if (!demand(s, goal, u, need, depth + 1))
				return false;
			uint32_t free_at = lockset_free_after(s->locks, u, reached(s, u));

			if (free_at != HISTORY_NONE)
				demand(s, goal, u, free_at, depth + 1);
			helped = true;
		}
		if (!helped || !step(s, thread))
			return false;
	}
	return true;
}

struct run {
	struct synth *s;
	const struct weave_goal *goal;
};

static void run_stretch(void *user, uint32_t thread, uint32_t from, uint32_t to)
{
	struct run *r = user;

	if (!r->s->stuck && !demand(r->s, r->goal, r->goal->threads[thread], to, 0))
		r->s->stuck = true;
}

/* Regions II and III as in the paper. */
static void run_regions(struct synth *s, const struct weave *w)
{
	struct run run = {s, w->goal};
	uint32_t at[WEAVE_MAX_THREADS];

	for (uint32_t t = 0; t < w->goal->count; t++)
		at[t] = w->from[t];
	for (uint32_t t = w->goal->count; t-- > 0 && !s->stuck;)
		weave_run(w, at, t, w->free[t], run_stretch, &run);
	for (uint32_t t = 0; t < w->goal->count && !s->stuck; t++)
		weave_run(w, at, t, w->goal->targets[t], run_stretch, &run);
}

/*
 * Another way to the same points, for programs in which the threads let each
 * other go on by more than locks: the oldest event first that may run now.
 */
static void run_by_age(struct synth *s, const struct weave *w)
{
	const struct weave_goal *g = w->goal;

	for (;;) {
		uint32_t at[WEAVE_MAX_THREADS], tried = 0;

		for (uint32_t t = 0; t < g->count; t++) {
			at[t] = machine_next(&s->machine, g->threads[t]);
			tried |= (at[t] >= g->targets[t]) << t;
		}
		if (tried + 1 == 1u << g->count)
			return;
		while (tried + 1 != 1u << g->count) {
			uint32_t oldest = g->count;

			for (uint32_t t = 0; t < g->count; t++)
				if (!(tried >> t & 1) && (oldest == g->count || at[t] < at[oldest]))
					oldest = t;
			tried |= 1u << oldest;
			if (weave_may(w, at, oldest) && demand(s, g, g->threads[oldest], at[oldest] + 1, 0)) {
				tried = 0;
				break;
			}
		}
		if (tried) {
			s->stuck = true;
			return;
		}
	}
}

/* By trial and error. */
static void run_search(struct synth *s, const struct weave *w)
{
	uint32_t granted = s->search_left < SEARCH_MOVES ? s->search_left : SEARCH_MOVES, left = granted;
	struct search_path path = {0};

	s->stuck = !search_goal(&s->machine, w, &left, &path);
	s->search_left -= granted - left;
	for (uint32_t i = 0; !s->stuck && i < path.count; i++) {
		s->out->events++;
		synth_add_step(s->out, path.steps[i].thread, path.steps[i].event + 1);
	}
	search_path_release(&path);
}

/*
 * The ways to a schedule, the shortest first. The last one leaves the observed
 * run at its very beginning: what region I takes for granted may be what is in the way.
 */
static const struct way {
	void (*run)(struct synth *s, const struct weave *w);
	bool from_start;
} ways[] = {{run_regions, false}, {run_by_age, false}, {run_search, false}, {run_search, true}};

static void follow_way(struct synth *s, const struct way *way, const struct weave *w, bool planned)
{
	const struct weave_goal *goal = w->goal;

	s->out->count = 0;
	s->out->events = 0;
	s->out->observed = 0;
	s->stuck = !planned && !way->from_start;
	if (!s->stuck && !way->from_start) {
		region_one(s);
		for (uint32_t t = 0; t < goal->count; t++)
			s->stuck |= machine_next(&s->machine, goal->threads[t]) < w->from[t];
	}
	if (!s->stuck)
		way->run(s, w);
}

static bool build(struct synth *s, const struct weave_goal *goal)
{
	bool made = false, planned;
	struct weave w;

	if (weave_solve(&w, goal, s->locks, &s->predict->order)) {
		planned = plan_region_one(s, &w);
		for (unsigned i = 0; i < sizeof(ways) / sizeof(*ways) && !made; i++) {
			machine_init(&s->machine, s->predict->history, &s->index);
			follow_way(s, &ways[i], &w, planned);
			made = !s->stuck;
			machine_release(&s->machine);
		}
	}
	weave_release(&w);
	return made;
}

bool synth_build(struct synth *s, struct prediction *prediction, struct synth_schedule *schedule)
{
	struct weave_goal goal = prediction->goal;

	*schedule = (struct synth_schedule){0};
	s->out = schedule;
	for (unsigned tries = 0; tries < POINTS_LIMIT; tries++) {
		if (build(s, &goal)) {
			prediction->goal = goal;
			schedule->strayed = stray_count(&s->stray, schedule);
			return true;
		}
		if (prediction->kind != PREDICT_SINGLE)
			return false;
		/* Others may need what the thread in the middle does before e2. */
		goal.targets[0] = predict_later_point(s->predict, goal.threads[0], goal.targets[0]);
		goal.anchors[0] = goal.targets[0];
		if (goal.targets[0] > prediction->accesses[2])
			return false;
	}
	return false;
}
