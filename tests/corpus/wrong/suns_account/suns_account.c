/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * SunsAccount, of the ConTest programs in Marathon's Table 1. A bank keeps a
 * balance per account and their total, and nothing is locked. (AtomRace's bank
 * is the same statement; see wrong/bank.)
 *
 * What breaks: service adds to the total as if it were alone.
 *
 * How it shows: the total must be the sum of the balances; exit status 1
 * otherwise.
 *
 * usage: suns_account [THREADS [ROUNDS]]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { MOST = 20 };

struct account {
	long balance;
};

static struct account accounts[MOST];
static long bank_total;
static int count = 10, rounds = 100;

static void service(int id, long sum)
{
	long before = bank_total;

	accounts[id].balance += sum;
	MEET(2);
	bank_total = before + sum;
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
