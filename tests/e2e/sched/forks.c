/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads that fork: the child runs by itself, and the parent waits for it. With an argument, a descendant
 * stays behind that nobody waits for, in a session of its own. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ended;

static void *work(void *unused)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;

		pthread_mutex_lock(&own);
		usleep(1000);
		pthread_mutex_unlock(&own);
		_exit(3);
	}
	waitpid(child, &status, 0);
	pthread_mutex_lock(&lock);
	ended += WEXITSTATUS(status);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc > 1 && !fork()) {
		setsid();
		for (;;)
			pause();
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return ended != 6;
}
