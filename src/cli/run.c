/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `atomsan run`: run an instrumented program with a checker beside it. */
#include "cli/cli.h"
#include "cli/follow.h"
#include "cli/rtoption.h"

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

static pid_t child;

static void pass_on(int signal)
{
	if (child > 0)
		kill(child, signal);
}

static char *absolute(const char *path)
{
	char *folder = path[0] == '/' ? mem_text("") : getcwd(NULL, 0);
	char *whole = mem_textf("%s%s%s", folder ? folder : "", path[0] == '/' ? "" : "/", path);

	free(folder);
	return whole;
}

/* ATOMSAN_OPTIONS with what this verb wants before what the user has set already. */
static void set_options(const char *self, const char *folder, const char *keep, const char *buffer, int halt,
			int verbose)
{
	const char *old = getenv("ATOMSAN_OPTIONS");
	char *options = mem_textf("check=1:checker=%s:results=%s%s%s%s%s%s%s%s%s", self, folder,
				  keep ? ":record=" : "", keep ? keep : "", buffer ? ":buffer=" : "",
				  buffer ? buffer : "", halt ? ":halt_on_error=1" : "",
				  verbose ? ":verbosity=1" : "", old && *old ? ":" : "", old ? old : "");

	setenv("ATOMSAN_OPTIONS", options, 1);
	free(options);
}

static void remove_folder(const char *folder)
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
	rmdir(folder);
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

/* The exit status of all this. */
static int judge(const char *folder, int status, const char *program)
{
	struct follow_results results;
	int exitcode = (int)rtoption_number("exitcode") & 0xff;

	follow_results(folder, &results);
	remove_folder(folder);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127 && !results.checked)
		return CLI_FAILED;
	if (!results.checked)
		return cli_failf(&verb_run, "%s was not checked: was it built with 'atomsan cc'?", program);
	if (results.failed)
		return cli_failf(&verb_run, "%u of %u checkers ended before their work was done",
				 results.failed, results.checked);
	if (results.findings && exitcode)
		return exitcode;
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	/* Die as it died, so that whoever waits for us sees the same; its core dump is enough. */
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

static int run(int argc, char **argv)
{
	const char *keep = NULL, *buffer = NULL, *temporary = getenv("TMPDIR");
	int halt = 0, verbose = 0, following = 0, first, status = 0;
	const struct cli_option options[] = {
		{"--keep-trace", &keep, NULL},    {"--buffer", &buffer, NULL},
		{"--halt-on-error", NULL, &halt}, {"--verbose", NULL, &verbose},
		{"--follow", NULL, &following},   {NULL, NULL, NULL},
	};
	struct sigaction forward = {.sa_handler = pass_on};
	struct err err;
	char *self, *folder, *trace = NULL;

	first = cli_options(&verb_run, argc, argv, options);
	if (first < 0)
		return first == -2 ? CLI_OK : CLI_FAILED;
	if (following)
		return follow(&verb_run);
	if (first >= argc)
		return cli_failf(&verb_run, "which program? usage: atomsan run %s", verb_run.synopsis);
	if (buffer && (!*buffer || strspn(buffer, "0123456789") != strlen(buffer)))
		return cli_failf(&verb_run, "--buffer takes megabytes, not '%s'", buffer);
	if (keep && strchr(keep, ':'))
		return cli_failf(&verb_run, "the trace's name may not have a colon: %s", keep);
	self = cli_self(&err);
	if (!self)
		return cli_fail(&verb_run, &err);
	trace = keep ? absolute(keep) : NULL;
	if (trace && unlink(trace) < 0 && errno != ENOENT)
		return cli_failf(&verb_run, "%s: cannot be replaced: %s", keep, strerror(errno));
	folder = mem_textf("%s/atomsan-run-XXXXXX",
			   temporary && *temporary == '/' && !strchr(temporary, ':') ? temporary : "/tmp");
	if (!mkdtemp(folder))
		return cli_failf(&verb_run, "%s: cannot be made: %s", folder, strerror(errno));
	set_options(self, folder, trace, buffer, halt, verbose);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child = fork();
	if (child < 0) {
		remove_folder(folder);
		return cli_failf(&verb_run, "cannot start another process: %s", strerror(errno));
	}
	if (!child) {
		execvp(argv[first], argv + first);
		fprintf(stderr, "atomsan run: %s: %s\n", argv[first], strerror(errno));
		_exit(127);
	}
	sigaction(SIGINT, &forward, NULL);
	sigaction(SIGTERM, &forward, NULL);
	sigaction(SIGHUP, &forward, NULL);
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
	.help = "  --halt-on-error     end the program at the first violation\n"
		"  --keep-trace FILE   also leave the whole trace\n"
		"  --buffer MB         how far the program may be ahead of its checker (default 64)\n"
		"  --verbose           say what is done\n"
		"\n"
		"The exit status is 66 if there were violations, else the program's own.\n",
	.run = run,
};
