/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The process ends while a detached thread is still at it. */
#include "seen.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *unused)
{
	pthread_mutex_lock(&mutex);
	reach(0);
	wait_for(1);
	return unused;
}

int main(void)
{
	pthread_t thread;

	NAME(mutex);
	pthread_create(&thread, NULL, run, NULL);
	wait_for(0);
	pthread_detach(thread);
	return 0;
}
