/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: a lock made at home, of an atomic flag.
 *
 * Why it looks wrong: no lock that a tool could know is ever taken. Why it is
 * right: between acquire and release there is one thread at a time, and the
 * flag's orders carry what it wrote to the next.
 *
 * Exit status 1 if an update is lost.
 *
 * usage: spin_lock
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { THREADS = 3, ROUNDS = 20 };

struct spin {
	atomic_flag taken;
};

struct account {
	struct spin lock;
	long balance, updates;
};

static struct account account = {.lock = {ATOMIC_FLAG_INIT}};

static void acquire(struct spin *spin)
{
	while (atomic_flag_test_and_set_explicit(&spin->taken, memory_order_acquire))
		sched_yield();
}

static void release(struct spin *spin)
{
	atomic_flag_clear_explicit(&spin->taken, memory_order_release);
}

static void deposit(struct account *a, long amount)
{
	acquire(&a->lock);
	a->balance += amount;
	a->updates++;
	release(&a->lock);
}

static void *teller(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		deposit(&account, 3);
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, teller, NULL))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld after %ld updates\n", account.balance, account.updates);
	return account.updates != THREADS * ROUNDS || account.balance != 3 * account.updates;
}
