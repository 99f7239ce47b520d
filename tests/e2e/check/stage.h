/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The interleaving of a test, written down: STAGE(n) waits until all stages
 * before n were passed. atomsan does not see it, as it does not see a
 * scheduler: what it waits with is not instrumented.
 */
#ifndef STAGE_H
#define STAGE_H

#include <atomsan/atomsan.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

ATOMSAN_IGNORE static int stage_now;

ATOMSAN_IGNORE __attribute__((noinline, unused)) static void stage(int n)
{
	while (__atomic_load_n(&stage_now, __ATOMIC_ACQUIRE) != n)
		sched_yield();
	__atomic_store_n(&stage_now, n + 1, __ATOMIC_RELEASE);
}

#define STAGE(n) stage(n)

/* A value that is used is a value that is read. */
ATOMSAN_IGNORE __attribute__((noinline, unused)) static void use(int value)
{
	static volatile int sink __attribute__((unused));

	sink = value;
}

/* Runs the functions in threads of their own and waits for them. */
__attribute__((unused)) static void together(int count, void *(**functions)(void *))
{
	pthread_t threads[8];

	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, functions[i], NULL))
			exit(1);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

#define TOGETHER(...)                                                         \
	together(sizeof((void *(*[])(void *)){__VA_ARGS__}) / sizeof(void *), \
		 (void *(*[])(void *)){__VA_ARGS__})

#endif
