/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Right: one thread does nothing but sleep until it is told to end, beside others who spin for a lock of
 * their own making. */
#include <pthread.h>
#include <sched.h>
#include <time.h>

enum { THREADS = 3, ROUNDS = 4 };

static volatile int taken, done;
static int value; /* guarded by taken */

static void *idle(void *unused)
{
	while (!done) {
		struct timespec little = {0, 100000};

		nanosleep(&little, NULL);
		pthread_testcancel();
	}
	return unused;
}

static void *work(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		while (__sync_lock_test_and_set(&taken, 1))
			while (taken)
				sched_yield();
		value++;
		__sync_lock_release(&taken);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS], idler;

	pthread_create(&idler, NULL, idle, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	done = 1;
	pthread_join(idler, NULL);
	return value != THREADS * ROUNDS;
}
