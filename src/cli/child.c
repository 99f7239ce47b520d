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
	execvp(child->argv[0], child->argv);
	error = errno;
	while (write(pipe, &error, sizeof error) < 0 && errno == EINTR)
		;
	_exit(127);
}

pid_t child_start(const struct child *child, struct err *err)
{
	struct sigaction forward = {.sa_handler = pass_on};
	int ends[2], error = 0;
	ssize_t got;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(err, "cannot make a pipe: %s", strerror(errno));
	running = fork();
	if (running < 0) {
		close(ends[0]);
		close(ends[1]);
		return err_set(err, "cannot start another process: %s", strerror(errno));
	}
	if (!running)
		become(child, ends[1]);
	sigaction(SIGINT, &forward, NULL);
	sigaction(SIGTERM, &forward, NULL);
	sigaction(SIGHUP, &forward, NULL);
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
