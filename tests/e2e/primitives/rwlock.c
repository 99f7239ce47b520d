/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every way to lock a readers-writer lock, and the ways that fail. */
#include "seen.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static pthread_rwlock_t lock;
static const struct timespec past = {1, 0};
static const struct timespec future = {(time_t)1 << 40, 0};

static void *reader(void *unused)
{
	MUST(pthread_rwlock_tryrdlock(&lock) == 0);
	MUST(pthread_rwlock_unlock(&lock) == 0);
	MUST(pthread_rwlock_trywrlock(&lock) == EBUSY);
	return unused;
}

static void *late(void *unused)
{
	MUST(pthread_rwlock_tryrdlock(&lock) == EBUSY);
	MUST(pthread_rwlock_timedrdlock(&lock, &past) == ETIMEDOUT);
	return unused;
}

static void with(void *(*start)(void *))
{
	pthread_t thread;

	pthread_create(&thread, NULL, start, NULL);
	pthread_join(thread, NULL);
}

int main(void)
{
	NAME(lock);
	MUST(pthread_rwlock_init(&lock, NULL) == 0);
	MUST(pthread_rwlock_rdlock(&lock) == 0);
	with(reader);
	MUST(pthread_rwlock_unlock(&lock) == 0);
	MUST(pthread_rwlock_wrlock(&lock) == 0);
	with(late);
	MUST(pthread_rwlock_unlock(&lock) == 0);
	MUST(pthread_rwlock_trywrlock(&lock) == 0);
	MUST(pthread_rwlock_unlock(&lock) == 0);
	MUST(pthread_rwlock_timedrdlock(&lock, &future) == 0);
	MUST(pthread_rwlock_unlock(&lock) == 0);
	MUST(pthread_rwlock_timedwrlock(&lock, &future) == 0);
	MUST(pthread_rwlock_unlock(&lock) == 0);
	MUST(pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &future) == 0);
	MUST(pthread_rwlock_unlock(&lock) == 0);
	MUST(pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &future) == 0);
	MUST(pthread_rwlock_unlock(&lock) == 0);
	MUST(pthread_rwlock_destroy(&lock) == 0);
	return 0;
}
