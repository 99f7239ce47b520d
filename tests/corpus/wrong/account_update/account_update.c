/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Program 1 of von Praun and Gross, and Account in MoTH's Table 1. Two threads
 * update one account.
 *
 * What breaks: update reads the balance through a locked function and writes
 * it in a critical section of its own; there is no data race, and an update is
 * lost.
 *
 * How it shows: every update must be in the balance at the end; exit status 1
 * otherwise.
 *
 * usage: account_update [UPDATES]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { THREADS = 2 };

struct account {
	pthread_mutex_t lock;
	long balance;
};

static struct account account = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int updates = 10;

static long read_balance(struct account *a)
{
	long balance;

	pthread_mutex_lock(&a->lock);
	balance = a->balance;
	pthread_mutex_unlock(&a->lock);
	return balance;
}

static void update(struct account *a, long amount)
{
	long balance = read_balance(a);

	MEET(THREADS);
	pthread_mutex_lock(&a->lock);
	a->balance = balance + amount;
	pthread_mutex_unlock(&a->lock);
}

static void *updater(void *unused)
{
	for (int i = 1; i <= updates; i++)
		update(&account, i);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	long expected;

	if (argc > 1)
		updates = atoi(argv[1]);
	expected = (long)THREADS * updates * (updates + 1) / 2;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, updater, NULL))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("expected %ld, got %ld\n", expected, account.balance);
	return account.balance != expected;
}
