/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A list that is searched again and again, under a lock. */
#include <pthread.h>
#include <stdio.h>

enum { ITEMS = 1500, ROUNDS = 40 };

struct item {
	long number;
	long amount;
	long uses;
};

static struct item items[ITEMS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

__attribute__((noinline)) static long find(long number)
{
	long sum = 0;

	for (long i = 0; i < ITEMS; i++)
		if (items[i].number == number) /* step */
			sum += items[i].amount;
	return sum;
}

static void *search(void *argument)
{
	for (long round = 0; round < ROUNDS; round++) {
		pthread_mutex_lock(&lock);
		total += find(round);
		pthread_mutex_unlock(&lock);
	}
	return argument;
}

int main(void)
{
	pthread_t thread;

	for (long i = 0; i < ITEMS; i++)
		items[i] = (struct item){.number = i % 100, .amount = i};
	for (int turn = 0; turn < 2; turn++) {
		if (pthread_create(&thread, NULL, search, NULL))
			return 1;
		pthread_join(thread, NULL);
	}
	printf("%ld\n", total);
	return 0;
}
