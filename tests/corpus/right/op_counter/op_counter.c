/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Marathon's Fig. 1; its body is a reconstruction. A transfer between the two
 * parts of an account counts itself, at its beginning and at its end, in a
 * counter that has a lock of its own and that others increment as well.
 *
 * Why it looks wrong: with all memory as one atomic set, a transfer with a
 * foreign increment between its two is not serializable. Why it is right:
 * account and counter have nothing to do with each other, and each of the
 * increments is atomic.
 *
 * Exit status 1 if money or increments are lost.
 *
 * usage: op_counter
 */
#include <pthread.h>
#include <stdio.h>

#include "../../stage.h"

enum { ROUNDS = 10 };

struct account {
	pthread_mutex_t lock;
	long checking, savings;
};

struct counter {
	pthread_mutex_t lock;
	long operations;
};

static struct account account = {.lock = PTHREAD_MUTEX_INITIALIZER, .savings = 1000};
static struct counter counter = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void increment(struct counter *c)
{
	pthread_mutex_lock(&c->lock);
	c->operations++;
	pthread_mutex_unlock(&c->lock);
}

static void transfer(struct account *a, long amount)
{
	pthread_mutex_lock(&a->lock);
	increment(&counter);
	STAGE(1);
	STAGE(4);
	a->savings -= amount;
	a->checking += amount;
	increment(&counter);
	pthread_mutex_unlock(&a->lock);
}

static void *customer(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		transfer(&account, i);
	return unused;
}

static void *auditor(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		STAGE(2);
		increment(&counter);
		STAGE(3);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, customer, NULL) ||
	    pthread_create(&threads[1], NULL, auditor, NULL))
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%ld in all, %ld operations\n", account.checking + account.savings, counter.operations);
	return account.checking + account.savings != 1000 || counter.operations != 3 * ROUNDS;
}
