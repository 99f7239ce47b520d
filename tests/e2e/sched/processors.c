/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * All threads of a scheduled program are kept on one processor, and the program does
 * not see it: whoever asks is told what the process that started it may use, and a
 * child process may use it. Who chooses for itself is let.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void expect(int condition, const char *what)
{
	if (condition)
		return;
	pthread_mutex_lock(&lock);
	failures++;
	pthread_mutex_unlock(&lock);
	fprintf(stderr, "not so: %s\n", what);
}

/* How many processors the kernel lets the calling thread use. */
static int really(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	return syscall(SYS_sched_getaffinity, 0, sizeof(set), &set) < 0 ? -1 : CPU_COUNT(&set);
}

static int as_told(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? -1 : CPU_COUNT(&set);
}

/* Those of the process that started this one. */
static int before(void)
{
	char path[64], line[256];
	int count = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)getppid());
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "Cpus_allowed:", 13))
			for (const char *s = line + 13; *s; s++)
				if (*s != ',' && *s > ' ')
					count += __builtin_popcountl(strtoul((char[]){*s, 0}, NULL, 16));
	if (file)
		fclose(file);
	return count;
}

static void *work(void *expected)
{
	cpu_set_t set;

	expect(really() == 1, "a thread is on the one processor");
	expect(!pthread_getaffinity_np(pthread_self(), sizeof(set), &set) &&
		       CPU_COUNT(&set) == *(int *)expected,
	       "a thread is told of all processors");
	return NULL;
}

int main(void)
{
	int expected = before(), status;
	pthread_t threads[2];
	cpu_set_t set;
	pid_t child;

	expect(expected > 0, "the parent may use processors");
	expect(as_told() == expected, "main is told of all processors");
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &expected);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	child = fork();
	if (!child)
		_exit(really() != expected || as_told() != expected);
	expect(waitpid(child, &status, 0) == child && status == 0, "a child may use all processors");
	expect(!sched_getaffinity(0, sizeof(set), &set), "main can ask");
	for (int i = 0, kept = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set) && kept++ >= 2)
			CPU_CLR(i, &set);
	expect(!sched_setaffinity(0, sizeof(set), &set) && really() == CPU_COUNT(&set) &&
		       as_told() == CPU_COUNT(&set),
	       "main may choose");
	return failures != 0;
}
