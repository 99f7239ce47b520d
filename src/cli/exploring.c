/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/exploring.h"
#include "base/map.h"
#include "trace/describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the turns of a run ---- */

enum { MEETINGS_MAX = 5 };

/* An access, or the taking of a lock, and in whose turn it was done. */
struct moment {
	struct trace_event event;
	uint32_t turn;
};

struct turns {
	struct moment *moments;
	uint32_t count, room;
	uint32_t turn, thread;
	/* Of each moment, when all are there. */
	struct links *links;
};

/* 0: there is none. */
struct links {
	uint32_t turn;           /* the next one of its thread */
	uint32_t before, behind; /* moments at the same place, each + 1 */
};

/* How often a kept schedule is played, unless that takes too long. */
enum { AGAIN_RUNS = 5 };
#define AGAIN_SECONDS 5.0

static bool is_access(const struct trace_event *e)
{
	return e->kind == TRACE_ACCESS && e->access != ATOMSAN_OBJECT;
}

static bool is_atomic(const struct trace_event *e)
{
	return e->kind == TRACE_OP && e->op >= TRACE_OP_ATOMIC_LOAD && e->op <= TRACE_OP_ATOMIC_FAILED;
}

static bool writes(const struct trace_event *e)
{
	return e->kind == TRACE_OP ? e->op == TRACE_OP_ATOMIC_STORE || e->op == TRACE_OP_ATOMIC_RMW
				   : e->access == ATOMSAN_WRITE || e->access == ATOMSAN_UPDATE;
}

static uint64_t place_number(const struct trace_event *e)
{
	return e->address >> 3;
}

static bool repeats(const struct moment *last, const struct trace_event *e, uint32_t turn)
{
	return last->turn == turn && last->event.site == e->site && !writes(e) && !writes(&last->event) &&
	       place_number(&last->event) == place_number(e);
}

static void turns_event(struct turns *t, const struct trace_event *e)
{
	if (e->thread != t->thread) {
		t->thread = e->thread;
		t->turn++;
	}
	if ((!is_access(e) && !is_atomic(e)) || !e->site)
		return;
	/* Who waits looks at the same place again and again; the last look is the one that says where it was.
	 */
	if (t->count && repeats(&t->moments[t->count - 1], e, t->turn)) {
		t->moments[t->count - 1].event = *e;
		return;
	}
	if (t->count == t->room) {
		t->room = t->room ? t->room * 2 : 256;
		t->moments = mem_resize(t->moments, t->room, sizeof *t->moments);
	}
	t->moments[t->count++] = (struct moment){*e, t->turn};
}

static void link_moments(struct turns *t)
{
	struct map places = {0}, threads = {0};

	t->links = mem_zalloc(t->count + 1, sizeof *t->links);
	for (uint32_t i = t->count; i--;) {
		const struct moment *m = &t->moments[i];
		struct links *links = &t->links[i];
		uint32_t later = map_get(&threads, m->event.thread);

		if (later)
			links->turn = t->moments[later - 1].turn > m->turn ? t->moments[later - 1].turn
									   : t->links[later - 1].turn;
		links->behind = map_get(&places, place_number(&m->event));
		if (links->behind)
			t->links[links->behind - 1].before = i + 1;
		map_set(&threads, m->event.thread, i + 1);
		map_set(&places, place_number(&m->event), i + 1);
	}
	map_release(&places);
	map_release(&threads);
}

/*
 * An access, then one of another thread to the same place before the first goes
 * on, one of the two a write, and the first thread's next access there: what the
 * switch between the turns came between. Marks the three, if that is so.
 */
static bool mark_between(const struct turns *t, uint32_t first, bool *chosen)
{
	const struct moment *e1 = &t->moments[first];
	uint32_t turn = t->links[first].turn, between = 0, after = 0;

	if (!turn)
		return false;
	for (uint32_t i = t->links[first].behind; i && t->moments[i - 1].turn <= turn;
	     i = t->links[i - 1].behind) {
		const struct moment *m = &t->moments[i - 1];

		if (m->turn == e1->turn)
			return false; /* not its last there */
		if (m->turn == turn) {
			after = i;
			break;
		}
		if (writes(&m->event) || writes(&e1->event))
			between = i;
	}
	if (!between || !after)
		return false;
	chosen[first] = chosen[between - 1] = chosen[after - 1] = true;
	return true;
}

/* An access and the one before it to the same place, if that was another thread's and one of them writes. */
static bool mark_conflict(const struct turns *t, uint32_t second, bool *chosen)
{
	const struct moment *here = &t->moments[second], *there;
	uint32_t before = t->links[second].before;

	if (!before)
		return false;
	there = &t->moments[before - 1];
	if (there->event.thread == here->event.thread || (!writes(&there->event) && !writes(&here->event)))
		return false;
	chosen[before - 1] = chosen[second] = true;
	return true;
}

/* How many accesses came between two of another thread. Where none did (several variables are involved, or
 * the two halves of an update), the last conflicts before the failure are all that can be said. */
static uint32_t mark_meetings(struct turns *t, bool *chosen)
{
	uint32_t found = 0, conflicts = 0;

	link_moments(t);
	for (uint32_t i = 0; i < t->count && found < MEETINGS_MAX; i++)
		found += mark_between(t, i, chosen);
	for (uint32_t i = t->count; i-- && !found && conflicts < MEETINGS_MAX;)
		conflicts += mark_conflict(t, i, chosen);
	free(t->links);
	t->links = NULL;
	return found;
}

static struct finding_place place_of(struct finding_list *list, const struct trace *trace, uint32_t number,
				     struct trace_site *site)
{
	struct finding_place place = {0};

	if (trace_site(trace, number, site, NULL) < 0) {
		memset(site, 0, sizeof *site);
		return place;
	}
	place.function = finding_text(list, site->function);
	place.file = finding_text(list, site->file);
	place.line = site->line;
	place.column = site->column;
	return place;
}

static void add_moment(struct finding_list *list, struct finding *finding, const struct trace *trace,
		       const struct moment *moment)
{
	const struct trace_event *e = &moment->event;
	struct finding_access *access = finding_add_access(list, finding);
	struct trace_site site;
	char *name = describe_address(trace, e->address);
	int64_t found;

	access->unit = FINDING_NO_UNIT;
	access->place = place_of(list, trace, e->site, &site);
	access->op = e->kind == TRACE_OP ? (e->op == TRACE_OP_ATOMIC_RMW ? 'U'
					    : writes(e)                  ? 'W'
									 : 'R')
					 : (e->access == ATOMSAN_UPDATE ? 'U'
					    : writes(e)                 ? 'W'
									: 'R');
	access->thread = finding_text(list, trace_thread_name(trace, e->thread));
	if (!name)
		name = describe_variable(&site);
	access->variable = finding_text(list, name ? name : "memory");
	finding_add_variable(list, finding, access->variable);
	if (access->op == 'R' && trace_event_found(e, &found))
		access->value = finding_textf(list, "%" PRId64, found);
	free(name);
}

/* ---- findings ---- */

static struct finding *add_own(struct finding_list *list, const struct trace *trace, struct turns *turns,
			       const struct explore_failure *failure)
{
	struct finding *finding = finding_add(list);
	bool *chosen = mem_zalloc(turns->count + 1, sizeof *chosen);

	finding->kind = FINDING_ATOMICITY;
	finding->pattern = "schedule";
	finding->verb = "explore";
	if (trace) {
		uint32_t meetings = mark_meetings(turns, chosen);

		for (uint32_t i = 0; i < turns->count; i++)
			if (chosen[i])
				add_moment(list, finding, trace, &turns->moments[i]);
		if (meetings == 1)
			finding->pattern = finding_textf(list, "%c%c%c", finding->accesses[0].op,
							 finding->accesses[1].op, finding->accesses[2].op);
	}
	free(chosen);
	finding->title = finding_textf(list, "%s in a run with %u context switches: %s",
				       run_verdict_text(failure->verdict), failure->schedule->step_count,
				       failure->text);
	finding_identify(finding);
	return finding;
}

/* The events of the failing run, to the checker and for turns. */
static int look_at_trace(struct finding_list *list, struct trace *trace, struct checking *checking,
			 struct turns *turns, struct err *err)
{
	struct serial_options options;
	struct trace_cursor *cursor;
	struct trace_event event;
	struct serial *serial;

	if (checking_prepare(checking, trace, &options, err) < 0)
		return -1;
	serial = serial_new(trace, &options, list);
	cursor = trace_cursor_open(trace);
	/* A run that crashed may end in the middle of anything. */
	while (trace_next(cursor, &event) > 0) {
		serial_event(serial, &event);
		turns_event(turns, &event);
	}
	serial_finish(serial);
	serial_free(serial);
	trace_cursor_close(cursor);
	checking_release(checking);
	return 0;
}

/* Seen once is seen; proof is what can be had again. */
static int keep_schedule(struct finding_list *list, struct finding *finding,
			 const struct explore_failure *failure, const struct finding_trial *trial,
			 const char *folder, struct err *err)
{
	const char *path = finding_textf(list, "%s/%s.schedule", folder, finding->id);
	bool again = failure->again || trial->failures;

	finding->state = again ? FINDING_REPRODUCED : FINDING_OBSERVED;
	finding->confidence = again ? 1 : 0.5;
	finding->seen = failure->seen;
	finding->schedule = path;
	return schedule_write(failure->schedule, path, err);
}

/* The id of what the failure's schedule was made for; NULL if it was not made for anything. */
static const char *predicted_id(const struct exploring *x, const struct explore_failure *failure)
{
	int64_t number = failure->given - x->first_predicted;

	if (failure->given < 0 || number < 0 || number >= x->predicted_count)
		return NULL;
	return x->predicted->findings[x->predicted_by_schedule[number]].id;
}

/* Of the findings from `first` on only the one with this id, if there is one. */
static void keep_predicted(struct finding_list *list, uint32_t first, const char *id)
{
	for (uint32_t i = first; id && i < list->finding_count; i++)
		if (!strcmp(list->findings[i].id, id)) {
			list->findings[first] = list->findings[i];
			list->finding_count = first + 1;
		}
}

/* How often does a schedule that is kept fail? */
static int try_again(struct run_setup *setup, struct finding_trial *trial, struct err *err)
{
	double seconds = 0;

	setup->trace = setup->values = false;
	while (trial->runs < AGAIN_RUNS && seconds < AGAIN_SECONDS) {
		struct run_result result;
		struct run *run = run_once(setup, &result, err);

		if (!run)
			return -1;
		trial->runs++;
		trial->failures += run_failed(result.verdict);
		seconds += result.seconds;
		run_free(run);
	}
	return 0;
}

static bool is_stopped(const struct exploring *x)
{
	return x->stop && *x->stop;
}

int exploring_add(struct finding_list *list, const struct exploring *x, const struct explore_failure *failure,
		  struct err *err)
{
	struct run_setup setup = target_setup(x->target);
	uint32_t before = list->finding_count;
	struct turns turns = {.thread = UINT32_MAX};
	struct finding_trial trial;
	struct run_result result;
	struct trace *trace = NULL;
	struct run *run;
	int failed = 0;

	setup.strategy = "follow";
	setup.schedule = failure->schedule;
	setup.every = failure->schedule->every;
	setup.quiet = true;
	setup.trace = setup.values = true;
	run = run_once(&setup, &result, err);
	if (!run && !is_stopped(x))
		return -1;
	trace = run ? trace_open(run_trace(run), NULL) : NULL;
	if (run && failure->verdict == RUN_DEADLOCK)
		failed = exploring_deadlock(list, trace, x->checking, result.report, err);
	else if (trace)
		failed = look_at_trace(list, trace, x->checking, &turns, err);
	keep_predicted(list, before, predicted_id(x, failure));
	for (uint32_t i = before; i < list->finding_count && failure->verdict != RUN_DEADLOCK; i++)
		list->findings[i].title =
			finding_textf(list, "%s: %s", list->findings[i].title, failure->text);
	if (!failed && list->finding_count == before)
		add_own(list, trace, &turns, failure);
	trial = (struct finding_trial){.strategy = "kept",
				       .verdict = "failed",
				       .seed = failure->seed,
				       .runs = run != NULL,
				       .failures = run && run_failed(result.verdict)};
	free(turns.moments);
	trace_close(trace);
	run_free(run);
	if (!failed && !is_stopped(x) && try_again(&setup, &trial, err) < 0)
		failed = is_stopped(x) ? 0 : -1;
	for (uint32_t i = before; !failed && i < list->finding_count; i++) {
		failed = keep_schedule(list, &list->findings[i], failure, &trial, x->folder, err);
		trial.schedule = list->findings[i].schedule;
		trial.finding = list->findings[i].id;
		if (trial.runs)
			finding_add_trial(list, &trial);
	}
	return failed;
}
