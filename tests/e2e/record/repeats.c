/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A variable that is read and written again and again under one lock: all but the first are left out by the
 * filter. */
#include <pthread.h>

enum { ROUNDS = 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *add(void *unused)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < ROUNDS; i++) {
		sum += i;
		__asm__ volatile("" ::: "memory");
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, add, NULL))
		return 2;
	add(NULL);
	pthread_join(thread, NULL);
	return sum != 2 * (ROUNDS * (ROUNDS - 1) / 2);
}
