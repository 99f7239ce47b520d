/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A lock and a gate of the program's own making, by futexes: right, unless nobody opens the gate ("stuck").
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 3 };

static atomic_uint lock, gate;
static int value; /* guarded by lock */

static long futex(atomic_uint *word, int operation, unsigned number, const struct timespec *time)
{
	return syscall(SYS_futex, word, operation, number, time, NULL, FUTEX_BITSET_MATCH_ANY);
}

/* 0: free, 1: taken, 2: taken, and somebody waits */
static void take(void)
{
	unsigned seen = 0;

	if (atomic_compare_exchange_strong(&lock, &seen, 1))
		return;
	while (atomic_exchange(&lock, 2))
		futex(&lock, FUTEX_WAIT_PRIVATE, 2, NULL);
}

static void give(void)
{
	if (atomic_exchange(&lock, 0) == 2)
		futex(&lock, FUTEX_WAKE_PRIVATE, 1, NULL);
}

static void *work(void *unused)
{
	/* Not said to be private, as the C++ library has it. */
	while (!atomic_load(&gate))
		futex(&gate, FUTEX_WAIT, 0, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		take();
		value++;
		give();
	}
	return unused;
}

static void errors(void)
{
	atomic_uint word = 1;
	struct timespec little = {0, 1000000}, now;

	assert(futex(&word, FUTEX_WAIT_PRIVATE, 0, NULL) == -1 && errno == EAGAIN);
	assert(futex(&word, FUTEX_WAIT_PRIVATE, 1, &little) == -1 && errno == ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &now);
	assert(futex(&word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, 1, &now) == -1 && errno == ETIMEDOUT);
	clock_gettime(CLOCK_REALTIME, &now);
	assert(futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 1, &now) == -1 && errno == ETIMEDOUT);
	assert(futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL) == 0);
	assert(futex(&word, 127, 1, NULL) == -1 && errno == ENOSYS);
	assert(syscall(SYS_getpid) == getpid());
	assert(syscall(-1) == -1 && errno == ENOSYS);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	(void)argv;
	errors();
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	if (argc == 1) {
		atomic_store(&gate, 1);
		futex(&gate, FUTEX_WAKE, THREADS, NULL);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return value != THREADS * ROUNDS;
}
