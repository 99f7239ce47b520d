/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/gives_back: what gives back the lock is called before
 * the balance is read.
 *
 * Exit status 1 if a deposit is lost.
 *
 * usage: gives_back [DEPOSITS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { THREADS = 2 };

struct account {
	pthread_mutex_t lock;
	long balance;
	long statements;
};

static struct account account = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int deposits = 10;

/* Takes long, so not under the lock. */
static void write_statement(struct account *a)
{
	pthread_mutex_unlock(&a->lock);
	MEET(THREADS);
	pthread_mutex_lock(&a->lock);
	a->statements++;
}

static void deposit(struct account *a, long amount)
{
	pthread_mutex_lock(&a->lock);
	write_statement(a);
	a->balance += amount;
	pthread_mutex_unlock(&a->lock);
}

static void *depositor(void *unused)
{
	for (int i = 1; i <= deposits; i++)
		deposit(&account, i);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	long expected;

	if (argc > 1)
		deposits = atoi(argv[1]);
	expected = (long)THREADS * deposits * (deposits + 1) / 2;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, depositor, NULL))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("balance %ld of %ld, %ld statements\n", account.balance, expected, account.statements);
	return account.balance != expected || account.statements != THREADS * deposits;
}
