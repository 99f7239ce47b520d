/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Program 2 of von Praun and Gross: wrong/account_update with the lock held
 * over the whole update. The locked reader is called inside, so the lock is a
 * recursive one; taking it again opens no critical section of its own.
 *
 * Exit status 1 if an update was lost.
 *
 * usage: account_update [UPDATES]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 2 };

struct account {
	pthread_mutex_t lock;
	long balance;
};

static struct account account = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
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
	long balance;

	pthread_mutex_lock(&a->lock);
	balance = read_balance(a);
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
