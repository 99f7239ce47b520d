/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The other part of old.c's program, for the compiler at hand. */
#include <pthread.h>
#include <stddef.h>

struct account {
	pthread_mutex_t lock;
	long balance;
};

void deposit(struct account *a, long amount);

static struct account account = {PTHREAD_MUTEX_INITIALIZER, 0};

static void *customer(void *unused)
{
	deposit(&account, 1);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, customer, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return account.balance != 2;
}
