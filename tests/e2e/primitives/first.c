/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The first thread leaves before the others, and is joined by one of them. */
#include "seen.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *stay(void *first)
{
	MUST(pthread_join(*(pthread_t *)first, NULL) == 0);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int main(void)
{
	static pthread_t first;
	pthread_t thread;

	NAME(mutex);
	first = pthread_self();
	pthread_create(&thread, NULL, stay, &first);
	pthread_detach(thread);
	pthread_exit(NULL);
}
