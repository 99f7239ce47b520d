/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Many threads, many events: 64 threads at a time, made and joined in rounds,
 * each taking a lock and writing to places of its own. The program prints how
 * many operations of each kind it did; the trace must have as many.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 64, ROUNDS = 20, TURNS = 2000, WRITES = 2 };

static pthread_mutex_t mutexes[THREADS];
static long places[THREADS][ROUNDS][WRITES * TURNS];

static void *run(void *argument)
{
	long *mine = argument;
	pthread_mutex_t *mutex = &mutexes[(mine - &places[0][0][0]) % 7];

	for (int turn = 0; turn < TURNS; turn++) {
		pthread_mutex_lock(mutex);
		for (int i = 0; i < WRITES; i++)
			((volatile long *)mine)[turn * WRITES + i] = turn;
		pthread_mutex_unlock(mutex);
	}
	return NULL;
}

int main(void)
{
	long threads = 0;

	for (int round = 0; round < ROUNDS; round++) {
		pthread_t made[THREADS];

		for (int i = 0; i < THREADS; i++)
			if (pthread_create(&made[i], NULL, run, places[i][round]))
				abort();
		for (int i = 0; i < THREADS; i++, threads++)
			if (pthread_join(made[i], NULL))
				abort();
	}
	printf("create %ld\njoin %ld\nend %ld\n", threads, threads, threads);
	printf("lock %ld\nunlock %ld\nwrite %ld\n", threads * TURNS, threads * TURNS,
	       threads * TURNS * WRITES);
	return 0;
}
