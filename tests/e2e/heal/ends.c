/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A lost update, and then the program ends, in one of the ways that there are. In the
 * mode "child" it does all of it again in a child, which tells of itself alone.
 *
 * usage: ends MODE
 */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 50 };
static long count;

static void add(void)
{
	long old = count; /* entry */

	usleep(20);
	count = old + 1; /* end */
}

static void *adds(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		add();
	return unused;
}

static int all(void)
{
	pthread_t threads[THREADS];

	count = 0;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, adds, NULL))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return count != THREADS * ROUNDS;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	int failed = all(), status;

	if (!strcmp(how, "_exit"))
		_exit(failed);
	if (!strcmp(how, "quick_exit"))
		quick_exit(failed);
	if (!strcmp(how, "pthread_exit") && !failed)
		pthread_exit(NULL);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "assert"))
		assert(!"reached");
	if (!strcmp(how, "exec"))
		execl("/bin/true", "true", NULL);
	if (!strcmp(how, "crash"))
		raise(SIGKILL);
	if (!strcmp(how, "child")) {
		pid_t child = fork();

		if (!child)
			_exit(all());
		if (waitpid(child, &status, 0) != child)
			return 2;
		failed |= status;
	}
	if (!strcmp(how, "vfork")) {
		pid_t child = vfork();

		if (!child)
			_exit(0);
		waitpid(child, &status, 0);
	}
	return failed != 0;
}
