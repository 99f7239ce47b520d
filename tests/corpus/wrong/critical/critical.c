/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Critical, of the ConTest programs in Marathon's Table 1. Two threads hand a
 * turn to each other through a plain variable.
 *
 * What breaks: first sets the turn to itself and trusts that it stays so
 * through its critical section; second does not look before it sets the turn.
 *
 * How it shows: exit status 1 if the first thread finds the turn changed.
 *
 * usage: critical
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

int turn; /* not static: the compiler must not know that nobody else changes it */
static bool intruder;

static void first(void)
{
	turn = 1;
	STAGE(1);
	sched_yield(); /* the critical section */
	STAGE(4);
	if (turn != 1)
		intruder = true;
	STAGE(5);
	turn = 2;
}

static void second(void)
{
	STAGE(2);
	turn = 2;
	STAGE(3);
	STAGE(6);
	do
		sched_yield();
	while (turn != 2);
	turn = 1;
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
