/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One thread that writes: single ROUNDS. Then "close" closes all descriptors
 * but the first three, and "thread" creates a thread, in the order of the arguments.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLACES = 1000 };
static long places[PLACES];

static void *write_places(void *unused)
{
	/* Scattered, so that no check in front of the loop stands for all of them. */
	for (int i = 0; i < PLACES; i++)
		((volatile long *)places)[i * 7919 % PLACES] = i;
	return unused;
}

static void round_of(long n)
{
	for (long i = 0; i < n; i++) {
		/* Large: what was recorded before it is news again. */
		void *volatile block = malloc(1000);

		write_places(NULL);
		free(block);
	}
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;

	for (int i = 2; i < argc; i++) {
		pthread_t thread;

		if (!strcmp(argv[i], "close")) {
			for (int fd = 3; fd < 2000; fd++)
				close(fd);
		} else if (!strcmp(argv[i], "thread")) {
			pthread_create(&thread, NULL, write_places, NULL);
			pthread_join(thread, NULL);
		} else if (!strcmp(argv[i], "write")) {
			round_of(rounds);
		}
	}
	return 3;
}
