/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * measure RESULT COMMAND ARGS...: runs a command and writes one line to RESULT:
 *
 *   wait status, user CPU s, system CPU s, wall-clock s, peak RSS in KB, instructions
 *
 * CPU time and instructions are those of the command and of all children that
 * it waited for; the peak is the largest of one process. Instructions are user
 * space only, and -1 where the machine does not count them.
 *
 * It is a program of its own and a small one, because the kernel's peak RSS of
 * a process begins with that of the process which forked it: started from an
 * interpreter, a workload of 2 MB would seem to need 15.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int counter_open(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static double seconds(struct timeval t)
{
	return t.tv_sec + t.tv_usec / 1e6;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	int64_t instructions = -1;
	int status, counter;
	double begin;
	pid_t child;
	FILE *result;

	if (argc < 3) {
		fprintf(stderr, "usage: measure RESULT COMMAND [ARGUMENT]...\n");
		return 1;
	}
	counter = counter_open();
	/* What the command leaves running for itself, a checker, is part of its cost. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	begin = now();
	child = fork();
	if (child == 0) {
		execv(argv[2], argv + 2);
		fprintf(stderr, "measure: cannot run %s: %s\n", argv[2], strerror(errno));
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) != child) {
		fprintf(stderr, "measure: cannot start or await %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	struct rusage left;

	while (wait4(-1, NULL, 0, &left) > 0) {
		timeradd(&usage.ru_utime, &left.ru_utime, &usage.ru_utime);
		timeradd(&usage.ru_stime, &left.ru_stime, &usage.ru_stime);
		if (left.ru_maxrss > usage.ru_maxrss)
			usage.ru_maxrss = left.ru_maxrss;
	}
	begin = now() - begin;
	if (counter >= 0 && read(counter, &instructions, sizeof(instructions)) != sizeof(instructions))
		instructions = -1;
	result = fopen(argv[1], "w");
	if (!result) {
		fprintf(stderr, "measure: cannot write %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	fprintf(result, "%d %.6f %.6f %.6f %ld %lld\n", status, seconds(usage.ru_utime),
		seconds(usage.ru_stime), begin, usage.ru_maxrss, (long long)instructions);
	return fclose(result) != 0;
}
