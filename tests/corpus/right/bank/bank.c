/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/bank: the total has a lock.
 *
 * Exit status 1 if the total is not the sum of what was added.
 *
 * usage: bank [THREADS [ROUNDS]]
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64 };

static long bank_total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int rounds = 50;

static void service(long sum)
{
	pthread_mutex_lock(&lock);
	bank_total += sum;
	pthread_mutex_unlock(&lock);
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
