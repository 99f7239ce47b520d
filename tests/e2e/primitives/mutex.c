/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every way to lock a mutex, and the ways that fail. */
#include "seen.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t plain, recursive, checking;

static void *other(void *unused)
{
	struct timespec past = {1, 0};

	MUST(pthread_mutex_trylock(&plain) == EBUSY);
	MUST(pthread_mutex_trylock(&plain) == EBUSY); /* polling is recorded once */
	MUST(pthread_mutex_timedlock(&plain, &past) == ETIMEDOUT);
	MUST(pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
	MUST(pthread_mutex_unlock(&checking) == EPERM);
	MUST(pthread_mutex_unlock(&recursive) == EPERM);
	return unused;
}

static void init(pthread_mutex_t *mutex, int type)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, type);
	MUST(pthread_mutex_init(mutex, &attributes) == 0);
}

int main(void)
{
	struct timespec future = {(time_t)1 << 40, 0};
	pthread_t thread;

	NAME(plain);
	NAME(recursive);
	NAME(checking);
	init(&plain, PTHREAD_MUTEX_NORMAL);
	init(&recursive, PTHREAD_MUTEX_RECURSIVE);
	init(&checking, PTHREAD_MUTEX_ERRORCHECK);
	MUST(pthread_mutex_lock(&recursive) == 0);
	MUST(pthread_mutex_lock(&recursive) == 0);
	MUST(pthread_mutex_lock(&checking) == 0);
	MUST(pthread_mutex_lock(&checking) == EDEADLK);
	MUST(pthread_mutex_lock(&plain) == 0);
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	MUST(pthread_mutex_unlock(&plain) == 0);
	MUST(pthread_mutex_unlock(&recursive) == 0);
	MUST(pthread_mutex_unlock(&recursive) == 0);
	MUST(pthread_mutex_unlock(&checking) == 0);
	MUST(pthread_mutex_unlock(&checking) == EPERM);
	MUST(pthread_mutex_trylock(&plain) == 0);
	MUST(pthread_mutex_destroy(&plain) == EBUSY);
	MUST(pthread_mutex_unlock(&plain) == 0);
	MUST(pthread_mutex_timedlock(&plain, &future) == 0);
	MUST(pthread_mutex_unlock(&plain) == 0);
	MUST(pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &future) == 0);
	MUST(pthread_mutex_unlock(&plain) == 0);
	MUST(pthread_mutex_destroy(&plain) == 0);
	return 0;
}
