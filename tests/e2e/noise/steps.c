/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * THREADS threads, each of which makes the same accesses in every run, whatever
 * the others do: decisions about them must be the same, too.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static struct account {
	long balance, limit;
} accounts[8];
static long total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *steps(void *argument)
{
	struct account *mine = argument;

	for (int i = 0; i < 1000; i++) {
		mine->balance += i;
		mine->limit = mine->balance / 2;
		if (i % 50)
			continue;
		pthread_mutex_lock(&lock);
		total += mine->limit;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 3;
	pthread_t threads[8];

	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, steps, &accounts[i]))
			return 2;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", total);
	return 0;
}
