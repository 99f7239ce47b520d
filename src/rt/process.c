/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The process: fork, exec, and the ways to end at once. exit() and returning
 * from main end in the runtime's own destructor.
 */
#include "rt/process.h"
#include "rt/create.h"
#include "rt/heal.h"
#include "rt/real.h"
#include "rt/scheduler.h"

#include <alloca.h>
#include <assert.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * A child must leave its parent's trace alone from its first instruction on,
 * so the change is made by the first of the atfork handlers, before any of the
 * program's; that also serves what forks inside libc (daemon, forkpty).
 */
static void begin_child(void)
{
	sched_fork_child();
	if (unlikely(rt_watching))
		watch_fork_child();
	rt_record_fork_child();
	create_fork_child();
}

void rt_process_init(void)
{
	static bool done;

	if (!__atomic_exchange_n(&done, true, __ATOMIC_RELAXED))
		pthread_atfork(NULL, NULL, begin_child);
}

INTERPOSER pid_t fork(void)
{
	const struct atomsan_site *site = rt_take_site();
	pid_t pid = REAL(fork)();

	if (pid > 0)
		sched.forked = true;
	if (pid > 0)
		rt_op_value(TRACE_OP_FORK, 0, NULL, pid, site);
	return pid;
}

/* POSIX lets vfork be fork. Sharing the parent's memory and thread-local
 * storage, a child would write into the trace as its parent. */
INTERPOSER pid_t vfork(void)
{
	return fork();
}

/* The one that runs no atfork handlers. */
INTERPOSER pid_t _Fork(void)
{
	const struct atomsan_site *site = rt_take_site();
	pid_t pid = REAL(_Fork)();

	if (pid > 0)
		sched.forked = true;
	if (pid > 0)
		rt_op_value(TRACE_OP_FORK, 0, NULL, pid, site);
	else if (pid == 0)
		begin_child();
	return pid;
}

/* An EXEC after which the thread goes on is one that failed. */
/* What has been healed so far: it may be the last that is heard of this program. */
static void tell_healed(void)
{
	if (unlikely(rt_watching & WATCH_HEAL))
		heal_finish();
}

static void executing(void)
{
	tell_healed();
	rt_op(TRACE_OP_EXEC, 0, NULL, rt_take_site());
	sched_cpu_end(0);
}

INTERPOSER int execve(const char *path, char *const argv[], char *const envp[])
{
	executing();
	return REAL(execve)(path, argv, envp);
}

INTERPOSER int execv(const char *path, char *const argv[])
{
	executing();
	return REAL(execve)(path, argv, environ);
}

INTERPOSER int execvp(const char *file, char *const argv[])
{
	executing();
	return REAL(execvpe)(file, argv, environ);
}

INTERPOSER int execvpe(const char *file, char *const argv[], char *const envp[])
{
	executing();
	return REAL(execvpe)(file, argv, envp);
}

INTERPOSER int fexecve(int file, char *const argv[], char *const envp[])
{
	executing();
	return REAL(fexecve)(file, argv, envp);
}

INTERPOSER int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
	executing();
	return REAL(execveat)(folder, path, argv, envp, flags);
}

/* The arguments of an execl form as an array on the stack; `list` is left behind the NULL. */
#define COLLECT(first, list, argv)                             \
	do {                                                   \
		size_t count = 1;                              \
		va_list ahead;                                 \
                                                               \
		va_copy(ahead, list);                          \
		while (va_arg(ahead, char *))                  \
			count++;                               \
		va_end(ahead);                                 \
		(argv) = alloca((count + 1) * sizeof(char *)); \
		(argv)[0] = (char *)(first);                   \
		for (size_t i = 1; i <= count; i++)            \
			(argv)[i] = va_arg(list, char *);      \
	} while (0)

INTERPOSER int execl(const char *path, const char *first, ...)
{
	char **argv;
	va_list list;

	executing();
	va_start(list, first);
	COLLECT(first, list, argv);
	va_end(list);
	return REAL(execve)(path, argv, environ);
}

INTERPOSER int execlp(const char *file, const char *first, ...)
{
	char **argv;
	va_list list;

	executing();
	va_start(list, first);
	COLLECT(first, list, argv);
	va_end(list);
	return REAL(execvpe)(file, argv, environ);
}

INTERPOSER int execle(const char *path, const char *first, ...)
{
	char **argv;
	char **envp;
	va_list list;

	executing();
	va_start(list, first);
	COLLECT(first, list, argv);
	envp = va_arg(list, char **);
	va_end(list);
	return REAL(execve)(path, argv, envp);
}

/* `shown` is what a shell would show of it. */
static void ending(int shown)
{
	rt_op_value(TRACE_OP_EXIT_PROCESS, 0, NULL, (uint64_t)shown, rt_take_site());
}

/* The status to end with. */
static int exiting(int status)
{
	int end, watched = status & 0xff;

	ending(status & 0xff);
	if (unlikely(rt_watching))
		watched = watch_finish(status & 0xff);
	end = WEXITSTATUS(rt_record_finish(W_EXITCODE(status & 0xff, 0)));
	return end == (status & 0xff) ? watched : end;
}

static void aborting(void)
{
	tell_healed();
	ending(128 + SIGABRT);
	rt_record_aborting(W_EXITCODE(0, SIGABRT));
}

INTERPOSER void _exit(int status)
{
	REAL(_exit)(exiting(status));
}

INTERPOSER void _Exit(int status)
{
	REAL(_exit)(exiting(status));
}

/* Its handlers still run, and are recorded: a finished trace goes on growing. */
INTERPOSER void quick_exit(int status)
{
	REAL(quick_exit)(exiting(status));
}

/* A handler may yet save the process by longjmp; then its real end says so again. */
INTERPOSER void abort(void)
{
	aborting();
	REAL(abort)();
}

/* libc calls its own abort from here. */
INTERPOSER void __assert_fail(const char *condition, const char *file, unsigned line, const char *function)
{
	if (rt_self.sched)
		sched_say_assertion(condition, file, line, function);
	aborting();
	REAL(__assert_fail)(condition, file, line, function);
}
