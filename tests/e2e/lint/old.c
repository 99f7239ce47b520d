/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A part of a program whose bitcode another version of clang has made, with
 * pointers that have types: old.bc, by `clang-14 -g -O1 -c -emit-llvm old.c`.
 */
#include <pthread.h>

struct account {
	pthread_mutex_t lock;
	long balance;
};

static long balance(struct account *a)
{
	long now;

	pthread_mutex_lock(&a->lock);
	now = a->balance;
	pthread_mutex_unlock(&a->lock);
	return now;
}

static void set_balance(struct account *a, long to)
{
	pthread_mutex_lock(&a->lock);
	a->balance = to;
	pthread_mutex_unlock(&a->lock);
}

void deposit(struct account *a, long amount)
{
	set_balance(a, balance(a) + amount);
}
