/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread that a constructor started, before main. */
#include "seen.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread;

static void *run(void *unused)
{
	wait_for(0);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

__attribute__((constructor)) static void begin(void)
{
	pthread_mutex_lock(&mutex);
	pthread_create(&thread, NULL, run, NULL);
	pthread_mutex_unlock(&mutex);
}

int main(void)
{
	NAME(mutex);
	reach(0);
	pthread_join(thread, NULL);
	return 0;
}
