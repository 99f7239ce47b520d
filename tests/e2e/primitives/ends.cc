/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a thread does at its end still belongs to it: destructors of
 * thread_local objects, then those of keys, some of which come back.
 */
#include "seen.h"

#include <pthread.h>

static pthread_mutex_t by_object = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t by_key = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;

static void once_more(void *rounds)
{
	pthread_mutex_lock(&by_key);
	pthread_mutex_unlock(&by_key);
	if ((long)rounds > 1)
		pthread_setspecific(key, (void *)((long)rounds - 1));
}

struct object {
	bool used = false;
	~object()
	{
		pthread_mutex_lock(&by_object);
		pthread_mutex_unlock(&by_object);
	}
};
static thread_local object mine;

static void *run(void *unused)
{
	mine.used = true;
	pthread_setspecific(key, (void *)3);
	return unused;
}

static void *leave(void *unused)
{
	mine.used = true;
	pthread_exit(unused);
}

int main()
{
	pthread_t thread;

	NAME(by_object);
	NAME(by_key);
	pthread_key_create(&key, once_more);
	pthread_create(&thread, NULL, run, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, leave, NULL);
	pthread_join(thread, NULL);
	return 0;
}
