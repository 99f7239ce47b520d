/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pid_t running;
static volatile sig_atomic_t passed_on;

static void pass_on(int signal)
{
	passed_on = signal;
	if (running > 0)
		kill(running, signal);
}

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
#define ENDING (sizeof ending / sizeof *ending)

void child_expect_signals(void)
{
	struct sigaction forward = {.sa_handler = pass_on}, before;

	for (size_t i = 0; i < ENDING; i++)
		/* What nohup made us ignore, the program ignores as well. */
		if (!sigaction(ending[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(ending[i], &forward, NULL);
}

static void do_not_pass_on(void)
{
	struct sigaction now;

	for (size_t i = 0; i < ENDING; i++)
		if (!sigaction(ending[i], NULL, &now) && now.sa_handler == pass_on)
			signal(ending[i], SIG_DFL);
}

static bool redirect(const char *path, int descriptor)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return file >= 0 && dup2(file, descriptor) >= 0;
}

/* Says on the pipe why it cannot be what it should. */
static void become(const struct child *child, int pipe)
{
	int error;

	if (child->options)
		setenv("ATOMSAN_OPTIONS", child->options, 1);
	if (child->goes_with_us)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (child->to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if ((!child->output || redirect(child->output, STDOUT_FILENO)) &&
	    (!child->errors || redirect(child->errors, STDERR_FILENO)))
		execvp(child->argv[0], child->argv);
	error = errno;
	while (write(pipe, &error, sizeof error) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* A signal comes before there is a child, and it gets it as soon as it is there, or while `running` is it. */
static pid_t start(const struct child *child, int pipe)
{
	sigset_t signals, before;

	sigemptyset(&signals);
	for (size_t i = 0; i < ENDING; i++)
		sigaddset(&signals, ending[i]);
	sigprocmask(SIG_BLOCK, &signals, &before);
	running = fork();
	if (!running) {
		do_not_pass_on();
		sigprocmask(SIG_SETMASK, &before, NULL);
		become(child, pipe);
	}
	if (running > 0 && passed_on)
		kill(running, passed_on);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return running;
}

pid_t child_start(const struct child *child, struct err *err)
{
	int ends[2], error = 0;
	ssize_t got;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(err, "cannot make a pipe: %s", strerror(errno));
	child_expect_signals();
	if (start(child, ends[1]) < 0) {
		close(ends[0]);
		close(ends[1]);
		return err_set(err, "cannot start another process: %s", strerror(errno));
	}
	close(ends[1]);
	while ((got = read(ends[0], &error, sizeof error)) < 0 && errno == EINTR)
		;
	close(ends[0]);
	if (got != sizeof error)
		return running;
	while (waitpid(running, NULL, 0) < 0 && errno == EINTR)
		;
	running = 0;
	return err_set(err, "%s: %s", child->argv[0], strerror(error));
}

int child_wait(uint32_t seconds, int *status, struct err *err)
{
	struct timespec moment = {0, 5000000};
	time_t end = time(NULL) + seconds;
	pid_t got;

	while ((got = waitpid(running, status, seconds ? WNOHANG : 0)) <= 0) {
		if (got < 0 && errno != EINTR)
			return err_set(err, "lost the program: %s", strerror(errno));
		if (got < 0)
			continue;
		if (time(NULL) > end)
			kill(running, SIGKILL);
		nanosleep(&moment, NULL);
	}
	running = 0;
	return 0;
}

int child_signal(void)
{
	return passed_on;
}

int child_end(int status)
{
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	/* Its core dump is enough. */
	prctl(PR_SET_DUMPABLE, 0);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}
