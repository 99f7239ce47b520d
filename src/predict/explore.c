/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/explore.h"
#include "predict/dead_end.h"
#include "predict/minimise.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Programs that run for long have long schedules; a shorter one is not worth any time. */
enum { MINIMISE_SECONDS = 30 };

/* A failure that depends on more than the schedule may take another try. */
enum { ALONE_RUNS = 2 };

/* So many runs teach something about those after them. */
enum { LESSONS = 24 };

/* So many predicted schedules, then a run of a strategy. */
enum { IN_A_ROW = 2 };

/* A run under way. */
struct job {
	struct run *run;
	uint32_t tally;
	uint64_t seed;
	uint64_t number; /* from 1, in the order in which runs begin */
	int64_t given;
	bool recorded;
	bool beside; /* another run was under way meanwhile */
};

/* A failure that must be seen without other runs beside it. */
struct held {
	struct job job; /* with its run */
	struct run_result result;
};

struct work {
	struct explore *e;
	struct job *jobs;
	struct run **runs; /* of the jobs, for run_wait */
	uint64_t started;
	uint64_t given, drawn; /* of these: given schedules, and runs of strategies */
	uint32_t in_a_row;     /* predicted schedules since the last run of a strategy */
	bool in_vain;          /* and the last of them could not be followed */
	struct held *held;
	uint32_t held_count;
	bool one_at_a_time;
	struct dead_ends ends;
	double began;
	bool done;
	struct err *err;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool told_to_stop(const struct explore_setup *setup)
{
	return setup->stop && *setup->stop;
}

static bool budget_spent(const struct work *w)
{
	const struct explore_setup *setup = w->e->setup;

	if (w->done || told_to_stop(setup))
		return true;
	if (setup->runs && w->started >= setup->runs)
		return true;
	if (setup->seconds > 0 && now() - w->began >= setup->seconds)
		return true;
	return !setup->strategy_count && w->given >= setup->must_try && !(setup->queue && setup->queue->left);
}

/* A predicted schedule of the first runs. */
static bool teaches(const struct work *w, const struct job *job)
{
	return job->given >= (int64_t)w->e->setup->must_try && job->number <= LESSONS;
}

/* What is to be learned from a run must be known before it is decided what comes next: else it would depend
 * on who is faster. A failure waits until it can be looked at alone. */
static bool must_wait(const struct work *w)
{
	if (w->held_count)
		return true;
	for (uint32_t i = 0; i < w->e->setup->jobs; i++)
		if (w->runs[i] && (w->jobs[i].recorded || w->one_at_a_time || teaches(w, &w->jobs[i])))
			return true;
	return false;
}

static struct explore_given *given(struct explore *e, int64_t number)
{
	if (number >= e->given_count) {
		e->given = mem_resize(e->given, (uint64_t)number + 1, sizeof *e->given);
		while (e->given_count <= number)
			e->given[e->given_count++] = (struct explore_given){false, false, false, false};
	}
	return &e->given[number];
}

/* 0: the strategy has none yet. */
static uint32_t tally_of(const struct explore *e, const char *strategy)
{
	for (uint32_t i = 1; i < e->tally_count; i++)
		if (!strcmp(e->tallies[i].name, strategy))
			return i;
	return 0;
}

/* Number of the schedule that is next, or -1 if a strategy is. */
static int64_t next_given(struct work *w)
{
	const struct explore_setup *setup = w->e->setup;
	uint32_t item;

	if (w->given < setup->must_try)
		return (int64_t)w->given++;
	/* Where one could not be followed, the next mostly cannot, either. */
	if (setup->strategy_count && (w->in_a_row == IN_A_ROW || w->in_vain))
		return -1;
	while (setup->queue && queue_take(setup->queue, &item)) {
		/* Without strategies there is nothing that could be done instead. */
		if (!setup->strategy_count || !dead_end_ahead(&w->ends, setup->schedules[item])) {
			w->in_a_row++;
			return (int64_t)item;
		}
		given(w->e, item)->spared = true;
		w->e->spared++;
	}
	return -1;
}

/*
 * Nobody knows how many orderings a bug needs. A few are found soonest with a
 * small depth, and what takes a thread that is held up again and again with a
 * large one. The seed decides, so that one seed still is one run.
 */
static uint32_t depth_of(const struct explore_setup *setup, uint64_t seed)
{
	static const uint32_t depths[] = {3, 10};

	return setup->run.depth ? setup->run.depth : depths[seed % 2];
}

static int start_job(struct work *w, uint32_t slot)
{
	const struct explore_setup *setup = w->e->setup;
	struct run_setup run = setup->run;
	struct job *job = &w->jobs[slot];
	uint64_t number = w->started++;

	*job = (struct job){.given = -1, .seed = setup->seed + number, .number = number + 1};
	job->given = next_given(w);
	if (job->given >= 0) {
		run.strategy = "follow";
		run.schedule = setup->schedules[job->given];
		run.every = run.schedule->every;
		run.hints = NULL;
		/* A prediction that did not come true has brought the program somewhere: chance goes on from
		 * there. What the user gave is followed as far as it can be. */
		run.lost = job->given >= setup->must_try ? "pos" : NULL;
	} else {
		run.strategy = setup->strategies[w->drawn++ % setup->strategy_count];
		run.depth = depth_of(setup, job->seed);
		job->tally = tally_of(w->e, run.strategy);
		w->in_a_row = 0;
		w->in_vain = false;
		run.trace = run.values = job->recorded = setup->recorded && w->drawn <= setup->record;
	}
	run.seed = job->seed;
	run.quiet = true;
	for (uint32_t i = 0; i < setup->jobs; i++)
		if (w->runs[i])
			w->jobs[i].beside = job->beside = true;
	job->run = w->runs[slot] = run_start(&run, w->err);
	return job->run ? 0 : -1;
}

/* ---- failures ---- */

static struct explore_failure *known(struct explore *e, const struct run_result *result)
{
	for (uint32_t i = 0; i < e->found_count; i++)
		if (e->found[i].verdict == result->verdict && !strcmp(e->found[i].text, result->text))
			return &e->found[i];
	return NULL;
}

static void note_seed(struct explore_failure *failure, const struct job *job)
{
	failure->seeds = mem_resize(failure->seeds, failure->seen + 1, sizeof *failure->seeds);
	failure->seeds[failure->seen++] = job->given < 0 ? job->seed : 0;
}

/* What makes a failure the same one while its schedule is made shorter. */
struct same {
	struct work *w;
	enum run_verdict verdict;
	const char *text;
	bool followed; /* the last run did all steps */
	double until;  /* by then it must be short enough */
};

static bool fails_so(void *context, const struct schedule *candidate, struct schedule *actual)
{
	struct same *same = context;
	struct explore *e = same->w->e;
	struct run_setup setup = e->setup->run;
	struct run_result result;
	struct err ignored;
	struct run *run;
	bool fails;

	if (told_to_stop(e->setup) || now() > same->until)
		return false;
	setup.strategy = "follow";
	setup.schedule = candidate;
	setup.every = candidate->every;
	setup.hints = NULL;
	setup.quiet = true;
	e->extra++;
	run = run_once(&setup, &result, &ignored);
	if (!run)
		return false;
	/* Texts may name what differs between two runs of the same failure, who waits for whom above all. */
	fails = result.verdict == same->verdict &&
		(result.verdict == RUN_DEADLOCK || !strcmp(result.text, same->text));
	same->followed = result.followed;
	if (fails && actual)
		run_steps(result.report, actual);
	run_free(run);
	return fails;
}

/* The schedule of a run, as it was. */
static struct schedule *schedule_of(struct work *w, const struct job *job, const struct run_result *result)
{
	const struct explore_setup *setup = w->e->setup;
	struct schedule *s = schedule_copy(setup->header);

	schedule_clear(s);
	s->every = job->given < 0 ? setup->run.every : setup->schedules[job->given]->every;
	s->end = SCHEDULE_SERIAL;
	s->seed = job->given < 0 ? job->seed : 0;
	run_steps(result->report, s);
	return s;
}

static void make_schedule(struct work *w, const struct job *job, struct explore_failure *failure,
			  const struct run_result *result)
{
	const struct explore_setup *setup = w->e->setup;
	struct schedule *s = schedule_of(w, job, result);
	struct same same = {w, failure->verdict, failure->text, false, now() + MINIMISE_SECONDS};

	free(s->strategy);
	s->strategy = mem_text(failure->strategy);
	free(s->verdict);
	s->verdict = mem_textf("%s: %s", run_verdict_text(failure->verdict), failure->text);
	failure->steps_before = s->step_count;
	failure->schedule = s;
	if (setup->minimise_runs) {
		failure->schedule =
			minimise(s, fails_so, &same, setup->minimise_runs, &failure->minimise_runs);
		schedule_free(s);
	}
	same.until = now() + 3600;
	failure->again = fails_so(&same, failure->schedule, NULL) && same.followed;
	failure->only_seen = !failure->again && told_to_stop(setup);
}

static void failed(struct work *w, const struct job *job, const struct run_result *result)
{
	struct explore *e = w->e;
	struct explore_failure *failure = known(e, result);

	e->failures++;
	if (!e->first_failure || job->number < e->first_failure)
		e->first_failure = job->number;
	e->tallies[job->tally].failures++;
	if (job->given >= 0)
		given(e, job->given)->failed = true;
	if (failure) {
		note_seed(failure, job);
		return;
	}
	e->found = mem_resize(e->found, e->found_count + 1, sizeof *e->found);
	failure = &e->found[e->found_count++];
	*failure = (struct explore_failure){.verdict = result->verdict,
					    .text = mem_text(result->text),
					    .strategy = e->tallies[job->tally].name,
					    .seed = job->seed,
					    .given = job->given};
	note_seed(failure, job);
	make_schedule(w, job, failure, result);
	if (e->setup->stop_at_first)
		w->done = true;
}

/* ---- alone ---- */

/*
 * Runs of one program may disturb each other: they write the same file, or want
 * the same port. So the first failure of its kind is believed only if it was
 * alone, or fails again when it is. If not, no two runs are made at a time from
 * there on. Whether it does nobody knows if the user wants it to end: then it is
 * told as what it is, seen once.
 */
static void settle(struct work *w, struct held *held)
{
	struct same same = {w, held->result.verdict, held->result.text, false, now() + 3600};
	struct schedule *s = schedule_of(w, &held->job, &held->result);
	bool fails = known(w->e, &held->result) != NULL;

	for (int i = 0; i < ALONE_RUNS && !fails; i++)
		fails = fails_so(&same, s, NULL);
	schedule_free(s);
	if (fails || told_to_stop(w->e->setup)) {
		failed(w, &held->job, &held->result);
	} else {
		w->e->disturbed++;
		w->one_at_a_time = true;
	}
	run_free(held->job.run);
}

static void settle_all(struct work *w)
{
	for (uint32_t i = 0; i < w->held_count; i++)
		settle(w, &w->held[i]);
	w->held_count = 0;
}

static void hold(struct work *w, const struct job *job, const struct run_result *result)
{
	w->held = mem_resize(w->held, w->held_count + 1, sizeof *w->held);
	w->held[w->held_count++] = (struct held){*job, *result};
}

static int end_job(struct work *w, uint32_t slot)
{
	struct explore *e = w->e;
	struct job job = w->jobs[slot];
	struct run_result result;
	int failed_to = 0;

	w->runs[slot] = w->jobs[slot].run = NULL;
	if (run_judge(job.run, &result, w->err) < 0) {
		run_free(job.run);
		return -1;
	}
	e->runs++;
	e->tallies[job.tally].runs++;
	e->events += result.report->events;
	e->switches += result.report->switches;
	if (job.given >= 0) {
		given(e, job.given)->tried = true;
		given(e, job.given)->followed = result.followed;
	}
	if (!result.followed) {
		if (teaches(w, &job)) {
			w->in_vain = true;
			dead_end_note(&w->ends, e->setup->schedules[job.given], result.report);
		}
		e->not_followed++;
		e->tallies[job.tally].not_followed++;
	}
	if (run_failed(result.verdict) && job.beside && !known(e, &result)) {
		hold(w, &job, &result);
		return 0;
	}
	if (run_failed(result.verdict))
		failed(w, &job, &result);
	else
		e->passed++;
	if (job.recorded && result.verdict == RUN_PASSED)
		failed_to = e->setup->recorded(e->setup->context, run_trace(job.run), w->err);
	run_free(job.run);
	e->seconds = now() - w->began;
	if (e->setup->progress)
		e->setup->progress(e, e->setup->context);
	return failed_to;
}

static int work(struct work *w)
{
	const struct explore_setup *setup = w->e->setup;
	uint32_t under_way = 0;

	for (;;) {
		int ended;

		for (uint32_t i = 0; i < setup->jobs && !budget_spent(w) && !must_wait(w); i++)
			if (!w->runs[i]) {
				if (start_job(w, i) < 0)
					return -1;
				under_way++;
			}
		if (w->held_count && !under_way) {
			settle_all(w);
			continue;
		}
		if (!under_way || w->done || told_to_stop(setup))
			return 0;
		ended = run_wait(w->runs, setup->jobs, -1);
		if (ended < 0)
			continue;
		under_way--;
		if (end_job(w, (uint32_t)ended) < 0)
			return -1;
	}
}

struct explore *explore(const struct explore_setup *setup, struct err *err)
{
	struct explore *e = mem_zalloc(1, sizeof *e);
	struct work w = {.e = e, .began = now(), .err = err};
	int result;

	e->setup = setup;
	e->tallies = mem_zalloc(setup->strategy_count + 1ull, sizeof *e->tallies);
	e->tallies[e->tally_count++].name = "schedules";
	for (uint32_t i = 0; i < setup->strategy_count; i++)
		if (!tally_of(e, setup->strategies[i]))
			e->tallies[e->tally_count++].name = setup->strategies[i];
	w.jobs = mem_zalloc(setup->jobs, sizeof *w.jobs);
	w.runs = mem_zalloc(setup->jobs, sizeof *w.runs);
	result = work(&w);
	for (uint32_t i = 0; i < setup->jobs; i++)
		run_free(w.runs[i]);
	if (!result)
		settle_all(&w);
	for (uint32_t i = 0; i < w.held_count; i++)
		run_free(w.held[i].job.run);
	free(w.held);
	dead_ends_release(&w.ends);
	free(w.jobs);
	free(w.runs);
	e->seconds = now() - w.began;
	if (!result)
		return e;
	explore_free(e);
	return NULL;
}

void explore_free(struct explore *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; i < e->found_count; i++) {
		free(e->found[i].text);
		free(e->found[i].seeds);
		schedule_free(e->found[i].schedule);
	}
	free(e->found);
	free(e->tallies);
	free(e->given);
	free(e);
}
