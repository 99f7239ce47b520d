/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the runtime cannot see is counted: a System V semaphore, and a timer
 * whose function libc calls in a thread that nobody created.
 */
#include "seen.h"

#include <pthread.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void tick(union sigval unused)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	reach(0);
}

int main(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick};
	const struct itimerspec soon = {{0, 0}, {0, 1}};
	struct sembuf up = {0, 1, 0}, down = {0, -1, 0};
	int set = semget(IPC_PRIVATE, 1, 0600);
	timer_t timer;

	NAME(mutex);
	MUST(set >= 0 && semop(set, &up, 1) == 0 && semop(set, &down, 1) == 0);
	semctl(set, 0, IPC_RMID);
	MUST(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &soon, NULL) == 0);
	wait_for(0);
	return 0;
}
