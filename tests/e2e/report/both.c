/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A bank in which both tellers always read before either writes: the same finding in every run. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

struct account {
	pthread_mutex_t lock;
	long balance;
};

struct account account = {.lock = PTHREAD_MUTEX_INITIALIZER};
atomic_int readers;

__attribute__((noinline)) void deposit(struct account *a, long amount)
{
	pthread_mutex_lock(&a->lock);
	long now = a->balance;
	pthread_mutex_unlock(&a->lock);
	readers++;
	while (readers < 2)
		sched_yield();
	pthread_mutex_lock(&a->lock);
	a->balance = now + amount; /* lost */
	pthread_mutex_unlock(&a->lock);
}

static void *teller(void *unused)
{
	deposit(&account, 1);
	return unused;
}

int main(void)
{
	pthread_t tellers[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&tellers[i], 0, teller, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(tellers[i], 0);
	return account.balance != 1; /* one of the two is always lost */
}
