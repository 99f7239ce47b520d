/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Threads that come and go, inside sections all the time, which locks keep
 * whole: left by every way there is, interrupted by signals whose handlers
 * access the same data, forked in the middle. Prints the sum, which must be
 * right; nothing may be told.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

enum { THREADS = 16, WAVES = 6, ROUNDS = 400, COUNTERS = 5 };

struct counter {
	pthread_mutex_t lock;
	long value, twice;
	long big[12];
};

static struct counter counters[COUNTERS];
static volatile long seen;

static void on_alarm(int number)
{
	(void)number;
	seen += counters[0].value != 0;
}

NOINLINE long add(struct counter *c, long n)
{
	long value = c->value;

	if (n & 1)
		return value;
	c->value = value + 1;
	return c->value;
}

NOINLINE void add_deep(struct counter *c, int depth)
{
	long twice = c->twice;

	if (depth)
		add_deep(c, depth - 1);
	else
		c->twice = twice + 2;
}

static __thread jmp_buf out;

NOINLINE void add_and_jump(struct counter *c)
{
	long value = c->value;

	c->value = value + 2;
	longjmp(out, 1);
}

NOINLINE void copy(struct counter *c)
{
	long big[12];

	memcpy(big, c->big, sizeof big);
	big[0]++;
	memcpy(c->big, big, sizeof big);
}

static void *work(void *unused)
{
	for (long i = 0; i < ROUNDS; i++) {
		struct counter *c = &counters[i % COUNTERS];

		pthread_mutex_lock(&c->lock);
		add(c, i);
		add_deep(c, 3);
		if (!setjmp(out))
			add_and_jump(c);
		copy(c);
		pthread_mutex_unlock(&c->lock);
	}
	return unused;
}

int main(void)
{
	struct itimerval often = {{0, 2000}, {0, 2000}};
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	long value = 0, twice = 0, big = 0;

	for (int i = 0; i < COUNTERS; i++)
		pthread_mutex_init(&counters[i].lock, NULL);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int wave = 0; wave < WAVES; wave++) {
		pthread_t threads[THREADS];
		pid_t child;

		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, work, NULL);
		child = fork();
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < COUNTERS; i++) {
		value += counters[i].value;
		twice += counters[i].twice;
		big += counters[i].big[0];
	}
	printf("%ld %ld %ld\n", value, twice, big);
	return value == (long)THREADS * WAVES * ROUNDS * 5 / 2 &&
			       twice == (long)THREADS * WAVES * ROUNDS * 2 &&
			       big == (long)THREADS * WAVES * ROUNDS
		       ? 0
		       : 1;
}
