/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The bank of AtomRace: a global total that several threads add to, in one
 * statement, without a lock.
 *
 * What breaks: service, whose one statement is a load and a store.
 *
 * How it shows: the total must be the sum of what was added; exit status 1
 * otherwise.
 *
 * usage: bank [THREADS [ROUNDS]]
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { MOST = 64 };

long bank_total; /* not static: the compiler must not keep it in a register from round to round */
static int rounds = 50;

static void service(long sum)
{
	long total = bank_total;

	MEET(2);
	bank_total = total + sum;
}

static void *client(void *unused)
{
	for (int i = 1; i <= rounds; i++) {
		service(i);
		sched_yield(); /* until the next customer comes */
	}
	return unused;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 8;
	pthread_t threads[MOST];
	long expected;

	if (argc > 2)
		rounds = atoi(argv[2]);
	if (count < 1 || count > MOST)
		return 2;
	expected = (long)count * rounds * (rounds + 1) / 2;
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, client, NULL))
			return 2;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("expected %ld, got %ld\n", expected, bank_total);
	return bank_total != expected;
}
