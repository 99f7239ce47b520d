/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A bank without a single data race that loses money. Every access of the
 * balance is made under the lock, but a deposit is two critical sections: one
 * reads the balance, the other writes it. Whoever comes in between is undone.
 *
 * usage: bank [DEPOSITS]   each of two tellers makes so many deposits of 1;
 *                         exit status 1 if money is missing
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { TELLERS = 2 };

struct account {
	pthread_mutex_t lock;
	long balance;
};

static struct account account = {PTHREAD_MUTEX_INITIALIZER, 0};
static long deposits = 1000;

static long balance(struct account *a)
{
	long now;

	pthread_mutex_lock(&a->lock);
	now = a->balance;
	pthread_mutex_unlock(&a->lock);
	return now;
}

static void set_balance(struct account *a, long to)
{
	pthread_mutex_lock(&a->lock);
	a->balance = to;
	pthread_mutex_unlock(&a->lock);
}

static void deposit(struct account *a, long amount)
{
	long now = balance(a);

	/* What a longer program would do here: write a log, look up a rate. */
	sched_yield();
	set_balance(a, now + amount);
}

static void *teller(void *unused)
{
	for (long i = 0; i < deposits; i++)
		deposit(&account, 1);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t tellers[TELLERS];

	if (argc > 1)
		deposits = strtol(argv[1], NULL, 10);
	for (int i = 0; i < TELLERS; i++)
		if (pthread_create(&tellers[i], NULL, teller, NULL))
			return 1;
	for (int i = 0; i < TELLERS; i++)
		pthread_join(tellers[i], NULL);
	printf("expected %ld, got %ld\n", TELLERS * deposits, account.balance);
	return account.balance != TELLERS * deposits;
}
