/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/manager: a release is one critical section.
 *
 * Exit status 1 if not as much was released as was requested.
 *
 * usage: manager [REQUESTS]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { RELEASERS = 3 };

static int requests = 100;
static int released;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool release_one(void)
{
	bool done = false;

	pthread_mutex_lock(&lock);
	if (requests > 0) {
		requests--;
		released++;
		done = true;
	}
	pthread_mutex_unlock(&lock);
	return done;
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
