/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `atomsan race`: run a program and watch accesses while they are under way. */
#include "base/deaf.h"
#include "cli/child.h"
#include "cli/cli.h"
#include "cli/cost.h"
#include "cli/folder.h"
#include "cli/noise.h"
#include "cli/publish.h"
#include "cli/repository.h"
#include "cli/target.h"
#include "cli/watched.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct job {
	struct noise noise;
	struct publish publish;
	struct cost cost;
	const char *runs, *timeout, *repository, *sections;
	char **argv;
	char *text; /* of the noise, for the runtime */
	uint64_t seed;
	uint32_t run_count, timeout_seconds;
	struct watched watched;
	uint32_t racy_runs, failed_runs;
	int status;                /* of the first run that failed, as wait has it */
	uint64_t races, variables; /* sums over runs */
};

static bool read_number(const char *text, uint32_t most, uint32_t *number)
{
	unsigned long value = strtoul(text, NULL, 10);

	*number = (uint32_t)value;
	return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 10 && value <= most;
}

/* The runtime would go on without it, which is right for a program and wrong for who has asked for it. */
static int read_repository(const struct job *job, struct err *err)
{
	struct repository repository = {0};
	int failed = repository_open_given(&repository, job->repository, err);

	repository_release(&repository);
	return failed;
}

static int read_job(struct job *job, struct err *err)
{
	job->run_count = 1;
	if (cost_read(&job->cost, err) < 0)
		return -1;
	if (job->runs && (!read_number(job->runs, 1000000, &job->run_count) || !job->run_count))
		return err_set(err, "--runs=%s is no number from 1 to 1000000", job->runs);
	if (job->timeout && !read_number(job->timeout, 1000000, &job->timeout_seconds))
		return err_set(err, "--timeout=%s is no number of seconds", job->timeout);
	if (job->repository && strchr(job->repository, ':'))
		return err_set(err, "the repository's name may not have a colon: %s", job->repository);
	if (job->sections && strcmp(job->sections, "all") != 0 && strcmp(job->sections, "sure") != 0 &&
	    strcmp(job->sections, "none") != 0)
		return err_set(err, "--sections is all, sure or none, not '%s'", job->sections);
	if (job->repository && read_repository(job, err) < 0)
		return -1;
	job->text = noise_text(&job->noise, job->argv[0], job->publish.db, err);
	return job->text ? noise_choose_seed(job->noise.seed, &job->seed, err) : -1;
}

/* Ours come last: the later of two wins. The caller frees it. */
static char *options_of(const struct job *job, const char *folder, uint32_t nth)
{
	const char *old = getenv("ATOMSAN_OPTIONS");

	return mem_textf("%s%srace=1:results=%s:seed=%llu%s%s%s%s%s%s%s%s", old ? old : "",
			 old && *old ? ":" : "", folder, (unsigned long long)job->seed + nth,
			 *job->text ? ":noise=" : "", job->text, job->noise.budget ? ":noise_budget=" : "",
			 job->noise.budget ? job->noise.budget : "", job->repository ? ":repository=" : "",
			 job->repository ? job->repository : "", job->sections ? ":sections=" : "",
			 job->sections ? job->sections : "");
}

static int one_run(struct job *job, const char *folder, uint32_t nth, struct err *err)
{
	struct child child = {.argv = job->argv, .to_stderr = job->publish.json, .goes_with_us = true};
	char *options = options_of(job, folder, nth);
	uint32_t before = job->watched.processes;
	int status = 0;

	child.options = options;
	if (child_start(&child, err) < 0 || child_wait(job->timeout_seconds, &status, err) < 0) {
		free(options);
		return -1;
	}
	free(options);
	if (watched_read(&job->watched, folder, err) < 0)
		return -1;
	if (job->watched.processes == before)
		return err_set(err, "%s was not watched: %s", job->argv[0], deaf_reason(job->argv[0]));
	folder_empty(folder);
	if (status && !job->failed_runs++)
		job->status = status;
	job->racy_runs += job->watched.times != 0;
	job->races += job->watched.times;
	job->variables += job->watched.variables;
	return 0;
}

/* What AtomRace's Table 1 is made of, and what explains it. */
static void add_counts(const struct job *job, uint32_t runs)
{
	static const char *const names[][2] = {
		{"watchpoints", "watchpoints"},
		{"hits", "hits"},
		{"changes", "changes by code that was not seen"},
		{"noise-decisions", "noise decisions"},
		{"noise-strikes", "noise strikes"},
		{"noise-left-out", "noise left out"},
		{"noise-microseconds", "noise microseconds"},
		{"noise-digest", "noise digest"},
	};
	struct finding_list *list = job->watched.list;

	finding_add_count(list, "runs", runs);
	finding_add_count(list, "runs-with-races", job->racy_runs);
	finding_add_count(list, "runs-that-failed", job->failed_runs);
	finding_add_count(list, "races", (double)job->races);
	finding_add_count(list, "races-per-run", runs ? (double)job->races / runs : 0);
	finding_add_count(list, "variables-per-run", runs ? (double)job->variables / runs : 0);
	cost_count(&job->cost, list, cost_children(), 0, runs);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		finding_add_count(list, names[i][0], watched_count(&job->watched, names[i][1]));
}

static int watch(struct job *job)
{
	struct finding_list *list = finding_list_new("race");
	struct target target = {0};
	uint32_t done = 0;
	int failed = 0, status;
	struct err err;
	char *folder;

	child_expect_signals();
	folder = folder_make("race", &err);
	if (!folder) {
		finding_list_free(list);
		return cli_fail(&verb_race, &err);
	}
	job->watched.list = list;
	job->watched.verb = "race";
	while (done < job->run_count && !failed && !child_signal()) {
		failed = one_run(job, folder, done, &err);
		done += !failed;
	}
	folder_remove(folder);
	free(folder);
	if (failed) {
		finding_list_free(list);
		return cli_fail(&verb_race, &err);
	}
	list->program = finding_text(list, job->argv[0]);
	for (char **word = job->argv; *word; word++)
		finding_add_argument(list, *word);
	if (target_init(&target, job->argv, &err) >= 0)
		list->build_id = finding_text(list, target.build_id);
	target_release(&target);
	list->seed = job->seed;
	add_counts(job, done);
	/* Standard output is the program's, but for the document. */
	if (!job->publish.json) {
		job->publish.out = stderr;
		fprintf(stderr, "seed %llu, %u run%s, %u with races, %.0f accesses watched\n",
			(unsigned long long)job->seed, done, done == 1 ? "" : "s", job->racy_runs,
			watched_count(&job->watched, "watchpoints"));
	}
	status = findings_publish(&verb_race, list, &job->publish);
	if (child_signal())
		return child_end(child_signal());
	if (status != CLI_OK)
		return status;
	/* What was ended because it took too long did not end by itself, and is no reason for us to die. */
	if (job->timeout_seconds && WIFSIGNALED(job->status) && WTERMSIG(job->status) == SIGKILL)
		return 128 + SIGKILL;
	return child_end(job->status);
}

static int run(int argc, char **argv)
{
	struct job job = {0};
	const struct cli_option options[] = {
		NOISE_OPTIONS(job.noise),
		NOISE_SEED_OPTION(job.noise),
		{"--runs", &job.runs, NULL},
		{"--timeout", &job.timeout, NULL},
		{"--repository", &job.repository, NULL},
		{"--sections", &job.sections, NULL},
		COST_OPTION(job.cost),
		PUBLISH_OPTIONS(job.publish),
		{NULL, NULL, NULL},
	};
	int first = cli_options(&verb_race, argc, argv, options), status;
	struct err err;

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (first >= argc)
		return cli_failf(&verb_race, "which program? usage: atomsan race %s", verb_race.synopsis);
	job.argv = argv + first;
	status = read_job(&job, &err) < 0 ? cli_fail(&verb_race, &err) : watch(&job);
	watched_release(&job.watched);
	free(job.text);
	return status;
}

const struct verb verb_race = {
	.name = "race",
	.synopsis = "[OPTION]... -- PROGRAM [ARGUMENT]...",
	.summary = "Run a program and find data races as they happen",
	.help = "  --runs=N                  how many runs; 1\n"
		"  --timeout=SECONDS         end a run that takes longer\n"
		"  --repository=FILE         atomic sections to watch, too, see "
		"atomsan-atomicity(5)\n"
		"  --sections=WHICH          all of them, those that are sure (the default), or "
		"none\n" COST_HELP NOISE_HELP NOISE_SEED_HELP PUBLISH_HELP "\n"
		"What is found is printed to standard error. The exit status is 66 if there were\n"
		"findings, else that of the first run that failed, 0 if none did.\n",
	.run = run,
};
