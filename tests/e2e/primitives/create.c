/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads made, joined in every way, detached, and one that could not be made. */
#include "seen.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

static const struct timespec past = {1, 0}, future = {(time_t)1 << 40, 0};
static pthread_t gone;

static void *wait_a_step(void *unused)
{
	wait_for(0);
	return unused;
}

static void *leave(void *result)
{
	pthread_exit(result);
}

static void *detach_self(void *unused)
{
	pthread_detach(pthread_self());
	reach(1);
	wait_for(2);
	return unused;
}

/* Hands itself to another thread, which joins it. */
static void *hand_over(void *unused)
{
	gone = pthread_self();
	reach(3);
	return unused;
}

static void *join_it(void *unused)
{
	wait_for(3);
	MUST(pthread_join(gone, NULL) == 0);
	return unused;
}

static pthread_t start(void *(*routine)(void *))
{
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, routine, NULL) == 0);
	return thread;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	void *result;

	thread = start(wait_a_step);
	MUST(pthread_tryjoin_np(thread, NULL) == EBUSY);
	MUST(pthread_timedjoin_np(thread, NULL, &past) == ETIMEDOUT);
	reach(0);
	MUST(pthread_timedjoin_np(thread, NULL, &future) == 0);

	thread = start(wait_a_step);
	reach(0);
	MUST(pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &future) == 0);

	thread = start(wait_a_step);
	reach(0);
	while (pthread_tryjoin_np(thread, NULL) == EBUSY)
		usleep(1000);

	MUST(pthread_create(&thread, NULL, leave, &gone) == 0);
	MUST(pthread_join(thread, &result) == 0 && result == &gone);

	thread = start(detach_self);
	wait_for(1);
	MUST(pthread_join(thread, NULL) == EINVAL);

	pthread_attr_init(&attributes);
	MUST(pthread_attr_setstacksize(&attributes, (size_t)1 << 46) == 0);
	MUST(pthread_create(&thread, &attributes, leave, NULL) != 0);

	thread = start(join_it);
	start(hand_over);
	pthread_join(thread, NULL);
	return 0;
}
