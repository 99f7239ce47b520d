/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/critical: the turn is guarded by a lock, and the
 * second thread waits for it.
 *
 * Exit status 1 if the first thread finds the turn changed.
 *
 * usage: critical
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static int turn;
static bool intruder;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t handed = PTHREAD_COND_INITIALIZER;

static void first(void)
{
	pthread_mutex_lock(&lock);
	turn = 1;
	puts("critical section");
	if (turn != 1)
		intruder = true;
	turn = 2;
	pthread_cond_signal(&handed);
	pthread_mutex_unlock(&lock);
}

static void second(void)
{
	pthread_mutex_lock(&lock);
	while (turn != 2)
		pthread_cond_wait(&handed, &lock);
	turn = 1;
	pthread_mutex_unlock(&lock);
}

static void *first_thread(void *unused)
{
	first();
	return unused;
}

static void *second_thread(void *unused)
{
	second();
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, first_thread, NULL) ||
	    pthread_create(&threads[1], NULL, second_thread, NULL))
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%s\n", intruder ? "the turn changed inside the critical section" : "undisturbed");
	return intruder;
}
