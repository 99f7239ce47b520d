/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Values of all sizes, and of both signs, that a deposit reads, another one
 * changes, and the first one writes again.
 */
#include "stage.h"

#include <stdint.h>

struct account {
	pthread_mutex_t lock;
	int64_t balance;
	int32_t deposits;
	int16_t owner;
	int8_t grade;
	int64_t pattern;
};

static struct account account = {PTHREAD_MUTEX_INITIALIZER, -100, 70000, -300, -7, 0x0123456789abcdef << 3};

static int64_t get(struct account *a)
{
	pthread_mutex_lock(&a->lock);
	int64_t balance = a->balance;

	use(a->deposits);
	use(a->owner);
	use(a->grade);
	use((int)(a->pattern >> 32));
	pthread_mutex_unlock(&a->lock);
	return balance;
}

static void set(struct account *a, int64_t balance)
{
	pthread_mutex_lock(&a->lock);
	a->balance = balance;
	pthread_mutex_unlock(&a->lock);
}

void deposit(struct account *a, int64_t amount, int before, int after)
{
	int64_t balance = get(a);

	STAGE(before);
	STAGE(after);
	set(a, balance + amount);
}

static void *first(void *unused)
{
	deposit(&account, 5, 0, 4);
	return unused;
}

static void *second(void *unused)
{
	STAGE(1);
	deposit(&account, 1000, 2, 3);
	return unused;
}

int main(void)
{
	TOGETHER(first, second);
	use((int)account.balance);
	return 0;
}
