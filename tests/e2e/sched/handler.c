/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All threads wait, and a signal handler wakes them: no deadlock. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

static sem_t sem;

static void on_alarm(int number)
{
	sem_post(&sem);
	sem_post(&sem);
}

static void *work(void *unused)
{
	while (sem_wait(&sem))
		;
	return NULL;
}

int main(void)
{
	pthread_t thread;

	sem_init(&sem, 0, 0);
	signal(SIGALRM, on_alarm);
	ualarm(20000, 0);
	pthread_create(&thread, NULL, work, NULL);
	work(NULL);
	pthread_join(thread, NULL);
	return 0;
}
