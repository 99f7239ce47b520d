/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The whole job in one command: what the code suggests (lint), what one run
 * shows (record, check), which accesses meet (race), what that run makes possible and what really breaks
 * when it is forced (explore). Each step is the verb of that name, run by
 * itself; what they find is one list, in which a finding has the last word that
 * was spoken about it.
 */
#include "cli/cli.h"
#include "cli/folder.h"
#include "cli/noise.h"
#include "cli/publish.h"
#include "finding/json.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define MOST_WORDS 24

struct job {
	char *self;
	char *folder; /* of documents and the trace; removed at the end */
	char **program;
	int program_words;
	const char *budget, *spec, *timeout, *expect_status, *expect_stdout, *check;
	struct noise noise;
	struct finding_list *all;
	bool quiet;
};

static void say(const struct job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(const struct job *job, const char *format, ...)
{
	va_list words;

	if (job->quiet)
		return;
	va_start(words, format);
	vfprintf(stderr, format, words);
	va_end(words);
	fflush(stderr);
}

/* Runs atomsan with the words, standard output going to a file, and standard error to one, too, unless that
 * is NULL. Returns the exit status, -1 if there is none. */
static int step(const struct job *job, const char *const *words, bool with_program, const char *output,
		const char *errors)
{
	char **argv = mem_zalloc(MOST_WORDS + (size_t)job->program_words + 3, sizeof(*argv));
	posix_spawn_file_actions_t actions;
	int count = 0, status;
	pid_t child;

	argv[count++] = job->self;
	for (int i = 0; words[i]; i++) {
		BUG_ON(i == MOST_WORDS);
		argv[count++] = (char *)words[i];
	}
	if (with_program) {
		argv[count++] = "--";
		for (int i = 0; i < job->program_words; i++)
			argv[count++] = job->program[i];
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (errors)
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors,
						 O_WRONLY | O_CREAT | O_TRUNC, 0600);
	status = posix_spawn(&child, job->self, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	free(argv);
	if (status)
		return -1;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The reason is the last thing that a verb says. */
static void say_last_line(const struct job *job, const char *path)
{
	FILE *file = fopen(path, "r");
	char line[512], last[512] = "";

	while (file && fgets(line, sizeof line, file))
		memcpy(last, line, sizeof last);
	if (file)
		fclose(file);
	say(job, "%s", last);
}

static struct finding *known(struct finding_list *list, const char *id)
{
	for (uint32_t i = 0; i < list->finding_count; i++)
		if (!strcmp(list->findings[i].id, id))
			return &list->findings[i];
	return NULL;
}

/* Adds what a step found. Its list lives on, for its strings are used. */
static void take(struct job *job, const struct finding_list *found)
{
	struct finding_list *all = job->all;

	for (uint32_t i = 0; i < found->blind_spot_count; i++) {
		uint32_t k = 0;

		while (k < all->blind_spot_count && strcmp(all->blind_spots[k], found->blind_spots[i]))
			k++;
		if (k == all->blind_spot_count)
			finding_add_blind_spot(all, found->blind_spots[i]);
	}
	for (uint32_t i = 0; i < found->finding_count; i++) {
		const struct finding *finding = &found->findings[i];
		struct finding *before = known(all, finding->id);

		if (!before)
			*finding_add(all) = *finding;
		else if (finding->state >= before->state)
			*before = *finding;
	}
	for (uint32_t i = 0; i < found->trial_count; i++)
		finding_add_trial(all, &found->trials[i]);
	if (!all->program && found->program)
		all->program = finding_text(all, found->program);
	if (!all->build_id && found->build_id)
		all->build_id = finding_text(all, found->build_id);
	if (found->seed)
		all->seed = found->seed;
}

/* One verb with --json; says what came of it. NULL if it could not do its work. */
static struct finding_list *find(struct job *job, const char *verb, const char *const *words,
				 bool with_program)
{
	char *path = mem_textf("%s/%s.json", job->folder, verb);
	bool race = !strcmp(verb, "race");
	/* What the program itself prints under race was seen under record. */
	char *errors = race ? mem_textf("%s/errors", job->folder) : NULL;
	struct finding_list *found = NULL;
	struct err err;

	say(job, "%-8s ", verb);
	int status = step(job, words, with_program, path, errors);

	/* Without findings, race has the program's own status: there the document alone tells. */
	if (status == CLI_OK || status == CLI_FINDINGS || race)
		found = finding_list_read(path, &err);
	if (found) {
		say(job, "%u finding%s\n", found->finding_count, found->finding_count == 1 ? "" : "s");
		take(job, found);
	} else {
		if (errors)
			say_last_line(job, errors);
		say(job, "was not done\n");
	}
	free(errors);
	free(path);
	return found;
}

static int work(struct job *job, const struct publish *publish)
{
	char *trace = mem_textf("%s/run.atr", job->folder), *output = mem_textf("%s/output", job->folder);
	char *budget = mem_textf("--budget=%s", job->budget ? job->budget : "200");
	char *spec = job->spec ? mem_textf("--spec=%s", job->spec) : NULL;
	struct finding_list *lists[4] = {NULL};
	const char *words[MOST_WORDS];
	char *more[5] = {NULL};
	int count = 0;

	lists[0] = find(job, "lint",
			(const char *[]){"lint", "--json", "--no-store", job->program[0], spec, NULL}, false);

	say(job, "record   ");
	int status = step(job, (const char *[]){"record", "-o", trace, NULL}, true, output, NULL);
	struct stat recorded;

	/* The program's own status is its own business here; explore judges it. */
	if (stat(trace, &recorded) < 0) {
		say(job, "was not done\n");
	} else {
		say(job, "exit status %d\n", status);
		lists[1] = find(job, "check",
				(const char *[]){"check", "--json", "--no-store", trace, NULL, NULL}, false);
	}

	/* Aimed at nothing; who knows where gives --noise. */
	more[4] = job->timeout ? mem_textf("--timeout=%s", job->timeout) : NULL;
	lists[3] = find(job, "race",
			(const char *[]){"race", "--json", "--no-store", "--runs=2",
					 job->noise.given ? "--noise-budget=200" : "--noise=random:20",
					 more[4] ? more[4] : "--noise-budget=200", NULL},
			true);

	words[count++] = "explore";
	words[count++] = "--json";
	words[count++] = "--no-store";
	words[count++] = budget;
	if (spec)
		words[count++] = spec;
	if (job->timeout)
		words[count++] = more[0] = mem_textf("--timeout=%s", job->timeout);
	if (job->expect_status)
		words[count++] = more[1] = mem_textf("--expect-status=%s", job->expect_status);
	if (job->expect_stdout)
		words[count++] = more[2] = mem_textf("--expect-stdout=%s", job->expect_stdout);
	if (job->check)
		words[count++] = more[3] = mem_textf("--check=%s", job->check);
	words[count] = NULL;
	lists[2] = find(job, "explore", words, true);

	bool any = lists[0] || lists[1] || lists[2] || lists[3];

	for (int i = 0; i < 5; i++)
		free(more[i]);
	free(trace);
	free(output);
	free(budget);
	free(spec);
	folder_remove(job->folder);
	if (any) {
		say(job, "\n");
		status = findings_publish(&verb_test, job->all, publish);
	} else {
		finding_list_free(job->all);
		status = cli_failf(&verb_test, "no step could be done; was %s built with 'atomsan cc'?",
				   job->program[0]);
	}
	for (int i = 0; i < 4; i++)
		finding_list_free(lists[i]);
	return status;
}

static int run(int argc, char **argv)
{
	struct publish publish = {0};
	struct job job = {0};
	const struct cli_option options[] = {{"--budget", &job.budget, NULL},
					     {"--spec", &job.spec, NULL},
					     {"--timeout", &job.timeout, NULL},
					     {"--expect-status", &job.expect_status, NULL},
					     {"--expect-stdout", &job.expect_stdout, NULL},
					     {"--check", &job.check, NULL},
					     NOISE_OPTIONS(job.noise),
					     NOISE_SEED_OPTION(job.noise),
					     PUBLISH_OPTIONS(publish),
					     {NULL, NULL, NULL}};
	int first = cli_options(&verb_test, argc, argv, options);
	struct err err;

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (first == argc)
		return cli_failf(&verb_test, "there is no program to test");
	if (access(argv[first], X_OK) && strchr(argv[first], '/'))
		return cli_failf(&verb_test, "%s: %s", argv[first], strerror(errno));
	/* The verbs that follow find it in the environment. */
	if (noise_apply(&job.noise, argv[first], publish.db, &err) < 0)
		return cli_fail(&verb_test, &err);
	job.folder = folder_make("test", &err);
	if (!job.folder)
		return cli_fail(&verb_test, &err);
	job.self = cli_self(&err);
	if (!job.self) {
		folder_remove(job.folder);
		return cli_fail(&verb_test, &err);
	}
	job.program = argv + first;
	job.program_words = argc - first;
	job.quiet = publish.json;
	job.all = finding_list_new("test");
	job.all->arguments = finding_memory(job.all, (size_t)job.program_words, sizeof(*job.all->arguments));
	for (int i = 0; i < job.program_words; i++)
		job.all->arguments[job.all->argument_count++] = finding_text(job.all, argv[first + i]);
	int status = work(&job, &publish);

	free(job.self);
	free(job.folder);
	return status;
}

const struct verb verb_test = {
	.name = "test",
	.synopsis = "[OPTION]... -- PROGRAM [ARGUMENT]...",
	.summary = "Do everything: lint, record, check, race, predict, force; then tell what was found",
	.help = "  --budget=N|Ns            runs under the scheduler, or seconds; 200\n"
		"  --timeout=SECONDS        a run that takes longer has failed; 10\n"
		"  --expect-status=N        exit status of a good run; 0\n"
		"  --expect-stdout=FILE     what a good run prints\n"
		"  --check=COMMAND          shell command that judges what the program printed\n"
		"  --spec=FILE              what the sources do not say, see atomsan-spec(5)\n" NOISE_HELP
			NOISE_SEED_HELP PUBLISH_HELP,
	.run = run,
};
