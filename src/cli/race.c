/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `atomsan race`: run a program and watch accesses while they are under way. */
#include "cli/cli.h"
#include "cli/cost.h"
#include "cli/noise.h"
#include "cli/publish.h"
#include "cli/target.h"
#include "cli/watched.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
	uint64_t races, variables; /* sums over runs */
};

static pid_t child;
static volatile sig_atomic_t stopped;

static void pass_on(int signal)
{
	stopped = signal;
	if (child > 0)
		kill(child, signal);
}

static bool read_number(const char *text, uint32_t most, uint32_t *number)
{
	unsigned long value = strtoul(text, NULL, 10);

	*number = (uint32_t)value;
	return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 10 && value <= most;
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
	if (job->noise.budget && strspn(job->noise.budget, "0123456789") != strlen(job->noise.budget))
		return err_set(err, "--noise-budget=%s is no number of percents", job->noise.budget);
	job->text = noise_text(&job->noise, job->argv[0], job->publish.db, err);
	return job->text ? noise_choose_seed(job->noise.seed, &job->seed, err) : -1;
}

static void empty_folder(const char *folder)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char *path = mem_textf("%s/%s", folder, entry->d_name);

		if (entry->d_name[0] != '.')
			unlink(path);
		free(path);
	}
	if (directory)
		closedir(directory);
}

/* In the child. */
static void become_program(const struct job *job, const char *folder, uint32_t nth)
{
	const char *old = getenv("ATOMSAN_OPTIONS");
	/* The later of two wins, and these are ours to say. */
	char *options = mem_textf(
		"%s%srace=1:results=%s:seed=%llu%s%s%s%s%s%s%s%s", old ? old : "", old && *old ? ":" : "",
		folder, (unsigned long long)job->seed + nth, *job->text ? ":noise=" : "", job->text,
		job->noise.budget ? ":noise_budget=" : "", job->noise.budget ? job->noise.budget : "",
		job->repository ? ":repository=" : "", job->repository ? job->repository : "",
		job->sections ? ":sections=" : "", job->sections ? job->sections : "");

	setenv("ATOMSAN_OPTIONS", options, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Standard output is the document's. */
	if (job->publish.json)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	execvp(job->argv[0], job->argv);
	fprintf(stderr, "atomsan race: %s: %s\n", job->argv[0], strerror(errno));
	_exit(127);
}

/* How it ended, as wait says it; one that takes too long is killed. */
static int wait_for_program(const struct job *job, int *status)
{
	struct timespec moment = {0, 5000000};
	time_t end = time(NULL) + job->timeout_seconds;
	pid_t got;

	while ((got = waitpid(child, status, job->timeout_seconds ? WNOHANG : 0)) <= 0) {
		if (got < 0 && errno != EINTR)
			return -1;
		if (got < 0)
			continue;
		if (time(NULL) > end)
			kill(child, SIGKILL);
		nanosleep(&moment, NULL);
	}
	child = 0;
	return 0;
}

static int one_run(struct job *job, const char *folder, uint32_t nth, struct err *err)
{
	uint32_t before = job->watched.processes;
	int status = 0;

	child = fork();
	if (child < 0)
		return err_set(err, "cannot start another process: %s", strerror(errno));
	if (!child)
		become_program(job, folder, nth);
	if (wait_for_program(job, &status) < 0)
		return err_set(err, "lost the program: %s", strerror(errno));
	if (watched_read(&job->watched, folder, err) < 0)
		return -1;
	if (job->watched.processes == before)
		return err_set(err, "%s was not watched: was it built with 'atomsan cc'?", job->argv[0]);
	empty_folder(folder);
	job->failed_runs += status != 0;
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
	const char *temporary = getenv("TMPDIR");
	struct sigaction forward = {.sa_handler = pass_on};
	struct finding_list *list = finding_list_new("race");
	struct target target = {0};
	uint32_t done = 0;
	int failed = 0, status;
	struct err err;
	char *folder =
		mem_textf("%s/atomsan-race-XXXXXX",
			  temporary && *temporary == '/' && !strchr(temporary, ':') ? temporary : "/tmp");

	if (!mkdtemp(folder)) {
		finding_list_free(list);
		return cli_failf(&verb_race, "%s: cannot be made: %s", folder, strerror(errno));
	}
	sigaction(SIGINT, &forward, NULL);
	sigaction(SIGTERM, &forward, NULL);
	sigaction(SIGHUP, &forward, NULL);
	job->watched.list = list;
	job->watched.verb = "race";
	while (done < job->run_count && !failed && !stopped) {
		failed = one_run(job, folder, done, &err);
		done += !failed;
	}
	empty_folder(folder);
	rmdir(folder);
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
	if (!job->publish.json)
		printf("seed %llu, %u run%s, %u with races, %.0f accesses watched\n",
		       (unsigned long long)job->seed, done, done == 1 ? "" : "s", job->racy_runs,
		       watched_count(&job->watched, "watchpoints"));
	status = findings_publish(&verb_race, list, &job->publish);
	if (stopped) {
		signal(stopped, SIG_DFL);
		raise(stopped);
	}
	return status;
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
		"Exit status: 66 if there were races, 0 if none was seen.\n",
	.run = run,
};
