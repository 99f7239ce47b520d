/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `atomsan replay`: run a program through a schedule, as often as wanted. */
#include "base/text.h"
#include "cli/noise.h"
#include "cli/target.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct replay {
	struct target target;
	struct noise noise;
	struct schedule *schedule;
	const char *path;
	uint64_t times;
	int json, gdb, force, any_build, quiet;
	bool other_build; /* the program is not the build that the schedule was made for */
	/* what came of it */
	uint64_t runs, failed, lost, alike;
	uint64_t first_hash;
};

/* The schedule of a finding lies where explore puts it: beside the program, if that is said. */
static char *schedule_path(const char *name, const char *program)
{
	const char *slash = program ? strrchr(program, '/') : NULL;

	if (strncmp(name, "F-", 2) || !access(name, F_OK))
		return mem_text(name);
	return mem_textf("%.*s.atomsan/schedules/%s.schedule", slash ? (int)(slash - program + 1) : 0,
			 slash ? program : "", name);
}

static char **argv_of(const struct schedule *s)
{
	char **argv = mem_zalloc(s->argument_count + 2, sizeof *argv);

	argv[0] = s->program;
	for (uint32_t i = 0; i < s->argument_count; i++)
		argv[i + 1] = s->arguments[i];
	return argv;
}

/*
 * A build-id changes with the folder that a program was compiled in and with the runtime in it, while the
 * events that a schedule counts do not. So another build may well do; whether it does, the run itself tells:
 * either each step finds its thread and its number of events, or the schedule was not followed.
 */
static int check_program(struct replay *r, struct err *err)
{
	const struct schedule *s = r->schedule;
	uint32_t count = 0;
	bool same = true;

	r->other_build = s->build_id && r->target.build_id && strcmp(s->build_id, r->target.build_id);
	if (r->force)
		return 0;
	if (r->other_build && !r->any_build)
		return err_set(err,
			       "%s: was made for another build of the program (build-id %.40s, not %.40s); "
			       "explore again, or use --any-build",
			       r->path, s->build_id, r->target.build_id);
	while (r->target.argv[1 + count])
		count++;
	same = count == s->argument_count || !s->program;
	for (uint32_t i = 0; same && i < count && s->program; i++)
		same = !strcmp(s->arguments[i], r->target.argv[i + 1]);
	if (!same)
		return err_set(err, "%s: was made for other arguments; leave them out, or use --force",
			       r->path);
	return 0;
}

static uint64_t hash_of(const struct sched_report *report)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (uint64_t i = 0; i < report->switches && i < SCHED_SWITCHES; i++) {
		hash = (hash ^ report->log[i].thread) * 0x100000001b3ull;
		hash = (hash ^ report->log[i].events) * 0x100000001b3ull;
	}
	return hash;
}

static void print_run(const struct replay *r, const struct run_result *result)
{
	uint64_t preemptions, switches = run_switches(result->report, &preemptions);

	if (!r->json) {
		printf("%s: ", run_verdict_text(result->verdict));
		text_put(stdout, result->verdict == RUN_NOT_FOLLOWED ? result->lost : result->text);
		printf(" (%" PRIu64 " context switches, %" PRIu64 " events)\n", switches,
		       result->report->events);
		if (*result->stack) {
			fputs("  after ", stdout);
			text_put(stdout, result->stack);
			putchar('\n');
		}
		if (!result->followed && result->verdict != RUN_NOT_FOLLOWED) {
			fputs("  the schedule was not followed to its end: ", stdout);
			text_put(stdout, result->lost);
			putchar('\n');
		}
		return;
	}
	printf("%s\n{\"verdict\":", r->runs > 1 ? "," : "");
	text_json(stdout, run_verdict_text(result->verdict));
	fputs(",\"text\":", stdout);
	text_json(stdout, result->text);
	fputs(",\"stack\":", stdout);
	text_json(stdout, *result->stack ? result->stack : NULL);
	printf(",\"followed\":%s,\"lost\":", result->followed ? "true" : "false");
	text_json(stdout, result->followed ? NULL : result->lost);
	printf(",\"status\":%d,\"switches\":%" PRIu64 ",\"preemptions\":%" PRIu64 ",\"events\":%" PRIu64
	       ",\"seconds\":%.6f}",
	       result->status, switches, preemptions, result->report->events, result->seconds);
}

static int replay_once(struct replay *r, const struct run_setup *setup, struct err *err)
{
	struct run_result result;
	struct run *run = run_once(setup, &result, err);

	if (!run)
		return -1;
	r->failed += run_failed(result.verdict);
	r->lost += !result.followed;
	if (!r->runs++)
		r->first_hash = hash_of(result.report);
	r->alike += hash_of(result.report) == r->first_hash;
	print_run(r, &result);
	run_free(run);
	return 0;
}

static int replay_all(struct replay *r)
{
	struct run_setup setup = target_setup(&r->target);
	struct err err;

	setup.strategy = "follow";
	setup.schedule = r->schedule;
	setup.every = r->schedule->every;
	setup.quiet = r->json || r->quiet;
	run_adopt();
	if (r->json) {
		fputs("{\"version\":1,\"program\":", stdout);
		text_json(stdout, r->target.argv[0]);
		fputs(",\"schedule\":", stdout);
		text_json(stdout, r->path);
		fputs(",\"runs\":[", stdout);
	}
	while (r->runs < r->times)
		if (replay_once(r, &setup, &err) < 0) {
			/* The document stays one that can be parsed. */
			if (r->json)
				puts("]}");
			return cli_fail(&verb_replay, &err);
		}
	if (r->json)
		printf("],\"counts\":{\"runs\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"not_followed\":%" PRIu64
		       ",\"same_interleaving\":%" PRIu64 "},\"same_build\":%s}\n",
		       r->runs, r->failed, r->lost, r->alike, r->other_build ? "false" : "true");
	else if (r->times > 1)
		printf("%" PRIu64 " runs: %" PRIu64 " failed, %" PRIu64
		       " did not follow the schedule, %" PRIu64 " with the interleaving of the first\n",
		       r->runs, r->failed, r->lost, r->alike);
	if (!r->json && r->other_build && r->failed < r->runs)
		puts("The schedule was made for another build of the program, so this says little.");
	if (fflush(stdout) || ferror(stdout))
		return cli_failf(&verb_replay, "cannot write the output: %s", strerror(errno));
	return r->failed ? CLI_FINDINGS : r->lost ? CLI_FAILED : CLI_OK;
}

/* The program under gdb, with a stop where the schedule ends. */
static int debug(struct replay *r)
{
	struct run_setup setup = target_setup(&r->target);
	struct err err;
	struct run *run;

	setup.strategy = "follow";
	setup.schedule = r->schedule;
	setup.every = r->schedule->every;
	setup.debugger = "gdb";
	setup.timeout_ms = 0;
	/* What is typed at the debugger is for the debugger. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	run = run_start(&setup, &err);
	if (!run)
		return cli_fail(&verb_replay, &err);
	while (run_wait(&run, 1, -1) < 0)
		;
	run_free(run);
	return CLI_OK;
}

static int replay(struct replay *r, char **argv)
{
	struct err err;
	char **own = NULL;
	int status;

	r->schedule = schedule_read(r->path, &err);
	if (!r->schedule)
		return cli_fail(&verb_replay, &err);
	if (!*argv && !r->schedule->program)
		return cli_failf(&verb_replay, "%s: does not say which program; say it behind --", r->path);
	if (!*argv)
		argv = own = argv_of(r->schedule);
	if (target_init(&r->target, argv, &err) < 0 || check_program(r, &err) < 0 ||
	    noise_apply(&r->noise, argv[0], NULL, &err) < 0)
		status = cli_fail(&verb_replay, &err);
	else
		status = r->gdb ? debug(r) : replay_all(r);
	target_release(&r->target);
	free(own);
	return status;
}

static int run(int argc, char **argv)
{
	struct replay r = {.times = 1};
	const char *times = NULL;
	const struct cli_option options[] = {{"--json", NULL, &r.json},   {"--gdb", NULL, &r.gdb},
					     {"--times", &times, NULL},   {"--force", NULL, &r.force},
					     {"--quiet", NULL, &r.quiet}, {"--any-build", NULL, &r.any_build},
					     NOISE_OPTIONS(r.noise),      NOISE_SEED_OPTION(r.noise),
					     TARGET_OPTIONS(r.target),    {NULL, NULL, NULL}};
	int first = cli_options(&verb_replay, argc, argv, options), next, status;
	char *path, *end;

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (first >= argc)
		return cli_failf(&verb_replay, "which schedule? usage: atomsan replay %s",
				 verb_replay.synopsis);
	/* Options may stand behind the schedule, too. */
	next = cli_options(&verb_replay, argc - first, argv + first, options);
	if (next < 0)
		return next == -2 ? CLI_OK : CLI_FAILED;
	if (times) {
		r.times = strtoull(times, &end, 10);
		if (*end || *times < '0' || *times > '9' || !r.times)
			return cli_failf(&verb_replay, "--times=%s is no number of runs", times);
	}
	path = schedule_path(argv[first], argv[first + next]);
	r.path = path;
	status = replay(&r, argv + first + next);
	schedule_free(r.schedule);
	free(path);
	return status;
}

const struct verb verb_replay = {
	.name = "replay",
	.synopsis = "[OPTION]... SCHEDULE [-- PROGRAM [ARGUMENT]...]",
	.summary = "Run a program through a schedule",
	.help = "  --times=N              run it N times\n"
		"  --gdb                  under gdb, stopped where the schedule ends\n"
		"  --quiet                do not show what the program prints\n"
		"  --any-build            also if the schedule is for another build\n"
		"  --force                also if the schedule is for another build or other arguments\n"
		"  --json                 one JSON document instead of text\n" NOISE_HELP
			NOISE_SEED_HELP TARGET_HELP "\n"
		"SCHEDULE is a file, or the id of a finding (F-...) whose schedule 'atomsan explore' has\n"
		"kept. Exit status: 66 if the program fails, 0 if it does not, 1 if the schedule could\n"
		"not be followed.\n",
	.run = run,
};
