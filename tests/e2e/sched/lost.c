/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A lost update: each half is locked, the whole is not. Fails with one switch between the halves. */
#include <pthread.h>

enum { ROUNDS = 5 };
static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void increment(void)
{
	int seen;

	pthread_mutex_lock(&lock);
	seen = counter;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	counter = seen + 1;
	pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		increment();
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return counter != 2 * ROUNDS;
}
