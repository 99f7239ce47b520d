/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A lock of the program's own that is had in turn: where all threads wait for it, only one of them can go on.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 3, TIMES = 4 };

static struct {
	atomic_uint next, now;
} lock;
static int sum;

static void *work(void *unused)
{
	for (int i = 0; i < TIMES; i++) {
		unsigned mine = atomic_fetch_add(&lock.next, 1);

		while (atomic_load(&lock.now) != mine)
			sched_yield();
		sum++;
		atomic_fetch_add(&lock.now, 1);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return sum != THREADS * TIMES;
}
