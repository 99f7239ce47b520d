/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Manager, of the ConTest programs in Marathon's Table 1, reduced to its
 * error. Three threads release memory that was requested; each release takes
 * one request off the counter.
 *
 * What breaks: release_one reads the number of requests in one critical
 * section and writes it back in another; of two threads that have read the
 * same number, one takes off nothing.
 *
 * How it shows: as much must be released as was requested; exit status 1
 * otherwise.
 *
 * usage: manager [REQUESTS]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { RELEASERS = 3 };

static int requests = 100;
static int released;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int requests_left(void)
{
	int left;

	pthread_mutex_lock(&lock);
	left = requests;
	pthread_mutex_unlock(&lock);
	return left;
}

static void count_release(int left)
{
	pthread_mutex_lock(&lock);
	requests = left;
	released++;
	pthread_mutex_unlock(&lock);
}

static bool release_one(void)
{
	int left = requests_left();

	if (left <= 0)
		return false;
	MEET(RELEASERS);
	count_release(left - 1);
	return true;
}

static void *releaser(void *unused)
{
	while (release_one())
		continue;
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[RELEASERS];
	int initial;

	if (argc > 1)
		requests = atoi(argv[1]);
	initial = requests;
	for (int i = 0; i < RELEASERS; i++)
		if (pthread_create(&threads[i], NULL, releaser, NULL))
			return 2;
	for (int i = 0; i < RELEASERS; i++)
		pthread_join(threads[i], NULL);
	printf("%d requested, %d released\n", initial, released);
	return released != initial;
}
