/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The ways in which a process ends. */
#include "seen.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t at_end = PTHREAD_MUTEX_INITIALIZER;

static void handler(void)
{
	pthread_mutex_lock(&at_end);
	pthread_mutex_unlock(&at_end);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";

	NAME(mutex);
	NAME(at_end);
	atexit(handler);
	at_quick_exit(handler);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	if (!strcmp(how, "exit"))
		exit(3);
	if (!strcmp(how, "_exit"))
		_exit(3);
	if (!strcmp(how, "_Exit"))
		_Exit(3);
	if (!strcmp(how, "quick_exit"))
		quick_exit(3);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "assert"))
		assert(argc == 1);
	if (!strcmp(how, "crash"))
		*(volatile int *)argv[argc] = 0; /* NULL */
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	return 3;
}
