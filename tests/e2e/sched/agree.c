/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * agree ATOMSAN MODE PROGRAM [ARGUMENT]...: do the scheduler, which counts a
 * thread's events while the program runs, and the tools, which count them in
 * traces, mean the same?
 *
 *   count   a run under a strategy is recorded: each thread has as many events
 *           in the trace as the scheduler counted
 *   again   the order of that trace becomes a schedule; the program can be run
 *           through it, and does the same events in the same order
 *   record  as `again`, but the run is recorded without the scheduler
 */
#include "predict/count.h"
#include "predict/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int wrong;

#define WRONG(...)                             \
	do {                                   \
		printf("wrong: " __VA_ARGS__); \
		printf("\n");                  \
		wrong = 1;                     \
	} while (0)

static struct run_setup setup_of(char **argv, const char *strategy, uint64_t seed, bool every)
{
	return (struct run_setup){.argv = argv,
				  .strategy = strategy,
				  .seed = seed,
				  .every = every,
				  .timeout_ms = 20000,
				  .quiet = true,
				  .trace = true};
}

static struct run *run(const struct run_setup *setup, struct run_result *result)
{
	struct err err;
	struct run *r = run_once(setup, result, &err);

	if (!r) {
		printf("wrong: %s\n", err.text);
		exit(1);
	}
	return r;
}

static struct trace *open_trace(const char *path)
{
	struct err err;
	struct trace *trace = trace_open(path, &err);

	if (!trace) {
		printf("wrong: %s\n", err.text);
		exit(1);
	}
	return trace;
}

/* Every event that counts, thread by thread; and the order that the trace has them in as a schedule. */
static uint64_t fingerprint(struct trace *trace, bool every, struct schedule *schedule)
{
	struct trace_cursor *cursor = trace_cursor_open(trace);
	struct count *count = count_new_as(trace, every);
	struct trace_event e;
	uint64_t hash = 0, each[64] = {0};
	uint32_t last = UINT32_MAX;

	while (trace_next(cursor, &e) > 0) {
		uint64_t before = count_done(count, e.thread), after = count_event(count, &e);
		uint64_t *to = &each[e.thread % 64];

		if (after == before)
			continue;
		if (schedule && last != UINT32_MAX && last != e.thread)
			schedule_add(schedule, trace_thread_name(trace, last), count_done(count, last), NULL);
		last = e.thread;
		/* The steps of a loop are events of their own to the scheduler, and one in a free run. */
		for (uint64_t n = e.kind == TRACE_ACCESS && e.step ? after - before : 1; n; n--) {
			for (const char *p = trace_thread_name(trace, e.thread); *p; p++)
				*to = (*to ^ (unsigned char)*p) * 0x100000001b3ull;
			*to = (*to ^ e.site) * 0x100000001b3ull;
			*to = (*to ^ e.op) * 0x100000001b3ull;
		}
	}
	if (schedule && last != UINT32_MAX)
		schedule_add(schedule, trace_thread_name(trace, last), count_done(count, last), NULL);
	for (int i = 0; i < 64; i++)
		hash += each[i];
	count_free(count);
	trace_cursor_close(cursor);
	return hash;
}

static void compare_counts(struct trace *trace, const struct sched_report *report, bool every,
			   const char *what)
{
	struct trace_cursor *cursor = trace_cursor_open(trace);
	struct count *count = count_new_as(trace, every);
	struct trace_event e;
	uint64_t sum = 0;

	while (trace_next(cursor, &e) > 0)
		count_event(count, &e);
	for (uint32_t i = 0; i < trace->thread_count; i++) {
		const char *name = trace_thread_name(trace, i);
		uint64_t events = 0;

		for (uint32_t k = 0; k < report->threads; k++)
			if (!strcmp(report->thread[k].name, name))
				events = report->thread[k].events;
		if (events != count_done(count, i))
			WRONG("%s: %s did %" PRIu64 " events, and its trace has %" PRIu64, what, name, events,
			      count_done(count, i));
		sum += events;
	}
	if (!sum)
		WRONG("%s: there were no events", what);
	count_free(count);
	trace_cursor_close(cursor);
}

static bool same_turns(const struct sched_report *a, const struct sched_report *b)
{
	if (a->switches != b->switches)
		return false;
	for (uint64_t i = 0; i < a->switches; i++)
		if (a->log[i].thread != b->log[i].thread || a->log[i].events != b->log[i].events)
			return false;
	return true;
}

/* Through a schedule: was it followed, and did the same happen, with the same turns if they are given? */
static void follow(char **argv, const struct schedule *schedule, uint64_t hash,
		   const struct sched_report *turns, const char *what)
{
	struct run_setup setup = setup_of(argv, "follow", 1, schedule->every);
	struct run_result result;
	struct trace *trace;
	struct run *r;

	setup.schedule = schedule;
	r = run(&setup, &result);
	trace = open_trace(run_trace(r));
	if (!result.followed)
		WRONG("%s: not followed: %s", what, result.lost);
	else if (fingerprint(trace, schedule->every, NULL) != hash)
		WRONG("%s: followed, but other events were done", what);
	else if (turns && !same_turns(result.report, turns))
		WRONG("%s: followed, but in other turns", what);
	trace_close(trace);
	run_free(r);
}

static void scheduled(char **argv, bool again)
{
	static const char *const strategies[] = {"serial", "random", "pct", "pos", "surw"};

	for (unsigned i = 0; i < 5; i++)
		for (uint64_t seed = 1; seed <= 4; seed++)
			for (int every = 0; every < 2; every++) {
				struct run_setup setup = setup_of(argv, strategies[i], seed, every);
				struct run_result result;
				struct run *r = run(&setup, &result);
				struct trace *trace = open_trace(run_trace(r));
				char what[100];

				snprintf(what, sizeof what, "%s, seed %" PRIu64 ", %s", strategies[i], seed,
					 every ? "every" : "first");
				compare_counts(trace, result.report, every, what);
				if (again) {
					struct schedule *s = schedule_of_trace(trace);
					uint64_t hash = fingerprint(trace, every, s);

					/* The trace's order is that of conflicts; what happened is in the
					 * report. */
					s->every = every;
					follow(argv, s, hash, NULL, what);
					schedule_clear(s);
					run_steps(result.report, s);
					follow(argv, s, hash, result.report, what);
					schedule_free(s);
				}
				trace_close(trace);
				run_free(r);
			}
}

/* False: the program died, and its threads were cut off wherever they were. */
static bool record(const char *atomsan, char **argv, const char *path, bool every)
{
	int status;
	pid_t child = fork();

	if (!child) {
		char *words[16] = {(char *)"atomsan", (char *)"record", (char *)"-o", (char *)path};
		int n = 4;

		if (every)
			words[n++] = (char *)"--all";
		words[n++] = (char *)"--";
		for (int i = 0; argv[i] && n < 15; i++)
			words[n++] = argv[i];
		words[n] = NULL;
		execv(atomsan, words);
		_exit(127);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) < 127;
}

static void recorded(const char *atomsan, char **argv)
{
	for (int every = 0; every < 2; every++) {
		/* In the current folder, which is the caller's to remove: forked children write beside it. */
		const char *path = "recorded.atr";
		struct schedule *s;
		struct trace *trace;
		uint64_t hash;
		int tries = 0;

		/* Some of the programs fail now and then, by themselves. */
		while (!record(atomsan, argv, path, every))
			if (++tries == 50) {
				WRONG("it dies whenever it is recorded");
				return;
			}
		trace = open_trace(path);
		s = schedule_of_trace(trace);
		if (s->every != every)
			WRONG("the trace does not say what it leaves out");
		hash = fingerprint(trace, every, s);
		follow(argv, s, hash, NULL, every ? "record --all" : "record");
		schedule_free(s);
		trace_close(trace);
		unlink(path);
	}
}

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	run_adopt();
	if (!strcmp(argv[2], "record"))
		for (int i = 0; i < 3; i++)
			recorded(argv[1], argv + 3);
	else
		scheduled(argv + 3, !strcmp(argv[2], "again"));
	return wrong;
}
