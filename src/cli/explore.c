/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `atomsan explore`: run a program under many schedules, in search of one that breaks it. */
#include "base/text.h"
#include "cli/exploration.h"
#include "cli/exploring.h"
#include "cli/folder.h"
#include "cli/noise.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* More schedules than anybody tries, and no more time to find them than some of them take to try. What the
 * first run makes possible is most of it, so fewer of the later ones. */
enum { PREDICTED_MAX = 1000, PREDICTED_LATER = 50, PREDICT_WORK = 500000, RECORDED = 8 };

/* A pattern that swaps two units has a read or two of its own that find something else. */
enum { STRAYED_FAR = 2 };
/* Hundredths of the run that lie between two accesses which change places. */
enum { MOVED_LITTLE = 8, MOVED_FAR = 30 };

static volatile int stop;
static volatile sig_atomic_t stop_signal;
static int stop_pipe[2] = {-1, -1};

static void interrupted(int number)
{
	stop = 1;
	stop_signal = number;
	/* Who is about to wait must not. */
	if (write(stop_pipe[1], "", 1) < 0)
		return;
}

/* ---- the first run ---- */

/* What moves most when the two change places breaks most (rank.h); and what strays far from the recorded run
 * before the pattern comes up mostly cannot be followed. */
static uint32_t cost_of(const struct schedule *schedule)
{
	static const uint32_t costs[] = {6, 4, 3, 2};
	uint32_t cost = costs[schedule->weight];

	if (schedule->strayed > STRAYED_FAR)
		cost += 2;
	if (schedule->moved < MOVED_LITTLE)
		cost += 2;
	else if (schedule->moved < MOVED_FAR)
		cost++;
	return cost;
}

/* All that stand before it were given by the user. */
static void add_predicted(void *user, const struct schedule *schedule, uint32_t finding)
{
	struct exploration *x = user;
	uint64_t key = schedule_hash(schedule) | 1;

	/* Another run may make the same possible in the same way. */
	if (map_get(&x->known, key))
		return;
	map_set(&x->known, key, 1);
	queue_add(&x->queue, finding, cost_of(schedule), schedule->sort, x->setup.schedule_count);
	exploration_try(x, schedule_copy(schedule));
	x->predicted_by_schedule = mem_resize(x->predicted_by_schedule, x->predicted_count + 1,
					      sizeof *x->predicted_by_schedule);
	x->predicted_by_schedule[x->predicted_count++] = finding;
}

static int predict(struct exploration *x, struct trace *trace, struct err *err)
{
	struct foretell_options options = {.made = add_predicted,
					   .user = x,
					   .both = true,
					   .every_pattern = true,
					   .round = x->predicted_from};
	struct foretell_stats stats;
	struct serial_options serial;
	int failed;

	if (x->no_predict)
		return 0;
	options.schedules = x->predicted_from ? PREDICTED_LATER : PREDICTED_MAX;
	if (checking_prepare(&x->checking, trace, &serial, err) < 0)
		return -1;
	options.model = serial.model;
	options.predict.work_limit = PREDICT_WORK;
	if (!x->predicted)
		x->predicted = finding_list_new("predict");
	queue_begin(&x->queue);
	failed = foretell(trace, &options, x->predicted, &stats, err);
	checking_release(&x->checking);
	if (!x->predicted_from++)
		x->foretold = stats;
	return failed;
}

/* Another run, under a strategy, shows what the first one did not. */
static int recorded(void *context, const char *path, struct err *err)
{
	struct trace *trace = trace_open(path, err);
	int failed;

	if (!trace)
		return -1;
	failed = trace->header.state != TRACE_STOPPED ? predict(context, trace, err) : 0;
	trace_close(trace);
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

	/* What the user gave has been read. */
	x->setup.must_try = x->setup.schedule_count;
	setup.strategy = "serial";
	setup.every = true;
	setup.seed = x->setup.seed;
	setup.quiet = true;
	setup.trace = setup.values = true;
	run = run_once(&setup, &result, err);
	if (!run)
		return -1;
	trace = trace_open(run_trace(run), err);
	failed = !trace ? -1 : 0;
	/* A run that did not come to its end, or whose trace got too long, knows of a part only. */
	if (!failed && result.verdict != RUN_TIMEOUT && trace->header.state != TRACE_STOPPED) {
		failed = hints_make(&x->hints, trace, err) < 0 || predict(x, trace, err) < 0 ? -1 : 0;
		x->setup.run.hints = failed ? NULL : x->hints.text;
		x->setup.record = x->no_predict ? 0 : RECORDED;
	}
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

		if (n >= e->given_count)
			break;
		tried += e->given[n].tried;
		followed += e->given[n].followed;
		failed += e->given[n].failed;
	}
	printf("predicted: %" PRIu64 " violations, %" PRIu64
	       " of them seen in the first run; %u schedules, %u tried, "
	       "%u feasible, %u failed",
	       x->foretold.predicted, x->foretold.seen, x->predicted_count, tried, followed, failed);
	if (e->spared)
		printf("; %" PRIu64 " left out, as one that begins alike was not feasible", e->spared);
	printf("\n");
}

static void print_summary(const struct explore *e)
{
	printf("%" PRIu64 " runs in %.1f seconds, %" PRIu64 " failed (%u in different ways)", e->runs,
	       e->seconds, e->failures, e->found_count);
	if (e->extra)
		printf(", and %" PRIu64 " to make schedules shorter", e->extra);
	if (e->first_failure)
		printf("; the first failure was run %" PRIu64, e->first_failure);
	printf("\n");
	if (e->disturbed)
		printf("  %" PRIu64
		       " failed beside other runs and not again alone: runs seem to disturb each other "
		       "(files, ports), so they were made one at a time from there on\n",
		       e->disturbed);
	for (uint32_t i = 0; i < e->found_count; i++) {
		const struct explore_failure *f = &e->found[i];

		printf("  %s: ", run_verdict_text(f->verdict));
		text_put(stdout, f->text);
		printf("; %" PRIu64 " times, first by %s", f->seen, f->strategy);
		if (f->given < 0)
			printf(" with seed %" PRIu64, f->seed);
		printf("; %u context switches, made out of %u%s\n", f->schedule->step_count, f->steps_before,
		       f->again       ? ""
		       : f->only_seen ? "; observed, and not yet tried again"
				      : "; does not always fail again");
	}
	printf("\n");
}

static void count(struct finding_list *list, const struct exploration *x, const struct explore *e)
{
	finding_add_count(list, "runs", (double)e->runs);
	finding_add_count(list, "failures", (double)e->failures);
	finding_add_count(list, "disturbed", (double)e->disturbed);
	finding_add_count(list, "first-failure", (double)e->first_failure);
	finding_add_count(list, "not-followed", (double)e->not_followed);
	finding_add_count(list, "spared", (double)e->spared);
	finding_add_count(list, "minimising-runs", (double)e->extra);
	finding_add_count(list, "predicted", (double)x->foretold.predicted);
	finding_add_count(list, "predicted-seen", (double)x->foretold.seen);
	finding_add_count(list, "predicted-schedules", (double)x->predicted_count);
	finding_add_count(list, "predicted-from-runs", (double)x->predicted_from);
	finding_add_count(list, "events", (double)e->events);
	finding_add_count(list, "switches", (double)e->switches);
	/* Those that made schedules shorter, and the first one, which was looked at, ran as well. */
	cost_count(&x->cost, list, x->cpu_seconds, 0, e->runs + e->extra + 1);
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

/* How each strategy fared; the report shows it beside the schedules that are kept. */
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
}

/* What became of the schedules of each finding that was predicted: in the store it is worth the less, the
 * more of them were in vain. */
static void tell_predicted(struct finding_list *list, const struct exploration *x, const struct explore *e)
{
	enum { INFEASIBLE, PASSED, FAILED, KINDS };
	static const char *const verdicts[] = {FINDING_INFEASIBLE, "passed", "failed"};
	uint32_t count = x->predicted ? x->predicted->finding_count : 0;
	uint64_t (*runs)[KINDS] = mem_zalloc(count + 1, sizeof *runs);

	for (uint32_t i = 0; i < x->predicted_count && x->setup.must_try + i < e->given_count; i++) {
		const struct explore_given *g = &e->given[x->setup.must_try + i];

		if (g->tried)
			runs[x->predicted_by_schedule[i]][g->failed     ? FAILED
							  : g->followed ? PASSED
									: INFEASIBLE]++;
	}
	for (uint32_t i = 0; i < count; i++)
		for (unsigned k = 0; k < KINDS; k++)
			if (runs[i][k])
				finding_add_trial(list, &(struct finding_trial){
								.strategy = FINDING_PREDICTED_STRATEGY,
								.verdict = verdicts[k],
								.finding = x->predicted->findings[i].id,
								.seed = x->setup.seed,
								.runs = runs[i][k],
								.failures = k == FAILED ? runs[i][k] : 0});
	free(runs);
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
					    .predicted_count = x->predicted_count,
					    .stop = &stop};
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
	tell_predicted(list, x, e);
	if (!x->publish.json && x->predicted)
		print_predicted(x, e);
	if (!x->publish.json)
		print_summary(e);
	return findings_publish(&verb_explore, list, &x->publish);
}

/*
 * Makes the folder for the schedules. Where they cannot lie beside the program, and nobody has named another
 * place, they go to a temporary one: what was found is told in any case.
 */
static int make_folder(struct exploration *x, char **folder, struct err *err)
{
	struct err other;
	char *instead;

	if (target_make_folder(x->folder, err) >= 0)
		return 0;
	instead = *folder ? folder_make(verb_explore.name, &other) : NULL;
	if (!instead)
		return -1;
	cli_failf(&verb_explore, "%s; schedules go to %s", err->text, instead);
	free(*folder);
	x->folder = *folder = instead;
	return 0;
}

static int explore_all(struct exploration *x)
{
	struct sigaction action = {.sa_handler = interrupted};
	struct explore *e;
	struct err err;
	char *folder = NULL;
	int status;

	if (exploration_options(x, &err) < 0)
		return cli_fail(&verb_explore, &err);
	if (!x->folder)
		x->folder = folder = target_schedules(&x->target);
	x->terminal = isatty(STDERR_FILENO) && !x->publish.json;
	run_adopt();
	if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return cli_failf(&verb_explore, "cannot start: %s", strerror(errno));
	run_stop_fd = stop_pipe[0];
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
	x->setup.stop = &stop;
	x->setup.context = x;
	x->setup.queue = &x->queue;
	x->setup.recorded = recorded;
	x->cpu_seconds = -cost_children();
	e = exploration_given(x, &err) < 0 || look_first(x, &err) < 0 ? NULL : explore(&x->setup, &err);
	x->cpu_seconds += cost_children();
	/* What was found takes a run each to be told; who does not want to wait for these either says so
	 * again. */
	while (read(stop_pipe[0], (char[16]){0}, 16) > 0)
		;
	if (x->terminal)
		fputs("\r\033[K", stderr);
	if (!e)
		status = stop_signal ? CLI_FAILED : cli_fail(&verb_explore, &err);
	else if (e->found_count && make_folder(x, &folder, &err) < 0)
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
	struct noise noise = {0};
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
					     COST_OPTION(x.cost),
					     NOISE_OPTIONS(noise),
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
	noise.seed = noise.given ? x.seed : NULL;
	if (noise_apply(&noise, argv[first], x.publish.db, &err) < 0 ||
	    target_init(&x.target, argv + first, &err) < 0)
		status = cli_fail(&verb_explore, &err);
	else
		status = explore_all(&x);
	exploration_release(&x);
	return status;
}

const struct verb verb_explore = {
	.name = "explore",
	.synopsis = "[OPTION]... -- PROGRAM [ARGUMENT]...",
	.summary = "Run a program under many schedules until one breaks it",
	.help = "  --budget=N|Ns          how many runs, or for how many seconds; 200\n"
		"  --jobs=N               runs at a time; one for each processor\n"
		"  --strategy=LIST        pos, pct, random, surw, serial, with commas; the first four\n"
		"  --seed=N               of the first run; every other one adds its number\n"
		"  --depth=N              pct: how many orderings the bug needs; 3 or 10\n"
		"  --events=every|first   switch before every access, or the first to each place\n"
		"  --no-predict           do not try what the first run makes possible\n"
		"  --schedules=PATH       try these, too: a file, or a folder of *.schedule\n"
		"  --stop-at-first        stop at the first failure\n"
		"  --no-minimise          do not look for the fewest context switches that fail\n"
		"  -o, --output FOLDER    where schedules go; .atomsan/schedules beside the "
		"program\n" COST_HELP NOISE_HELP TARGET_HELP CHECKING_HELP PUBLISH_HELP "\n"
		"Exit status: 66 if a run failed, 0 if none did.\n",
	.run = run,
};
