/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A child has a trace of its own, from the program's first atfork handler on;
 * its threads are counted anew. vfork is fork.
 */
#include "seen.h"

#include <pthread.h>
#include <string.h>
#include <sys/wait.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t in_handler = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t in_child = PTHREAD_MUTEX_INITIALIZER;

static void use(pthread_mutex_t *which)
{
	pthread_mutex_lock(which);
	pthread_mutex_unlock(which);
}

static void handler(void)
{
	use(&in_handler);
}

static void *thread_of_child(void *unused)
{
	use(&in_child);
	return unused;
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	NAME(mutex);
	NAME(in_handler);
	NAME(in_child);
	pthread_atfork(NULL, NULL, handler);
	use(&mutex);
	pid = argc > 1 && !strcmp(argv[1], "vfork") ? vfork() : fork();
	if (pid == 0) {
		pthread_t thread;

		pthread_create(&thread, NULL, thread_of_child, NULL);
		pthread_join(thread, NULL);
		_exit(5);
	}
	MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 5);
	use(&mutex);
	return 0;
}
