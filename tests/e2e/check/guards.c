/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Variables of one file that two locks guard are two sets: work and statistics
 * are updated one after the other by everybody, in whatever order the threads
 * get there. A pair under one lock that is read in two goes is torn.
 */
#include "stage.h"

static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER, count_lock = PTHREAD_MUTEX_INITIALIZER;
static int work, total, done, failed;

/* Silent. */
void step(int first, int second)
{
	STAGE(first);
	pthread_mutex_lock(&work_lock);
	work++;
	total += work;
	pthread_mutex_unlock(&work_lock);
	STAGE(second);
	pthread_mutex_lock(&count_lock);
	done++;
	failed = done / 2;
	pthread_mutex_unlock(&count_lock);
}

/* Torn. */
int unfinished(void)
{
	pthread_mutex_lock(&work_lock);
	int w = work;
	pthread_mutex_unlock(&work_lock);
	STAGE(4);
	STAGE(7);
	pthread_mutex_lock(&work_lock);
	int t = total;
	pthread_mutex_unlock(&work_lock);
	return w - t;
}

static void *first(void *unused)
{
	step(0, 3);
	use(unfinished());
	return unused;
}

static void *second(void *unused)
{
	step(1, 2);
	step(5, 6);
	return unused;
}

int main(void)
{
	TOGETHER(first, second);
	return done != 3 || failed != 1;
}
