/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `atomsan run`: run an instrumented program with a checker beside it. */
#include "base/deaf.h"
#include "cli/child.h"
#include "cli/cli.h"
#include "cli/folder.h"
#include "cli/follow.h"
#include "cli/noise.h"
#include "cli/rtoption.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t child;

static char *absolute(const char *path)
{
	char *folder = path[0] == '/' ? mem_text("") : getcwd(NULL, 0);
	char *whole = mem_textf("%s%s%s", folder ? folder : "", path[0] == '/' ? "" : "/", path);

	free(folder);
	return whole;
}

/* ATOMSAN_OPTIONS with what this verb wants before what the user has set already. */
static void set_options(const char *self, const char *folder, const char *keep, const char *buffer, int halt,
			int all_calls, int verbose)
{
	const char *old = getenv("ATOMSAN_OPTIONS");
	char *options = mem_textf("check=1:checker=%s:results=%s%s%s%s%s%s%s%s%s%s", self, folder,
				  keep ? ":record=" : "", keep ? keep : "", buffer ? ":buffer=" : "",
				  buffer ? buffer : "", halt ? ":halt_on_error=1" : "",
				  all_calls ? ":all_calls=1" : "", verbose ? ":verbosity=1" : "",
				  old && *old ? ":" : "", old ? old : "");

	setenv("ATOMSAN_OPTIONS", options, 1);
	free(options);
}

/* The program's status. Checkers are nobody's children and so become ours. */
static int wait_for_program(int *status)
{
	pid_t got;

	do {
		int one;

		got = waitpid(-1, &one, 0);
		if (got == child)
			*status = one;
		else if (got < 0 && errno != EINTR)
			return -1;
	} while (got != child);
	return 0;
}

/* A program that was killed does not wait for its checker; we do. */
static void wait_for_checker(const char *folder)
{
	struct timespec moment = {0, 2000000};

	while (follow_at_work(folder, child)) {
		nanosleep(&moment, NULL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

/* What checkers wrote, one document after the other. */
static void print_documents(const char *folder)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char *path = mem_textf("%s/%s", folder, entry->d_name), text[4096];
		const char *ending = strrchr(entry->d_name, '.');
		FILE *file = ending && !strcmp(ending, FOLLOW_DOCUMENT) ? fopen(path, "re") : NULL;
		size_t n;

		while (file && (n = fread(text, 1, sizeof text, file)))
			fwrite(text, 1, n, stdout);
		if (file)
			fclose(file);
		free(path);
	}
	if (directory)
		closedir(directory);
	fflush(stdout);
}

/* The exit status of all this. */
static int judge(const char *folder, int status, const char *program)
{
	struct follow_results results;
	int exitcode = (int)rtoption_number("exitcode");

	follow_results(folder, &results);
	print_documents(folder);
	folder_remove(folder);
	if (!results.checked)
		return cli_failf(&verb_run, "%s was not checked: %s", program, deaf_reason(program));
	if (results.failed)
		return cli_failf(&verb_run, "%u of %u processes were not checked to their end",
				 results.failed, results.checked);
	if (results.findings && exitcode)
		return exitcode;
	return child_end(status);
}

struct options {
	struct follow_options follow;
	struct noise noise;
	const char *keep, *buffer;
	int halt, all_calls, verbose, following;
};

/* Both for this command and for the checkers, which are given the same words. */
static int read_options(int argc, char **argv, struct options *o)
{
	const struct cli_option table[] = {
		CHECKING_OPTIONS(o->follow.checking), PUBLISH_OPTIONS(o->follow.publish),
		{"--keep-trace", &o->keep, NULL},     {"--buffer", &o->buffer, NULL},
		{"--halt-on-error", NULL, &o->halt},  {"--all-calls", NULL, &o->all_calls},
		{"--verbose", NULL, &o->verbose},     {"--follow", NULL, &o->following},
		COST_OPTION(o->follow.cost),          NOISE_OPTIONS(o->noise),
		NOISE_SEED_OPTION(o->noise),          {NULL, NULL, NULL},
	};

	*o = (struct options){0};
	int first = cli_options(&verb_run, argc, argv, table);
	struct err err;

	/* What is wrong with it is said when options are checked, which a checker's were. */
	cost_read(&o->follow.cost, &err);
	return first;
}

/* The words for the checkers: one a line, or, set by hand, separated by blanks. */
#define WORDS "ATOMSAN_CHECK"

static void pass_words(int count, char **words)
{
	char *all = mem_text("");

	for (int i = 0; i < count; i++) {
		char *longer = mem_textf("%s%s\n", all, words[i]);

		free(all);
		all = longer;
	}
	setenv(WORDS, all, 1);
	free(all);
}

static int be_checker(void)
{
	const char *given = getenv(WORDS);
	char *all = mem_text(given ? given : ""), *rest = all, *word;
	const char *separator = strchr(all, '\n') ? "\n" : " ";
	char **argv = mem_zalloc(strlen(all) + 3, sizeof *argv);
	struct options options;
	int argc = 0, status;

	argv[argc++] = (char *)verb_run.name;
	while ((word = strsep(&rest, separator)))
		if (*word)
			argv[argc++] = word;
	if (read_options(argc, argv, &options) != argc)
		status = cli_failf(&verb_run, WORDS " has something that is no option");
	else
		status = follow(&verb_run, &options.follow);
	free(argv);
	free(all);
	return status;
}

static int check_options(struct options *o)
{
	struct err err;

	if (cost_read(&o->follow.cost, &err) < 0)
		return cli_fail(&verb_run, &err);
	if (o->buffer && (!*o->buffer || strspn(o->buffer, "0123456789") != strlen(o->buffer)))
		return cli_failf(&verb_run, "--buffer takes megabytes, not '%s'", o->buffer);
	if (o->keep && strchr(o->keep, ':'))
		return cli_failf(&verb_run, "the trace's name may not have a colon: %s", o->keep);
	return 0;
}

static int run(int argc, char **argv)
{
	struct options options;
	int first = read_options(argc, argv, &options), words = first, status = 0;
	struct err err;
	char *self, *folder, *trace = NULL;

	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (options.following)
		return be_checker();
	if (first >= argc)
		return cli_failf(&verb_run, "which program? usage: atomsan run %s", verb_run.synopsis);
	if (check_options(&options))
		return CLI_FAILED;
	if (checking_files(&options.follow.checking, &err) < 0)
		return cli_fail(&verb_run, &err);
	if (noise_apply(&options.noise, argv[first], options.follow.publish.db, &err) < 0)
		return cli_fail(&verb_run, &err);
	self = cli_self(&err);
	if (!self)
		return cli_fail(&verb_run, &err);
	trace = options.keep ? absolute(options.keep) : NULL;
	if (trace && folder_make_room(trace, options.keep, &err) < 0)
		return cli_fail(&verb_run, &err);
	child_expect_signals();
	folder = folder_make("run", &err);
	if (!folder)
		return cli_fail(&verb_run, &err);
	set_options(self, folder, trace, options.buffer, options.halt, options.all_calls, options.verbose);
	if (!strcmp(argv[words - 1], "--"))
		words--;
	pass_words(words - 1, argv + 1);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child = child_start(&(struct child){.argv = argv + first}, &err);
	if (child < 0) {
		folder_remove(folder);
		return cli_fail(&verb_run, &err);
	}
	if (wait_for_program(&status))
		return cli_failf(&verb_run, "lost the program: %s", strerror(errno));
	wait_for_checker(folder);
	status = judge(folder, status, argv[first]);
	free(folder);
	free(trace);
	free(self);
	return status;
}

const struct verb verb_run = {
	.name = "run",
	.synopsis = "[OPTION]... -- PROGRAM [ARGUMENT]...",
	.summary = "Run a program and check it while it runs",
	.help = CHECKING_HELP PUBLISH_HELP
	"  --halt-on-error          end the program at the first violation\n"
	"  --keep-trace=FILE        also leave the whole trace\n"
	"  --all-calls              tell the checker of all calls, also of those that no other\n"
	"                           thread's came across and that are on no cycle: slower\n"
	"  --buffer=MB              how far the program may be ahead of its checker (default 4)\n"
	"  --verbose                say what is done\n" COST_HELP NOISE_HELP NOISE_SEED_HELP "\n"
	"Violations are printed to standard error as they are found. The exit status is 66 if\n"
	"there were any, else the program's own.\n",
	.run = run,
};
