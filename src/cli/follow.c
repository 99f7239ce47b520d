/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The checker's process. It is started by the runtime of the program, with the
 * descriptors that abi/live.h names and the program's environment, so the options
 * of the runtime (ATOMSAN_OPTIONS) are its own.
 *
 * In the folder `results` a file PROCESS.CHECKER stands for a checker at work
 * while it is empty; at the end it has one line with the number of findings.
 */
#include "cli/follow.h"

#include "abi/live.h"
#include "cli/rtoption.h"
#include "trace/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Messages go where the runtime's go. */
static void open_log(pid_t process)
{
	char *pattern = rtoption_text("log_path");
	char *p = strstr(pattern, "%p"), *path;
	int fd;

	if (*pattern) {
		path = p ? mem_textf("%.*s%d%s", (int)(p - pattern), pattern, (int)process, p + 2)
			 : mem_text(pattern);
		fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (fd >= 0) {
			dup2(fd, 2);
			close(fd);
		}
		free(path);
	}
	free(pattern);
}

static char *result_path(pid_t process)
{
	char *folder = rtoption_text("results");
	char *path = *folder ? mem_textf("%s/%d.%d", folder, (int)process, (int)getpid()) : NULL;

	free(folder);
	return path;
}

static void write_result(const char *path, uint32_t findings)
{
	FILE *file = path ? fopen(path, "we") : NULL;

	if (!file)
		return;
	fprintf(file, "%" PRIu32 "\n", findings);
	fclose(file);
}

int follow(const struct verb *verb)
{
	int keep = fcntl(LIVE_FD_TRACE, F_GETFD) < 0 ? -1 : LIVE_FD_TRACE, got;
	struct err err;
	struct trace_live *live = trace_live_open(LIVE_FD_MEMORY, keep, &err);
	struct trace_live_stats stats;
	struct trace_cursor *cursor;
	struct trace_event e;
	uint64_t events = 0;
	pid_t process;
	char *result;

	if (!live)
		return cli_fail(verb, &err);
	process = (pid_t)trace_live_trace(live)->header.pid;
	open_log(process);
	result = result_path(process);
	if (result)
		close(open(result, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
	/* A reader of what we print may go before we do. */
	signal(SIGPIPE, SIG_IGN);
	if (write(LIVE_FD_READY, "", 1) != 1)
		return cli_failf(verb, "the program is gone");
	close(LIVE_FD_READY);
	close(LIVE_FD_MEMORY);
	cursor = trace_live_cursor(live);
	while ((got = trace_next(cursor, &e)) > 0)
		events++;
	if (got < 0)
		cli_fail(verb, trace_cursor_error(cursor));
	if (trace_live_finish(live, &err))
		cli_fail(verb, &err);
	trace_live_stats(live, &stats);
	if (rtoption_number("verbosity"))
		fprintf(stderr,
			"atomsan: %" PRIu64 " events of process %d, %" PRIu64 " windows, %" PRIu64
			" rounds, %" PRIu64 " naps\n",
			events, (int)process, stats.windows, stats.rounds, stats.naps);
	write_result(result, 0);
	trace_live_verdict(live, 0);
	trace_live_close(live);
	free(result);
	return got < 0 ? CLI_FAILED : CLI_OK;
}

/* ---- for `atomsan run` ---- */

/* Calls `visit` with process, checker and content of each file; content is "" while the checker works. */
static void each(const char *folder,
		 void (*visit)(void *user, pid_t process, pid_t checker, const char *text), void *user)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char *path = mem_textf("%s/%s", folder, entry->d_name);
		char text[64] = "";
		int process, checker;
		FILE *file;

		if (sscanf(entry->d_name, "%d.%d", &process, &checker) == 2 && (file = fopen(path, "re"))) {
			if (!fgets(text, sizeof text, file))
				text[0] = 0;
			fclose(file);
			visit(user, process, checker, text);
		}
		free(path);
	}
	if (directory)
		closedir(directory);
}

struct at_work {
	pid_t process;
	int count;
};

static void count_at_work(void *user, pid_t process, pid_t checker, const char *text)
{
	struct at_work *work = user;

	/* One that was killed left an empty file. */
	work->count += process == work->process && !*text && (!kill(checker, 0) || errno != ESRCH);
}

int follow_at_work(const char *folder, pid_t process)
{
	struct at_work work = {process, 0};

	each(folder, count_at_work, &work);
	return work.count;
}

static void add_result(void *user, pid_t process, pid_t checker, const char *text)
{
	struct follow_results *results = user;

	(void)process;
	(void)checker;
	results->checked++;
	if (*text)
		results->findings += (uint32_t)strtoul(text, NULL, 10);
	else
		results->failed++;
}

void follow_results(const char *folder, struct follow_results *results)
{
	*results = (struct follow_results){0};
	each(folder, add_result, results);
}
