/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A thread forks: in the child it is the first thread, whatever it was before;
 * it leaves, and a thread of the child's joins it.
 */
#include "seen.h"

#include <pthread.h>
#include <sys/wait.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t forker;

static void *joiner(void *unused)
{
	MUST(pthread_join(forker, NULL) == 0);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void *fork_here(void *unused)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		pthread_t thread;

		forker = pthread_self();
		pthread_create(&thread, NULL, joiner, NULL);
		pthread_exit(NULL);
	}
	MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return unused;
}

int main(void)
{
	pthread_t thread;

	NAME(mutex);
	pthread_create(&thread, NULL, fork_here, NULL);
	pthread_join(thread, NULL);
	return 0;
}
