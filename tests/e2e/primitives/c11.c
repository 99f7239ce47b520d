/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* C11's threads, mutexes, condition variables and call_once. */
#include "seen.h"

#include <threads.h>
#include <time.h>

static mtx_t mutex, recursive;
static cnd_t condition;
static once_flag flag = ONCE_FLAG_INIT;

static void routine(void)
{
}

static int waiter(void *unused)
{
	mtx_lock(&mutex);
	reach(0);
	cnd_wait(&condition, &mutex);
	mtx_unlock(&mutex);
	call_once(&flag, routine);
	return 7;
}

static int loser(void *unused)
{
	const struct timespec past = {1, 0};

	MUST(mtx_trylock(&mutex) == thrd_busy);
	MUST(mtx_timedlock(&mutex, &past) == thrd_timedout);
	thrd_exit(8);
}

int main(void)
{
	const struct timespec past = {1, 0}, future = {(time_t)1 << 40, 0};
	thrd_t thread;
	int result;

	NAME(mutex);
	NAME(recursive);
	NAME(condition);
	NAME(flag);
	mtx_init(&mutex, mtx_timed);
	mtx_init(&recursive, mtx_plain | mtx_recursive);
	cnd_init(&condition);
	thrd_create(&thread, waiter, NULL);
	wait_for(0);
	mtx_lock(&mutex);
	cnd_signal(&condition);
	mtx_unlock(&mutex);
	MUST(thrd_join(thread, &result) == thrd_success && result == 7);

	MUST(mtx_timedlock(&mutex, &future) == thrd_success);
	thrd_create(&thread, loser, NULL);
	MUST(thrd_join(thread, &result) == thrd_success && result == 8);
	MUST(cnd_timedwait(&condition, &mutex, &past) == thrd_timedout);
	cnd_broadcast(&condition);
	mtx_unlock(&mutex);
	MUST(mtx_trylock(&recursive) == thrd_success);
	mtx_lock(&recursive);
	mtx_unlock(&recursive);
	mtx_unlock(&recursive);
	call_once(&flag, routine);
	mtx_destroy(&mutex);
	return 0;
}
