/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Semaphores, unnamed and named: got, not to be had, timed out, overflowing. */
#include "seen.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static sem_t semaphore;

static void *poster(void *unused)
{
	MUST(sem_post(&semaphore) == 0);
	return unused;
}

int main(void)
{
	const struct timespec past = {1, 0}, future = {(time_t)1 << 40, 0};
	sem_t *named, *again;
	pthread_t thread;
	char name[64];

	NAME(semaphore);
	sem_init(&semaphore, 0, 1);
	MUST(sem_trywait(&semaphore) == 0);
	for (int i = 0; i < 10; i++)
		MUST(sem_trywait(&semaphore) == -1); /* polling is recorded once */
	MUST(errno == EAGAIN);
	MUST(sem_timedwait(&semaphore, &past) == -1 && errno == ETIMEDOUT);
	pthread_create(&thread, NULL, poster, NULL);
	MUST(sem_wait(&semaphore) == 0);
	pthread_join(thread, NULL);
	sem_post(&semaphore);
	MUST(sem_timedwait(&semaphore, &future) == 0);
	sem_post(&semaphore);
	MUST(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &future) == 0);
	sem_init(&semaphore, 0, SEM_VALUE_MAX);
	MUST(sem_post(&semaphore) == -1 && errno == EOVERFLOW);

	snprintf(name, sizeof(name), "/atomsan-test-%d", (int)getpid());
	named = sem_open(name, O_CREAT | O_EXCL, 0600, 2);
	MUST(named != SEM_FAILED);
	NAME_AT("named", named);
	again = sem_open(name, 0);
	MUST(again == named);
	MUST(sem_wait(again) == 0);
	sem_unlink(name);
	sem_close(again);
	sem_close(named);
	return 0;
}
