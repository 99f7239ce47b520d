/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `atomsan explore`: run a program under many schedules, in search of one that breaks it. */
#include "predict/explore.h"
#include "analysis/foretell.h"
#include "base/text.h"
#include "cli/exploring.h"
#include "cli/publish.h"
#include "predict/hints.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PREDICTED_MAX = 1000 };

struct exploration {
	struct target target;
	struct publish publish;
	struct checking checking;
	const char *budget, *jobs, *strategies, *seed, *depth, *folder, *given, *events;
	int stop_at_first, keep_long, no_predict;
	struct explore_setup setup;
	struct schedule *header;
	struct hints hints;
	char *names[16]; /* of strategies */
	struct finding_list *predicted;
	struct foretell_stats foretold;
	uint32_t *predicted_by_schedule; /* its finding */
	uint32_t predicted_count;
	bool terminal;
};

static volatile int stop;
static volatile sig_atomic_t stop_signal;

static void interrupted(int number)
{
	stop = 1;
	stop_signal = number;
}

/* ---- options ---- */

static int read_number(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value,
		       struct err *err)
{
	char *end;

	if (!text)
		return 0;
	errno = 0;
	*value = strtoull(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || *value < least || *value > most)
		return err_set(err, "--%s=%s is no number from %" PRIu64 " to %" PRIu64, name, text, least,
			       most);
	return 0;
}

static int read_budget(struct explore_setup *setup, const char *text, struct err *err)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || !(value > 0) || value > 1e9 || (*end && strcmp(end, "s")))
		return err_set(err, "--budget=%s is neither a number of runs (200) nor of seconds (60s)",
			       text);
	if (*end)
		setup->seconds = value;
	else
		setup->runs = (uint64_t)value;
	if (!*end && value < 1)
		return err_set(err, "--budget=%s is less than one run", text);
	return 0;
}

static int read_strategies(struct exploration *x, const char *text, struct err *err)
{
	static const char *const known[] = {"random", "pct", "pos", "surw", "serial", NULL};

	while (*text) {
		size_t length = strcspn(text, ",");
		char *name = mem_textf("%.*s", (int)length, text);
		int found = 0;

		for (const char *const *k = known; *k; k++)
			found |= !strcmp(*k, name);
		if (!found || x->setup.strategy_count == sizeof x->names / sizeof *x->names) {
			const char *near = cli_nearest(name, known);

			err_set(err, "there is no strategy '%s'%s%s%s", name, near ? "; did you mean '" : "",
				near ? near : "", near ? "'?" : ": random, pct, pos, surw and serial are");
			free(name);
			return -1;
		}
		x->names[x->setup.strategy_count++] = name;
		text += length + (text[length] == ',');
	}
	x->setup.strategies = x->names;
	return 0;
}

static int read_options(struct exploration *x, struct err *err)
{
	struct explore_setup *setup = &x->setup;
	uint64_t jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN), depth = 0;
	struct timespec t;

	if (jobs < 1)
		jobs = 1;
	clock_gettime(CLOCK_REALTIME, &t);
	setup->seed = ((uint64_t)t.tv_sec * 1000000007ull ^ (uint64_t)t.tv_nsec) % 1000000000;
	if (read_budget(setup, x->budget ? x->budget : "200", err) < 0 ||
	    read_number("jobs", x->jobs, 1, 1024, &jobs, err) < 0 ||
	    read_number("seed", x->seed, 0, UINT64_MAX / 2, &setup->seed, err) < 0 ||
	    read_number("depth", x->depth, 1, 64, &depth, err) < 0 ||
	    read_strategies(x, x->strategies ? x->strategies : "random,pct,pos,surw", err) < 0)
		return -1;
	if (x->events && strcmp(x->events, "every") && strcmp(x->events, "first"))
		return err_set(err, "--events=%s is neither every nor first", x->events);
	setup->jobs = (uint32_t)jobs;
	setup->stop_at_first = x->stop_at_first;
	setup->minimise_runs = x->keep_long ? 0 : 400;
	setup->run = target_setup(&x->target);
	setup->run.depth = (uint32_t)depth;
	setup->run.every = !x->events || *x->events == 'e';
	setup->stop = &stop;
	/* 0 is the runtime's word for a seed of its own choice. */
	if (!setup->seed)
		setup->seed = 1;
	return 0;
}

/* ---- schedules that are given ---- */

static void try_first(struct exploration *x, struct schedule *s)
{
	struct explore_setup *setup = &x->setup;

	setup->schedules = mem_resize(setup->schedules, setup->schedule_count + 1, sizeof *setup->schedules);
	setup->schedules[setup->schedule_count++] = s;
}

static int add_given(struct exploration *x, const char *path, struct err *err)
{
	struct schedule *s = schedule_read(path, err);

	if (!s)
		return -1;
	if (s->build_id && x->target.build_id && strcmp(s->build_id, x->target.build_id)) {
		schedule_free(s);
		return err_set(err, "%s: was made for another build of the program", path);
	}
	try_first(x, s);
	return 0;
}

static int is_schedule(const struct dirent *entry)
{
	static const char ending[] = ".schedule";
	size_t length = strlen(entry->d_name);

	return length >= sizeof ending && !strcmp(entry->d_name + length - (sizeof ending - 1), ending);
}

/* A file, or all that a folder has, in the order of their names. */
static int read_given(struct exploration *x, struct err *err)
{
	struct dirent **entries;
	struct stat file;
	int count, failed = 0;

	if (!x->given)
		return 0;
	if (stat(x->given, &file) < 0)
		return err_set(err, "%s: cannot be read: %s", x->given, strerror(errno));
	if (!S_ISDIR(file.st_mode))
		return add_given(x, x->given, err);
	count = scandir(x->given, &entries, is_schedule, versionsort);
	if (count < 0)
		return err_set(err, "%s: cannot be read: %s", x->given, strerror(errno));
	for (int i = 0; i < count; i++) {
		char *path = mem_textf("%s/%s", x->given, entries[i]->d_name);

		if (!failed)
			failed = add_given(x, path, err);
		free(path);
		free(entries[i]);
	}
	free(entries);
	return failed;
}

/* ---- the first run ---- */

/* All that stand before it were given by the user. */
static void add_predicted(void *user, const struct schedule *schedule, uint32_t finding)
{
	struct exploration *x = user;

	try_first(x, schedule_copy(schedule));
	x->predicted_by_schedule = mem_resize(x->predicted_by_schedule, x->predicted_count + 1,
					      sizeof *x->predicted_by_schedule);
	x->predicted_by_schedule[x->predicted_count++] = finding;
}

/* What the first run makes possible is tried before anything else. */
static int predict(struct exploration *x, struct trace *trace, struct err *err)
{
	struct foretell_options options = {.schedules = PREDICTED_MAX, .made = add_predicted, .user = x};
	struct serial_options serial;
	int failed;

	x->setup.must_try = x->setup.schedule_count;
	if (x->no_predict)
		return 0;
	if (checking_prepare(&x->checking, trace, &serial, err) < 0)
		return -1;
	options.model = serial.model;
	x->predicted = finding_list_new("predict");
	failed = foretell(trace, &options, x->predicted, &x->foretold, err);
	checking_release(&x->checking);
	return failed;
}

/* One thread after the other, and recorded: what the strategies need to know. */
static int look_first(struct exploration *x, struct err *err)
{
	struct run_setup setup = x->setup.run;
	struct run_result result;
	struct run *run;
	struct trace *trace;
	int failed = 0;

	setup.strategy = "serial";
	setup.every = true;
	setup.seed = x->setup.seed;
	setup.quiet = true;
	setup.trace = true;
	run = run_once(&setup, &result, err);
	if (!run)
		return -1;
	trace = trace_open(run_trace(run), err);
	failed = !trace || hints_make(&x->hints, trace, err) < 0 ? -1 : 0;
	if (!failed && predict(x, trace, err) < 0)
		failed = -1;
	/* A trace that was given up when it got too long knows of a part only. */
	if (!failed && trace->header.state != TRACE_STOPPED)
		x->setup.run.hints = x->hints.text;
	trace_close(trace);
	run_free(run);
	return failed;
}

/* ---- what is shown ---- */

static void progress(const struct explore *e, void *context)
{
	const struct exploration *x = context;
	double done = x->setup.seconds > 0 ? e->seconds / x->setup.seconds
					   : (double)e->runs / (double)(x->setup.runs ? x->setup.runs : 1);
	int filled = (int)(done * 20);
	char bar[21];

	if (!x->terminal)
		return;
	for (int i = 0; i < 20; i++)
		bar[i] = i < filled ? '#' : '.';
	bar[20] = 0;
	fprintf(stderr, "\r[%s] %" PRIu64 " schedules, %" PRIu64 " followed, %" PRIu64 " failed\033[K", bar,
		e->runs, e->runs - e->not_followed, e->failures);
}

static void print_predicted(const struct exploration *x, const struct explore *e)
{
	uint32_t tried = 0, followed = 0, failed = 0;

	for (uint32_t i = 0; i < x->predicted_count; i++) {
		uint32_t n = x->setup.must_try + i;

		tried += e->given_tried[n];
		followed += e->given_followed[n];
		failed += e->given_failed[n];
	}
	printf("predicted: %" PRIu64 " violations, %" PRIu64
	       " of them seen in the first run; %u schedules, %u tried, "
	       "%u feasible, %u failed\n",
	       x->foretold.predicted, x->foretold.seen, x->predicted_count, tried, followed, failed);
}

static void print_summary(const struct explore *e)
{
	printf("%" PRIu64 " runs in %.1f seconds, %" PRIu64 " failed (%u in different ways)", e->runs,
	       e->seconds, e->failures, e->found_count);
	if (e->extra)
		printf(", and %" PRIu64 " to make schedules shorter", e->extra);
	printf("\n");
	for (uint32_t i = 0; i < e->found_count; i++) {
		const struct explore_failure *f = &e->found[i];

		printf("  %s: ", run_verdict_text(f->verdict));
		text_put(stdout, f->text);
		printf("; %" PRIu64 " times, first by %s", f->seen, f->strategy);
		if (f->given < 0)
			printf(" with seed %" PRIu64, f->seed);
		printf("; %u context switches, made out of %u%s\n", f->schedule->step_count, f->steps_before,
		       f->again ? "" : "; does not always fail again");
	}
	printf("\n");
}

static void count(struct finding_list *list, const struct exploration *x, const struct explore *e)
{
	finding_add_count(list, "runs", (double)e->runs);
	finding_add_count(list, "failures", (double)e->failures);
	finding_add_count(list, "not-followed", (double)e->not_followed);
	finding_add_count(list, "minimising-runs", (double)e->extra);
	finding_add_count(list, "predicted", (double)x->foretold.predicted);
	finding_add_count(list, "predicted-seen", (double)x->foretold.seen);
	finding_add_count(list, "predicted-schedules", (double)x->predicted_count);
	finding_add_count(list, "events", (double)e->events);
	finding_add_count(list, "switches", (double)e->switches);
	for (uint32_t i = 0; i < e->tally_count; i++) {
		const struct explore_tally *t = &e->tallies[i];

		if (!t->runs)
			continue;
		finding_add_count(list, finding_textf(list, "runs-%s", t->name), (double)t->runs);
		finding_add_count(list, finding_textf(list, "failures-%s", t->name), (double)t->failures);
		finding_add_count(list, finding_textf(list, "p-failure-%s", t->name),
				  (double)t->failures / (double)t->runs);
	}
}

/* How each strategy fared, and the schedules that are kept; the report shows them. */
static void tell_trials(struct finding_list *list, const struct explore *e, uint64_t seed)
{
	for (uint32_t i = 0; i < e->tally_count; i++) {
		const struct explore_tally *t = &e->tallies[i];

		if (t->runs)
			finding_add_trial(
				list, &(struct finding_trial){.strategy = t->name,
							      .verdict = t->failures ? "failed" : "passed",
							      .seed = seed,
							      .runs = t->runs,
							      .failures = t->failures});
	}
	for (uint32_t i = 0; i < list->finding_count; i++) {
		const struct finding *finding = &list->findings[i];

		if (finding->schedule)
			finding_add_trial(list, &(struct finding_trial){.schedule = finding->schedule,
									.strategy = "kept",
									.verdict = "failed",
									.finding = finding->id,
									.seed = seed});
	}
}

static int make_folder(const char *path, struct err *err)
{
	char *copy = mem_text(path);
	int failed = 0;

	for (char *p = copy + 1; !failed; p++) {
		char c = *p;

		if (c && c != '/')
			continue;
		*p = 0;
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			failed = err_set(err, "%s: cannot be made: %s", copy, strerror(errno));
		*p = c;
		if (!c)
			break;
	}
	free(copy);
	return failed;
}

static int report(struct exploration *x, const struct explore *e, struct err *err)
{
	struct finding_list *list = finding_list_new("explore");
	char *real = realpath(x->folder, NULL);
	const struct exploring exploring = {.target = &x->target,
					    .checking = &x->checking,
					    .folder = real ? real : x->folder,
					    .first_predicted = x->setup.must_try,
					    .predicted = x->predicted,
					    .predicted_by_schedule = x->predicted_by_schedule,
					    .predicted_count = x->predicted_count};
	int failed = 0;

	list->program = finding_text(list, x->target.argv[0]);
	while (x->target.argv[list->argument_count])
		list->argument_count++;
	list->arguments = finding_memory(list, list->argument_count + 1, sizeof *list->arguments);
	for (uint32_t i = 0; i < list->argument_count; i++)
		list->arguments[i] = finding_text(list, x->target.argv[i]);
	list->build_id = finding_text(list, x->target.build_id);
	list->seed = x->setup.seed;
	for (uint32_t i = 0; i < e->found_count && !failed; i++)
		failed = exploring_add(list, &exploring, &e->found[i], err);
	free(real);
	if (failed) {
		finding_list_free(list);
		return cli_fail(&verb_explore, err);
	}
	list->count_count = 0;
	count(list, x, e);
	tell_trials(list, e, x->setup.seed);
	if (!x->publish.json && x->predicted)
		print_predicted(x, e);
	if (!x->publish.json)
		print_summary(e);
	return findings_publish(&verb_explore, list, &x->publish);
}

static int explore_all(struct exploration *x)
{
	struct sigaction action = {.sa_handler = interrupted};
	struct explore *e;
	struct err err;
	char *folder = NULL;
	const char *slash = strrchr(x->target.argv[0], '/');
	int status;

	if (read_options(x, &err) < 0)
		return cli_fail(&verb_explore, &err);
	if (!x->folder)
		x->folder = folder =
			mem_textf("%.*s.atomsan/schedules", slash ? (int)(slash - x->target.argv[0] + 1) : 0,
				  x->target.argv[0]);
	x->terminal = isatty(STDERR_FILENO) && !x->publish.json;
	run_adopt();
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	if (!x->publish.json)
		printf("seed %" PRIu64 "\n", x->setup.seed);
	x->header = schedule_new();
	for (status = 1; x->target.argv[status]; status++)
		;
	schedule_set_program(x->header, x->target.argv[0], x->target.argv + 1, (uint32_t)status - 1);
	schedule_set_environment(x->header, environ);
	x->header->build_id = x->target.build_id ? mem_text(x->target.build_id) : NULL;
	x->setup.header = x->header;
	x->setup.progress = progress;
	x->setup.context = x;
	e = read_given(x, &err) < 0 || look_first(x, &err) < 0 ? NULL : explore(&x->setup, &err);
	if (x->terminal)
		fputs("\r\033[K", stderr);
	if (!e)
		status = stop_signal ? CLI_FAILED : cli_fail(&verb_explore, &err);
	else if (e->found_count && make_folder(x->folder, &err) < 0)
		status = cli_fail(&verb_explore, &err);
	else
		status = report(x, e, &err);
	explore_free(e);
	free(folder);
	if (stop_signal) {
		fflush(stdout);
		signal(stop_signal, SIG_DFL);
		raise(stop_signal);
	}
	return status;
}

static int run(int argc, char **argv)
{
	struct exploration x = {0};
	const struct cli_option options[] = {{"--budget", &x.budget, NULL},
					     {"--jobs", &x.jobs, NULL},
					     {"--strategy", &x.strategies, NULL},
					     {"--seed", &x.seed, NULL},
					     {"--depth", &x.depth, NULL},
					     {"--events", &x.events, NULL},
					     {"--schedules", &x.given, NULL},
					     {"-o", &x.folder, NULL},
					     {"--output", &x.folder, NULL},
					     {"--stop-at-first", NULL, &x.stop_at_first},
					     {"--no-minimise", NULL, &x.keep_long},
					     {"--no-predict", NULL, &x.no_predict},
					     TARGET_OPTIONS(x.target),
					     CHECKING_OPTIONS(x.checking),
					     PUBLISH_OPTIONS(x.publish),
					     {NULL, NULL, NULL}};
	int first = cli_options(&verb_explore, argc, argv, options), status;
	struct err err;

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (first >= argc)
		return cli_failf(&verb_explore, "which program? usage: atomsan explore %s",
				 verb_explore.synopsis);
	if (target_init(&x.target, argv + first, &err) < 0)
		status = cli_fail(&verb_explore, &err);
	else
		status = explore_all(&x);
	target_release(&x.target);
	hints_release(&x.hints);
	schedule_free(x.header);
	finding_list_free(x.predicted);
	free(x.predicted_by_schedule);
	for (uint32_t i = 0; i < x.setup.schedule_count; i++)
		schedule_free(x.setup.schedules[i]);
	free(x.setup.schedules);
	for (uint32_t i = 0; i < x.setup.strategy_count; i++)
		free(x.names[i]);
	return status;
}

const struct verb verb_explore = {
	.name = "explore",
	.synopsis = "[OPTION]... -- PROGRAM [ARGUMENT]...",
	.summary = "Run a program under many schedules until one breaks it",
	.help = "  --budget=N|Ns          how many runs, or for how many seconds; 200\n"
		"  --jobs=N               runs at a time; one for each processor\n"
		"  --strategy=LIST        random, pct, pos, surw, serial, with commas; the first four\n"
		"  --seed=N               of the first run; every other one adds its number\n"
		"  --depth=N              pct: how many orderings the bug needs; 3\n"
		"  --events=every|first   switch before every access, or the first to each place\n"
		"  --no-predict           do not try what the first run makes possible\n"
		"  --schedules=PATH       try these, too: a file, or a folder of *.schedule\n"
		"  --stop-at-first        stop at the first failure\n"
		"  --no-minimise          do not look for the fewest context switches that fail\n"
		"  -o, --output FOLDER    where schedules go; .atomsan/schedules beside the "
		"program\n" TARGET_HELP CHECKING_HELP PUBLISH_HELP "\n"
		"Exit status: 66 if a run failed, 0 if none did.\n",
	.run = run,
};
