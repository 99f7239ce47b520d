/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Signals that interrupt the recording wherever it is: a timer fires as often
 * as it can while threads lock, allocate and write, and the handler does
 * things that are recorded, too. The program prints how many operations of
 * each kind it did; the trace must have as many.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

enum { THREADS = 4, TURNS = 100000 };

static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static long places[THREADS][TURNS];
static sem_t semaphore;
static long handled;

static void handler(int number)
{
	__atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
	sem_post(&semaphore);
}

static void let_in(int how)
{
	sigset_t alarms;

	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(how, &alarms, NULL);
}

static void *run(void *argument)
{
	volatile long *mine = argument;

	let_in(SIG_UNBLOCK);
	for (int turn = 0; turn < TURNS; turn++) {
		pthread_mutex_t *mutex = &mutexes[turn & 1];

		pthread_mutex_lock(mutex);
		mine[turn] = turn;
		pthread_mutex_unlock(mutex);
	}
	let_in(SIG_BLOCK);
	return NULL;
}

int main(void)
{
	static const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
	static struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
	pthread_t threads[THREADS];

	sem_init(&semaphore, 0, 0);
	let_in(SIG_BLOCK);
	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &often, NULL))
		abort();
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run, places[i]))
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	if (!handled)
		abort();
	printf("create %d\njoin %d\nend %d\n", THREADS, THREADS, THREADS);
	printf("lock %d\nunlock %d\nwrite %d\n", THREADS * TURNS, THREADS * TURNS, THREADS * TURNS);
	printf("signal-handler %ld\nsignal-handler-end %ld\nsem-post %ld\n", handled, handled, handled);
	return 0;
}
