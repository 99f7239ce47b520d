/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/run_inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* More output than this is an error of the program's, told to it when it writes. */
#define OUTPUT_MAX (64u << 20)
enum { TRACE_MB = 128, PADDED = 512 };

double run_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int run_stop_fd = -1;

void run_adopt(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* ---- starting ---- */

static int memory(const char *name, struct err *err)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		err_set(err, "cannot get memory for a run: %s", strerror(errno));
	return fd;
}

static int write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			text += n;
			left -= (size_t)n;
		}
	}
	return 0;
}

/* The schedule or the hints, where the runtime can read them. */
static int prepare_file(struct run *run, struct err *err)
{
	const struct run_setup *setup = &run->setup;
	char path[64];

	if (!setup->schedule && !setup->hints)
		return 0;
	run->file_fd = memory("atomsan-schedule", err);
	if (run->file_fd < 0)
		return -1;
	if (setup->hints)
		return write_all(run->file_fd, setup->hints) ? err_set(err, "cannot hand over the hints") : 0;
	snprintf(path, sizeof path, "/proc/self/fd/%d", run->file_fd);
	return schedule_put(setup->schedule, path, err);
}

static int prepare_report(struct run *run, struct err *err)
{
	run->report_fd = memory("atomsan-report", err);
	if (run->report_fd < 0)
		return -1;
	if (ftruncate(run->report_fd, sizeof *run->report) < 0)
		return err_set(err, "cannot get memory for a run: %s", strerror(errno));
	run->report = mmap(NULL, sizeof *run->report, PROT_READ | PROT_WRITE, MAP_SHARED, run->report_fd, 0);
	if (run->report == MAP_FAILED) {
		run->report = NULL;
		return err_set(err, "cannot get memory for a run: %s", strerror(errno));
	}
	run->report->version = SCHED_REPORT_VERSION;
	if (!run->setup.trace)
		return 0;
	run->trace_fd = memory("atomsan-trace", err);
	snprintf(run->trace_path, sizeof run->trace_path, "/proc/%d/fd/%d", (int)getpid(), run->trace_fd);
	return run->trace_fd < 0 ? -1 : 0;
}

static int prepare_output(struct run *run, struct err *err)
{
	if (!run->setup.expected_output && !run->setup.check)
		return 0;
	run->output_fd = memory("atomsan-output", err);
	if (run->output_fd < 0)
		return -1;
	/* A program that prints without end must not take the machine down with it. */
	if (ftruncate(run->output_fd, OUTPUT_MAX) < 0 ||
	    fcntl(run->output_fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK) < 0)
		return err_set(err, "cannot get memory for the output: %s", strerror(errno));
	return 0;
}

static char *options(const struct run *run)
{
	const struct run_setup *setup = &run->setup;
	const char *old = getenv("ATOMSAN_OPTIONS");
	char file[80] = "", depth[40] = "", lost[40] = "", trace[160] = "", scheduled[80] = "";
	int me = (int)getpid();
	size_t length;
	char *text;

	if (run->file_fd >= 0)
		snprintf(file, sizeof file, ":sched_file=/proc/%d/fd/%d", me, run->file_fd);
	if (setup->depth)
		snprintf(depth, sizeof depth, ":sched_depth=%" PRIu32, setup->depth);
	if (setup->lost)
		snprintf(lost, sizeof lost, ":sched_lost=%s", setup->lost);
	/* The trace is in memory, and a forked child has none. */
	if (setup->trace)
		snprintf(trace, sizeof trace, ":record=%s:max_size=%d:follow_fork=0%s", run->trace_path,
			 TRACE_MB, setup->values ? ":values=1" : "");
	if (setup->strategy)
		snprintf(scheduled, sizeof scheduled, "sched=%s:sched_events=%s:", setup->strategy,
			 setup->every ? "every" : "first");
	/* The later of two wins, and these are ours to say. */
	text = mem_textf("%s%s%s%s%sseed=%" PRIu64 ":sched_report=/proc/%d/fd/%d%s%s%s%s", old ? old : "",
			 old && *old ? ":" : "", setup->options ? setup->options : "",
			 setup->options ? ":" : "", scheduled, setup->seed, me, run->report_fd, file, depth,
			 lost, trace);
	/* The length decides where the stack begins, and addresses should be the same every time. */
	length = strlen(text);
	text = mem_resize(text, (length / PADDED + 1) * PADDED + 1, 1);
	memset(text + length, ':', PADDED - length % PADDED);
	text[(length / PADDED + 1) * PADDED] = 0;
	return text;
}

static void redirect(const struct run *run)
{
	int nothing = run->setup.quiet ? open("/dev/null", O_RDWR | O_CLOEXEC) : -1;

	if (run->output_fd >= 0)
		dup2(run->output_fd, STDOUT_FILENO);
	else if (nothing >= 0)
		dup2(nothing, STDOUT_FILENO);
	if (nothing >= 0) {
		dup2(nothing, STDIN_FILENO);
		dup2(nothing, STDERR_FILENO);
	}
}

/* The debugger sees to it that the program stops where its schedule ends. */
static void execute_debugged(const struct run_setup *setup)
{
	static const char *const words[] = {
		"-q",  "-ex",   "set breakpoint pending on", "-ex", "break __atomsan_schedule_end", "-ex",
		"run", "--args"};
	uint32_t count = 0, n = 0;
	const char **argv;

	while (setup->argv[count])
		count++;
	argv = mem_zalloc(count + sizeof words / sizeof *words + 2, sizeof *argv);
	argv[n++] = setup->debugger;
	for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
		argv[n++] = words[i];
	for (uint32_t i = 0; i < count; i++)
		argv[n++] = setup->argv[i];
	execvp(setup->debugger, (char *const *)argv);
}

/* In the child. */
static void become(const struct run *run, pid_t parent, const char *text)
{
	const struct schedule *schedule = run->setup.schedule;
	sigset_t none;
	int failed;

	/* A debugger needs the terminal, which a group of its own would not have. */
	if (!run->setup.debugger)
		setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent may have died before that. */
	if (getppid() != parent)
		_exit(1);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	personality(ADDR_NO_RANDOMIZE);
	for (uint32_t i = 0; schedule && i < schedule->environment_count; i++)
		putenv(schedule->environment[i]);
	setenv("ATOMSAN_OPTIONS", text, 1);
	redirect(run);
	if (run->setup.debugger)
		execute_debugged(&run->setup);
	else
		execvp(run->setup.argv[0], run->setup.argv);
	failed = errno;
	if (write(run->error_fd, &failed, sizeof failed) < 0)
		_exit(126);
	_exit(127);
}

static int start(struct run *run, struct err *err)
{
	int pipe_fds[2], failed = 0;
	char *text;
	pid_t parent = getpid();

	if (prepare_file(run, err) || prepare_report(run, err) || prepare_output(run, err))
		return -1;
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return err_set(err, "cannot start another process: %s", strerror(errno));
	text = options(run);
	run->error_fd = pipe_fds[1];
	run->began = run_now();
	fflush(NULL);
	run->pid = fork();
	if (!run->pid)
		become(run, parent, text);
	free(text);
	close(pipe_fds[1]);
	run->error_fd = -1;
	if (run->pid < 0) {
		close(pipe_fds[0]);
		return err_set(err, "cannot start another process: %s", strerror(errno));
	}
	/* Both do it, for either may be the first to need it. */
	if (!run->setup.debugger)
		setpgid(run->pid, run->pid);
	run->pid_fd = (int)syscall(SYS_pidfd_open, run->pid, 0);
	while (read(pipe_fds[0], &failed, sizeof failed) < 0 && errno == EINTR)
		;
	close(pipe_fds[0]);
	if (failed)
		return err_set(err, "%s: %s", run->setup.debugger ? run->setup.debugger : run->setup.argv[0],
			       strerror(failed));
	return 0;
}

struct run *run_start(const struct run_setup *setup, struct err *err)
{
	struct run *run = mem_zalloc(1, sizeof *run);

	run->setup = *setup;
	run->pid = run->pid_fd = run->report_fd = run->file_fd = run->output_fd = run->error_fd =
		run->trace_fd = -1;
	if (!start(run, err))
		return run;
	run_free(run);
	return NULL;
}

/* ---- ending ---- */

/* Does the process have this run's report in its environment? */
static bool belongs(pid_t pid, const char *mark)
{
	char path[64], *text = NULL;
	size_t room = 0;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	file = fopen(path, "re");
	while (file && !found && getdelim(&text, &room, 0, file) > 0)
		found = strstr(text, mark) != NULL;
	if (file)
		fclose(file);
	free(text);
	return found;
}

/* What the program left running. Descendants whose parents are gone have come to us (run_adopt); other runs
 * may be under way, and their processes are not touched. */
static void end_descendants(const struct run *run)
{
	char path[64], mark[64];
	FILE *file;
	int pid;

	kill(-run->pid, SIGKILL);
	snprintf(mark, sizeof mark, "sched_report=/proc/%d/fd/%d", (int)getpid(), run->report_fd);
	snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
	file = fopen(path, "re");
	while (file && fscanf(file, "%d", &pid) == 1)
		if (getpgid(pid) == run->pid || belongs(pid, mark)) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
	if (file)
		fclose(file);
}

/* Are all threads asleep in a futex, with nobody to wake them? Said of a program whose time is over. */
static bool all_wait(pid_t pid)
{
	char path[300];
	DIR *folder;
	const struct dirent *entry;
	bool any = false, all = true;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	folder = opendir(path);
	while (folder && all && (entry = readdir(folder))) {
		unsigned long limit = 1;
		long number = -1;
		FILE *file;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "/proc/%d/task/%s/syscall", (int)pid, entry->d_name);
		file = fopen(path, "re");
		/* "running" is no number. A wait with a time limit is one that ends. */
		if (!file || fscanf(file, "%ld %*x %*x %*x %lx", &number, &limit) != 2)
			number = -1;
		if (file)
			fclose(file);
		any = true;
		all = number == SYS_futex && !limit;
	}
	if (folder)
		closedir(folder);
	return any && all;
}

static void finish(struct run *run)
{
	if (run->over || run->pid < 0)
		return;
	while (waitpid(run->pid, &run->status, 0) < 0 && errno == EINTR)
		;
	run->over = true;
	end_descendants(run);
}

void run_free(struct run *run)
{
	if (!run)
		return;
	if (run->pid > 0 && !run->over) {
		kill(-run->pid, SIGKILL);
		kill(run->pid, SIGKILL);
		finish(run);
	}
	for (int i = 0; i < 5; i++) {
		int fd = (int[]){run->pid_fd, run->report_fd, run->file_fd, run->output_fd, run->trace_fd}[i];

		if (fd >= 0)
			close(fd);
	}
	if (run->report)
		munmap(run->report, sizeof *run->report);
	free(run);
}

static void time_is_over(struct run *run)
{
	run->timed_out = true;
	run->stuck = all_wait(run->pid);
	kill(-run->pid, SIGKILL);
	kill(run->pid, SIGKILL);
	finish(run);
}

static double end_of(const struct run *run)
{
	return run->setup.timeout_ms ? run->began + run->setup.timeout_ms / 1e3 : 1e18;
}

int run_wait(struct run **runs, uint32_t count, int timeout_ms)
{
	struct pollfd *waits = mem_zalloc(count + 1, sizeof *waits);
	double until = timeout_ms < 0 ? 1e18 : run_now() + timeout_ms / 1e3;
	int found = -1;

	while (found < 0) {
		double time = run_now(), first = until;
		int got;

		for (uint32_t i = 0; i < count; i++) {
			const struct run *run = runs[i];
			double end = run ? end_of(run) : 1e18;

			waits[i] = (struct pollfd){run ? run->pid_fd : -1, POLLIN, 0};
			if (run && run->over)
				found = (int)i;
			if (end < first)
				first = end;
		}
		if (found >= 0)
			break;
		waits[count] = (struct pollfd){run_stop_fd, POLLIN, 0};
		got = poll(waits, count + 1,
			   first > time + 1e6 ? -1
			   : first > time     ? (int)((first - time) * 1e3) + 1
					      : 0);
		if (got < 0 || waits[count].revents)
			break;
		for (uint32_t i = 0; i < count && found < 0; i++)
			if (waits[i].revents) {
				finish(runs[i]);
				found = (int)i;
			}
		time = run_now();
		for (uint32_t i = 0; i < count && found < 0; i++)
			if (runs[i] && time >= end_of(runs[i])) {
				time_is_over(runs[i]);
				found = (int)i;
			}
		if (time >= until)
			break;
	}
	free(waits);
	return found;
}

struct run *run_once(const struct run_setup *setup, struct run_result *result, struct err *err)
{
	struct run *run = run_start(setup, err);

	if (!run)
		return NULL;
	if (run_wait(&run, 1, -1) < 0) {
		err_set(err, "interrupted");
		run_free(run);
		return NULL;
	}
	if (run_judge(run, result, err) < 0) {
		run_free(run);
		return NULL;
	}
	return run;
}

const char *run_trace(const struct run *run)
{
	return run->trace_path;
}
