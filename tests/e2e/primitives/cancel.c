/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cancellation: in a call of libc's that blocks, and by testcancel; cleanup handlers run. */
#include "seen.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void cleanup(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void *in_read(void *unused)
{
	pthread_cleanup_push(cleanup, NULL);
	reach(0);
	wait_for(1);
	pthread_cleanup_pop(0);
	return unused;
}

static void *in_loop(void *unused)
{
	pthread_cleanup_push(cleanup, NULL);
	reach(0);
	for (;;)
		pthread_testcancel();
	pthread_cleanup_pop(0);
	return unused;
}

int main(void)
{
	void *(*const routines[])(void *) = {in_read, in_loop};

	NAME(mutex);
	for (int i = 0; i < 2; i++) {
		pthread_t thread;
		void *result;

		pthread_create(&thread, NULL, routines[i], NULL);
		wait_for(0);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		MUST(result == PTHREAD_CANCELED);
	}
	return 0;
}
