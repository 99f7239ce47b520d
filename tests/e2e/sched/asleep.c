/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads that sleep and wake each other in the kernel by calls that nobody announces. */
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ROUNDS = 10 };

static atomic_int turn;

static void wait_for(int what)
{
	for (int is; (is = atomic_load(&turn)) != what;)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, is, NULL);
}

static void go_to(int what)
{
	atomic_store(&turn, what);
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, INT_MAX);
}

static void *even(void *unused)
{
	for (int i = 0; i < ROUNDS; i += 2) {
		wait_for(i);
		go_to(i + 1);
	}
	return unused;
}

static void *odd(void *unused)
{
	for (int i = 1; i < ROUNDS; i += 2) {
		wait_for(i);
		go_to(i + 1);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, odd, NULL);
	pthread_create(&threads[1], NULL, even, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return turn != ROUNDS;
}
