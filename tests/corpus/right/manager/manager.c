/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/manager: a release is one critical section.
 *
 * Exit status 1 if a request is left.
 *
 * usage: manager [SHARE]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { RELEASERS = 3 };

static int requests;
static int released;
static int share = 33;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void release_one(void)
{
	pthread_mutex_lock(&lock);
	requests--;
	released++;
	pthread_mutex_unlock(&lock);
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
