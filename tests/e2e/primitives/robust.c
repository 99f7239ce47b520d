/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A robust mutex whose holder dies, twice: repaired once, given up once. */
#include "seen.h"

#include <errno.h>
#include <pthread.h>

static pthread_mutex_t mutex;

static void *die_holding(void *unused)
{
	MUST(pthread_mutex_lock(&mutex) == 0);
	return unused;
}

static void let_one_die(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, die_holding, NULL);
	pthread_join(thread, NULL);
}

int main(void)
{
	pthread_mutexattr_t attributes;

	NAME(mutex);
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&mutex, &attributes);
	let_one_die();
	MUST(pthread_mutex_lock(&mutex) == EOWNERDEAD);
	MUST(pthread_mutex_consistent(&mutex) == 0);
	MUST(pthread_mutex_unlock(&mutex) == 0);
	MUST(pthread_mutex_unlock(&mutex) == EPERM);
	let_one_die();
	MUST(pthread_mutex_trylock(&mutex) == EOWNERDEAD);
	MUST(pthread_mutex_unlock(&mutex) == 0);
	MUST(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
	return 0;
}
