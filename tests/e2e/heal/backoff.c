/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Two locks at a time, taken with back-off, and what was read under them is written back under them again.
 * The loop that tries counts how often it did, so it is what a checker takes for the unit, and a schedule
 * that fails is all that shows the bug. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

enum { ACCOUNTS = 3, ROUNDS = 30, ALL = 3000 };

struct account {
	pthread_mutex_t lock;
	long balance, attempts;
};
static struct account accounts[ACCOUNTS];

static void lock_both(struct account *a, struct account *b)
{
	for (;;) {
		pthread_mutex_lock(&a->lock);
		a->attempts++;
		if (!pthread_mutex_trylock(&b->lock))
			return;
		pthread_mutex_unlock(&a->lock);
		sched_yield();
	}
}

static void unlock_both(struct account *a, struct account *b)
{
	pthread_mutex_unlock(&b->lock);
	pthread_mutex_unlock(&a->lock);
}

static void transfer(struct account *a, struct account *b, long amount)
{
	long from, to;

	lock_both(a, b);
	from = a->balance;
	to = b->balance;
	unlock_both(a, b);
	lock_both(a, b);
	a->balance = from - amount;
	b->balance = to + amount;
	unlock_both(a, b);
}

static void *transfers(void *number)
{
	long n = (long)number;

	for (int i = 0; i < ROUNDS; i++)
		transfer(&accounts[n], &accounts[(n + 1) % ACCOUNTS], 1);
	return NULL;
}

int main(void)
{
	pthread_t threads[ACCOUNTS];
	long all = 0;

	for (int i = 0; i < ACCOUNTS; i++) {
		pthread_mutex_init(&accounts[i].lock, NULL);
		accounts[i].balance = ALL / ACCOUNTS;
	}
	for (long i = 0; i < ACCOUNTS; i++)
		if (pthread_create(&threads[i], NULL, transfers, (void *)i))
			return 2;
	for (int i = 0; i < ACCOUNTS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < ACCOUNTS; i++)
		all += accounts[i].balance;
	printf("%ld\n", all);
	return all != ALL;
}
