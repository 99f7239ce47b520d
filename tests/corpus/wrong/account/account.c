/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Account, of the ConTest programs in Marathon's Table 1. A ring of accounts
 * with a lock each; every thread pays into its own account, takes money out,
 * and transfers some to the next one.
 *
 * What breaks: transfer holds the lock of the account that the money comes
 * from, but not that of the one it goes to, so the two accesses of the
 * latter's amount are not one step.
 *
 * How it shows: every account must hold 300 at the end; exit status 1 if one
 * does not.
 *
 * usage: account [THREADS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

struct account {
	pthread_mutex_t lock;
	long amount;
};

static struct account *accounts;
static int count = 10;

static void deposit(struct account *account, long money)
{
	pthread_mutex_lock(&account->lock);
	account->amount += money;
	pthread_mutex_unlock(&account->lock);
}

static void withdraw(struct account *account, long money)
{
	pthread_mutex_lock(&account->lock);
	account->amount -= money;
	pthread_mutex_unlock(&account->lock);
}

static void transfer(struct account *from, struct account *to, long money)
{
	long before;

	pthread_mutex_lock(&from->lock);
	before = to->amount;
	MEET(count);
	from->amount -= money;
	MEET(count);
	to->amount = before + money;
	pthread_mutex_unlock(&from->lock);
}

static void *customer(void *argument)
{
	struct account *own = argument;

	deposit(own, 300);
	withdraw(own, 100);
	transfer(own, &accounts[(own - accounts + 1) % count], 99);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t *threads;
	int wrong = 0;

	if (argc > 1)
		count = atoi(argv[1]);
	threads = calloc(count, sizeof(*threads));
	accounts = calloc(count, sizeof(*accounts));
	if (!threads || !accounts)
		return 2;
	for (int i = 0; i < count; i++) {
		pthread_mutex_init(&accounts[i].lock, NULL);
		accounts[i].amount = 100;
	}
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, customer, &accounts[i]))
			return 2;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < count; i++)
		if (accounts[i].amount != 300)
			wrong++;
	printf("%d of %d accounts are wrong\n", wrong, count);
	free(accounts);
	free(threads);
	return wrong != 0;
}
