/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Marathon, Figure 1: a transfer between two members of an account counts
 * operations in another object, before and after. Another thread counts in
 * between. Nothing is wrong, for no invariant ties the counter to the account;
 * with everything in one set it is a violation.
 */
#include "stage.h"

struct account {
	pthread_mutex_t lock;
	int checking, savings;
};

static struct account account = {PTHREAD_MUTEX_INITIALIZER, 0, 100};

struct global {
	pthread_mutex_t lock;
	int operations;
};

static struct global global = {PTHREAD_MUTEX_INITIALIZER, 0};

void count(struct global *g)
{
	pthread_mutex_lock(&g->lock);
	g->operations++;
	pthread_mutex_unlock(&g->lock);
}

void transfer(struct account *a, int amount)
{
	pthread_mutex_lock(&a->lock);
	count(&global);
	STAGE(0);
	a->checking += amount;
	a->savings -= amount;
	STAGE(3);
	count(&global);
	pthread_mutex_unlock(&a->lock);
}

static void *first(void *unused)
{
	transfer(&account, 10);
	return unused;
}

static void *second(void *unused)
{
	STAGE(1);
	count(&global);
	STAGE(2);
	return unused;
}

int main(void)
{
	TOGETHER(first, second);
	return global.operations != 3;
}
