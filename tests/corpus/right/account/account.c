/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/account: transfer holds both locks, taken in the
 * order of the accounts, so that a ring of transfers cannot lock itself up.
 *
 * Exit status 1 if an account does not hold 300 at the end.
 *
 * usage: account [THREADS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

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
	struct account *first = from < to ? from : to;
	struct account *second = from < to ? to : from;

	pthread_mutex_lock(&first->lock);
	pthread_mutex_lock(&second->lock);
	from->amount -= money;
	to->amount += money;
	pthread_mutex_unlock(&second->lock);
	pthread_mutex_unlock(&first->lock);
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
