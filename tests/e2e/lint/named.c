/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Locks and threads that only a spec file knows of: a lock that is made of an
 * atomic flag, and threads that a library starts.
 * build: -c
 * lint: --spec=FOLDER/named.spec
 * expect: deposit stale-value account.balance
 */
#include <stdatomic.h>

struct account {
	long number;
	atomic_flag busy;
	long balance, fee;
};

typedef void job(struct account *account);

/* Of some library. */
void pool_run(int priority, job *job, struct account *account);

static struct account account;

static void take(struct account *a)
{
	while (atomic_flag_test_and_set(&a->busy))
		;
}

static void let_go(int how, struct account *a)
{
	(void)how;
	atomic_flag_clear(&a->busy);
}

static long balance(struct account *a)
{
	long now;

	take(a);
	now = a->balance;
	let_go(0, a);
	return now;
}

static void set_balance(struct account *a, long to)
{
	take(a);
	a->balance = to;
	let_go(0, a);
}

static void deposit(struct account *a)
{
	set_balance(a, balance(a) + 1);
}

/* In one critical section. */
static void charge(struct account *a)
{
	take(a);
	a->fee = a->fee + 1;
	let_go(0, a);
}

static void work(struct account *a)
{
	deposit(a);
	charge(a);
}

int main(void)
{
	for (int i = 0; i < 4; i++)
		pool_run(1, work, &account);
	return 0;
}
