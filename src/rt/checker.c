/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The checker's process, as seen from the program: started before main in a
 * session of its own, so that what ends the program at the terminal does not end
 * the checker, and as nobody's child, so that a program that waits for all its
 * children never meets it.
 */
#include "rt/follow.h"
#include "rt/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>

/* Where `atomsan cc` found itself; see object.sh. */
extern const char __atomsan_checker[] __attribute__((weak, visibility("hidden")));

static bool begins(const char *text, const char *with)
{
	while (*with && *text == *with) {
		text++;
		with++;
	}
	return !*with;
}

/* Becomes the checker, if there is one at the path. */
static void become(const char *path, char **envp)
{
	char *argv[] = {(char *)path, "run", "--follow", NULL};

	sys3(execve, path, argv, envp);
}

static void become_by_path(char **envp)
{
	const char *path = NULL;

	for (char **e = envp; *e; e++)
		if (begins(*e, "PATH="))
			path = *e + 5;
	while (path && *path) {
		char file[4096];
		uint64_t n = 0;

		for (; *path && *path != ':'; path++)
			if (n < sizeof file - 16)
				file[n++] = *path;
		if (*path)
			path++;
		if (!n || n >= sizeof file - 16)
			continue;
		for (const char *name = "/atomsan"; *name; name++)
			file[n++] = *name;
		file[n] = 0;
		become(file, envp);
	}
}

/* In the new process: these descriptors and no others. Never returns. */
static void turn_into_checker(int memory, int ready, int trace, char **envp)
{
	/* All to high numbers first, lest one overwrite another. */
	long from[] = {memory, ready, trace};
	static const int to[] = {LIVE_FD_MEMORY, LIVE_FD_READY, LIVE_FD_TRACE};
	uint64_t no_signals = 0;
	long nothing;
	char **e = envp;

	for (int i = 0; i < 3; i++)
		if (from[i] >= 0)
			from[i] = sys3(fcntl, from[i], F_DUPFD, 64);
	nothing = sys3(open, "/dev/null", O_RDWR, 0);
	if (!sys_failed(nothing)) {
		sys3(dup3, nothing, 0, 0);
		sys3(dup3, nothing, 1, 0);
	}
	for (int i = 0; i < 3; i++) {
		sys1(close, to[i]);
		if (from[i] >= 0)
			sys3(dup3, from[i], to[i], 0);
	}
	sys3(close_range, LIVE_FD_TRACE + 1, ~0u, 0);
	sys4(rt_sigprocmask, 2 /* SIG_SETMASK */, &no_signals, 0, 8);
	/* What is loaded into the program is not meant for the checker. */
	for (char **v = envp; *v; v++)
		if (!begins(*v, "LD_PRELOAD=") && !begins(*v, "LD_AUDIT="))
			*e++ = *v;
	*e = NULL;
	if (*rt_options.checker) {
		become(rt_options.checker, envp);
	} else {
		if (__atomsan_checker)
			become(__atomsan_checker, envp);
		become_by_path(envp);
	}
	sys1(exit_group, 127);
}

bool checker_start(int memory, int trace, char **envp)
{
	int pipe[2] = {-1, -1}, status;
	long child, got = 0;
	char ready;

	if (sys_failed(sys2(pipe2, pipe, O_CLOEXEC)))
		return false;
	/* Without a signal at its end, so that nobody's wait() finds it. */
	child = sys6(clone, 0, 0, 0, 0, 0, 0);
	if (!child) {
		sys0(setsid);
		child = sys6(clone, 0, 0, 0, 0, 0, 0);
		if (!child)
			turn_into_checker(memory, pipe[1], trace, envp);
		sys1(exit_group, 0);
	}
	sys1(close, pipe[1]);
	if (!sys_failed(child)) {
		while (sys4(wait4, child, &status, __WALL, 0) == -EINTR)
			;
		/* A byte, or the end of the pipe if the checker is not to be had. */
		do
			got = sys3(read, pipe[0], &ready, 1);
		while (got == -EINTR);
	}
	sys1(close, pipe[0]);
	if (got == 1)
		return true;
	rt_say("the checker cannot be started: is atomsan still where it was when the program was linked, or "
	       "in "
	       "PATH? "
	       "ATOMSAN_OPTIONS=checker=FILE tells where it is; the program runs unchecked");
	return false;
}

int checker_verdict(int wait_status)
{
	struct timespec while_it_lives = {0, 50000000};

	if (!rt_live)
		return wait_status;
	__atomic_fetch_add(&rt_live->sealed, 1, __ATOMIC_SEQ_CST);
	sys3(futex, &rt_live->sealed, FUTEX_WAKE, 1);
	while (!__atomic_load_n(&rt_live->done, __ATOMIC_ACQUIRE)) {
		if (follow_checker_gone()) {
			rt_say("the checker ended before its work was done");
			return wait_status;
		}
		sys4(futex, &rt_live->done, FUTEX_WAIT, 0, &while_it_lives);
	}
	if (rt_live->findings && rt_options.exitcode)
		return W_EXITCODE((int)rt_options.exitcode & 0xff, 0);
	return wait_status;
}
