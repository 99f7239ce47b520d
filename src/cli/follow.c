/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The checker's process. It is started by the runtime of the program, with the
 * descriptors that abi/live.h names and the program's environment, so the options
 * of the runtime (ATOMSAN_OPTIONS) are its own.
 *
 * In the folder `results` a file PROCESS.CHECKER stands for a checker at work
 * while it is empty; at the end it has the checker's exit status, and beside it
 * lies PROCESS.CHECKER.json if JSON was asked for.
 */
#include "cli/follow.h"

#include "abi/live.h"
#include "cli/rtoption.h"
#include "finding/suppress.h"
#include "report/text.h"
#include "trace/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
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

/* Names of files in options are meant from where the program was started. */
static void go_where_it_began(const struct trace *trace)
{
	char *folder = strndup(trace->cwd.data ? trace->cwd.data : "", trace->cwd.length);

	if (folder && *folder && chdir(folder))
		fprintf(stderr, "atomsan run: cannot go to %s, where the program was started: %s\n", folder,
			strerror(errno));
	free(folder);
}

static char *result_path(pid_t process)
{
	char *folder = rtoption_text("results");
	char *path = *folder ? mem_textf("%s/%d.%d", folder, (int)process, (int)getpid()) : NULL;

	free(folder);
	return path;
}

static void write_result(const char *path, int status)
{
	FILE *file = path ? fopen(path, "we") : NULL;

	if (!file)
		return;
	fprintf(file, "%d\n", status);
	fclose(file);
}

/* ---- findings as they are found ---- */

struct watch {
	const struct verb *verb;
	struct trace_live *live;
	struct report_options look;
	struct suppress_list suppressions;
	bool halt;
};

static void read_suppressions(struct watch *watch, const struct publish *publish)
{
	const char *path = publish->suppressions ? publish->suppressions : "atomsan.supp";

	/* What is wrong with them is said at the end, when they are read again for the whole list. */
	if (publish->suppressions || !access(path, F_OK))
		suppress_read(&watch->suppressions, path, time(NULL), NULL);
}

/* In one write, lest the program's own lines come in between. */
static void found(void *user, const struct finding_list *list, const struct finding *finding)
{
	struct watch *watch = user;
	char *text = NULL;
	size_t length = 0;
	FILE *out;

	if (suppress_match(&watch->suppressions, finding))
		return;
	out = open_memstream(&text, &length);
	if (out) {
		report_text_finding(out, list, finding, &watch->look);
		putc('\n', out);
		fclose(out);
		fwrite(text, 1, length, stderr);
		fflush(stderr);
		free(text);
	}
	if (watch->halt)
		trace_live_halt(watch->live);
}

/* Checks to the end. The exit status, and in the list what was found. */
static int check(struct watch *watch, struct follow_options *options, struct finding_list *list)
{
	struct trace *trace = trace_live_trace(watch->live);
	struct trace_cursor *cursor = trace_live_cursor(watch->live);
	struct serial_options serial_options;
	struct serial *serial;
	struct err err;
	int more, status = CLI_OK;

	options->checking.list = list;
	if (checking_prepare(&options->checking, trace, &serial_options, &err) < 0)
		return cli_fail(watch->verb, &err);
	serial_describe_run(trace, list);
	serial_options.found = found;
	serial_options.user = watch;
	serial_options.model.entire = trace_live_entire(watch->live, &serial_options.model.entire_count);
	serial = serial_new(trace, &serial_options, list);
	more = serial_all(serial, cursor);
	if (more < 0)
		status = cli_fail(watch->verb, trace_cursor_error(cursor));
	if (trace_live_finish(watch->live, &err))
		status = cli_fail(watch->verb, &err);
	serial_finish(serial);
	serial_free(serial);
	return status;
}

/* CPU time of another process so far; negative if it is gone. */
static double seconds_of(pid_t process)
{
	char *path = mem_textf("/proc/%d/stat", (int)process), text[1024];
	FILE *file = fopen(path, "re");
	size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
	unsigned long user, system;
	const char *at;

	free(path);
	if (file)
		fclose(file);
	text[length] = 0;
	/* The name of the program may hold anything; nothing behind it does. */
	at = strrchr(text, ')');
	if (!at ||
	    sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
		return -1;
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* What it cost. The program waits for our verdict, so it has used up what it will. */
static void count_seconds(struct finding_list *list, pid_t process, const struct cost *cost)
{
	double program = seconds_of(process);

	if (program >= 0)
		cost_count(cost, list, program, cost_own(), 1);
}

static void say_what_was_done(struct trace_live *live, const struct finding_list *list)
{
	struct trace_live_stats stats;
	double events = 0;

	for (uint32_t i = 0; i < list->count_count; i++)
		if (!strcmp(list->counts[i].name, "events"))
			events = list->counts[i].value;
	trace_live_stats(live, &stats);
	fprintf(stderr,
		"atomsan: %.0f events of process %" PRIu32 ", in %" PRIu64 " windows, %" PRIu64
		" rounds and %" PRIu64 " naps; %" PRIu64 " of %" PRIu64 " calls met nobody, %" PRIu64
		" were silent and spoken for %" PRIu64 " times\n",
		events, trace_live_trace(live)->header.pid, stats.windows, stats.rounds, stats.naps,
		stats.unmet, stats.calls, stats.silent, stats.spoken);
}

int follow(const struct verb *verb, struct follow_options *options)
{
	int keep = fcntl(LIVE_FD_TRACE, F_GETFD) < 0 ? -1 : LIVE_FD_TRACE, status, published;
	struct watch watch = {.verb = verb, .halt = rtoption_number("halt_on_error")};
	struct trace_live_stats stats;
	struct finding_list *list;
	FILE *document = NULL;
	struct err err;
	pid_t process;
	char *result;

	watch.live = trace_live_open(LIVE_FD_MEMORY, keep, &err);
	if (!watch.live)
		return cli_fail(verb, &err);
	process = (pid_t)trace_live_trace(watch.live)->header.pid;
	go_where_it_began(trace_live_trace(watch.live));
	open_log(process);
	report_options_init(&watch.look, stderr);
	watch.look.strip_path_prefix = options->publish.strip_path_prefix;
	read_suppressions(&watch, &options->publish);
	result = result_path(process);
	if (result)
		close(open(result, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
	if (keep >= 0 || checking_beyond_calls(&options->checking))
		trace_live_want_all(watch.live);
	/* Who reads what we print may be gone before we are. */
	signal(SIGPIPE, SIG_IGN);
	if (write(LIVE_FD_READY, "", 1) != 1)
		return cli_failf(verb, "the program is gone");
	close(LIVE_FD_READY);
	close(LIVE_FD_MEMORY);
	list = finding_list_new("run");
	status = check(&watch, options, list);
	count_seconds(list, process, &options->cost);
	trace_live_stats(watch.live, &stats);
	if (stats.unmet)
		finding_add_count(list, "calls that met nobody, left out", (double)stats.unmet);
	if (rtoption_number("verbosity"))
		say_what_was_done(watch.live, list);
	if (result && options->publish.json) {
		char *path = mem_textf("%s" FOLLOW_DOCUMENT, result);

		document = fopen(path, "we");
		free(path);
	}
	options->publish.out = document ? document : stderr;
	options->publish.json = document != NULL;
	options->publish.told = true;
	published = findings_publish(verb, list, &options->publish);
	if (document)
		fclose(document);
	if (status == CLI_OK)
		status = published;
	write_result(result, status);
	trace_live_verdict(watch.live, published == CLI_FINDINGS);
	suppress_release(&watch.suppressions);
	checking_release(&options->checking);
	trace_live_close(watch.live);
	free(result);
	return status;
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
		int process, checker, end = 0;
		FILE *file;

		if (sscanf(entry->d_name, "%d.%d%n", &process, &checker, &end) == 2 && !entry->d_name[end] &&
		    (file = fopen(path, "re"))) {
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
	/* It is about to end; waited for, its time counts as ours. */
	if (*text && checker > 0)
		waitpid(checker, NULL, 0);
	results->checked++;
	results->findings += atoi(text) == CLI_FINDINGS;
	results->failed += !*text || (atoi(text) != CLI_OK && atoi(text) != CLI_FINDINGS);
}

void follow_results(const char *folder, struct follow_results *results)
{
	*results = (struct follow_results){0};
	each(folder, add_result, results);
}
