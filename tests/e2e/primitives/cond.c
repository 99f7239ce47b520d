/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Condition variables: woken by a signal and by a broadcast, timed out,
 * refused, and cancelled while waiting, when the mutex is held again before
 * the cleanup handlers run. The thread is known to wait once its mutex, which
 * it held, can be had.
 */
#include "seen.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t checking;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static void unlock(void *what)
{
	MUST(pthread_mutex_unlock(what) == 0);
}

static void *waiter(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, &mutex);
	reach(0);
	pthread_cond_wait(&condition, &mutex);
	pthread_cleanup_pop(1);
	return unused;
}

static pthread_t start_waiter(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, waiter, NULL);
	wait_for(0);
	pthread_mutex_lock(&mutex);
	return thread;
}

int main(void)
{
	struct timespec past = {1, 0}, never = {1, -1};
	pthread_mutexattr_t attributes;
	pthread_t thread;
	void *result;

	NAME(mutex);
	NAME(checking);
	NAME(condition);
	thread = start_waiter();
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);

	thread = start_waiter();
	pthread_cond_broadcast(&condition);
	pthread_mutex_unlock(&mutex);
	pthread_join(thread, NULL);

	thread = start_waiter();
	pthread_mutex_unlock(&mutex);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	MUST(result == PTHREAD_CANCELED);

	pthread_mutex_lock(&mutex);
	MUST(pthread_cond_timedwait(&condition, &mutex, &past) == ETIMEDOUT);
	MUST(pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &past) == ETIMEDOUT);
	MUST(pthread_cond_timedwait(&condition, &mutex, &never) == EINVAL);
	pthread_mutex_unlock(&mutex);

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checking, &attributes);
	MUST(pthread_cond_wait(&condition, &checking) == EPERM);
	return 0;
}
