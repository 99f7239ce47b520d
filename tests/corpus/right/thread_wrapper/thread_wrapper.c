/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: threads that a function of the program's
 * own makes. Each counts itself in, and out again.
 *
 * Why it looks wrong: visit works on the counters twice, and others do in between.
 * Why it is right: visit is what its threads are for, and no more one step than
 * any other thread's whole life. That they all begin in another function does
 * not change that.
 *
 * Exit status 1 if a visit is lost.
 *
 * usage: thread_wrapper
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { THREADS = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int inside, visits;

static void visit(void)
{
	pthread_mutex_lock(&lock);
	inside++;
	pthread_mutex_unlock(&lock);
	MEET(THREADS);
	pthread_mutex_lock(&lock);
	inside--;
	visits++;
	pthread_mutex_unlock(&lock);
}

static void *begin(void *with)
{
	void (*function)(void) = *(void (**)(void))with;

	function();
	return NULL;
}

static bool make_thread(pthread_t *thread, void (**with)(void))
{
	return !pthread_create(thread, NULL, begin, with);
}

int main(void)
{
	static void (*with)(void) = visit;
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (!make_thread(&threads[i], &with))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d visits, %d inside\n", visits, inside);
	return visits != THREADS || inside;
}
