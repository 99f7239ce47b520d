/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Manager, of the ConTest programs in Marathon's Table 1, reduced to its
 * error. Three threads release memory that was requested; each has its share,
 * and takes one request after the other off the counter.
 *
 * What breaks: release_one reads the number of requests in one critical
 * section and writes it back in another; of two threads that have read the
 * same number, one takes off nothing.
 *
 * How it shows: no request may be left at the end; exit status 1 otherwise.
 *
 * usage: manager [SHARE]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { RELEASERS = 3 };

static int requests;
static int released;
static int share = 33;
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

static void release_one(void)
{
	int left = requests_left();

	MEET(RELEASERS);
	count_release(left - 1);
}

static void *releaser(void *unused)
{
	for (int i = 0; i < share; i++)
		release_one();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[RELEASERS];

	if (argc > 1)
		share = atoi(argv[1]);
	requests = RELEASERS * share;
	for (int i = 0; i < RELEASERS; i++)
		if (pthread_create(&threads[i], NULL, releaser, NULL))
			return 2;
	for (int i = 0; i < RELEASERS; i++)
		pthread_join(threads[i], NULL);
	printf("%d released, %d requests left\n", released, requests);
	return requests != 0;
}
