/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/suns_account: balance and total change together,
 * under a lock.
 *
 * Exit status 1 if the total is not the sum of the balances.
 *
 * usage: suns_account [THREADS [ROUNDS]]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 20 };

struct account {
	long balance;
};

static struct account accounts[MOST];
static long bank_total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count = 10, rounds = 100;

static void service(int id, long sum)
{
	pthread_mutex_lock(&lock);
	accounts[id].balance += sum;
	bank_total += sum;
	pthread_mutex_unlock(&lock);
}

static void *client(void *account)
{
	for (int i = 1; i <= rounds; i++)
		service((int)((struct account *)account - accounts), i);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST];
	long sum = 0;

	if (argc > 1)
		count = atoi(argv[1]);
	if (argc > 2)
		rounds = atoi(argv[2]);
	if (count < 1 || count > MOST)
		return 2;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, client, &accounts[i]))
			return 2;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < count; i++)
		sum += accounts[i].balance;
	printf("the accounts hold %ld, the bank %ld\n", sum, bank_total);
	return sum != bank_total;
}
