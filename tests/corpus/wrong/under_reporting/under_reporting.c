/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Program 3 of von Praun and Gross, and UnderReporting in MoTH's Table 1. A
 * counter with one locked function, which adds and returns the sum; adding
 * what it returned doubles the counter.
 *
 * What breaks: twice calls the function two times, and the sum that the first
 * call returned is old when the second adds it. Method consistency is blind to
 * this, since there is only one kind of critical section; the stale value
 * shows it.
 *
 * How it shows: two doublings must leave four times as much; exit status 1
 * otherwise.
 *
 * usage: under_reporting
 */
#include <pthread.h>
#include <stdio.h>

#include "../../stage.h"

enum { THREADS = 2 };

struct counter {
	pthread_mutex_t lock;
	int value;
};

static struct counter counter = {PTHREAD_MUTEX_INITIALIZER, 1};

static int add(struct counter *c, int amount)
{
	int sum;

	pthread_mutex_lock(&c->lock);
	c->value += amount;
	sum = c->value;
	pthread_mutex_unlock(&c->lock);
	return sum;
}

static void twice(struct counter *c)
{
	int value = add(c, 0);

	MEET(THREADS);
	add(c, value);
}

static void *doubler(void *c)
{
	twice(c);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, doubler, &counter))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("expected 4, got %d\n", counter.value);
	return counter.value != 4;
}
