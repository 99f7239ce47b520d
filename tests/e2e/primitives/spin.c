/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A spin lock: taken, polled while taken, taken by polling. */
#include "seen.h"

#include <errno.h>
#include <pthread.h>

static pthread_spinlock_t lock;

static void *other(void *unused)
{
	for (int i = 0; i < 100; i++)
		MUST(pthread_spin_trylock(&lock) == EBUSY);
	return unused;
}

int main(void)
{
	pthread_t thread;

	NAME(lock);
	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	MUST(pthread_spin_lock(&lock) == 0);
	pthread_create(&thread, NULL, other, NULL);
	pthread_join(thread, NULL);
	MUST(pthread_spin_unlock(&lock) == 0);
	MUST(pthread_spin_trylock(&lock) == 0);
	MUST(pthread_spin_unlock(&lock) == 0);
	pthread_spin_destroy(&lock);
	return 0;
}
