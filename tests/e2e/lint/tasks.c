/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tasks of OpenMP: each runs beside who made it, until that one waits for it. Two
 * tasks that one function makes run beside each other, and so do many of a kind.
 * build: -fopenmp -c
 * expect: deposit stale-value account.balance
 */
struct account {
	long balance;
};

static struct account account;
static long steps;

static long balance(struct account *a)
{
	long now;

#pragma omp critical(account)
	now = a->balance;
	return now;
}

static void set_balance(struct account *a, long to)
{
#pragma omp critical(account)
	a->balance = to;
}

/* By one task of many. */
static void deposit(struct account *a, long n)
{
	set_balance(a, balance(a) + n);
}

static long step(void)
{
	long now;

#pragma omp critical(steps)
	now = steps;
	return now;
}

static void set_step(long to)
{
#pragma omp critical(steps)
	steps = to;
}

/* By the one who made the tasks, when they are done: the only one that there is. */
static void advance(void)
{
	set_step(step() + 1);
}

int main(void)
{
#pragma omp task
	{
#pragma omp critical(steps)
		steps++;
	}
#pragma omp taskwait
	advance();
	for (int i = 0; i < 4; i++) {
#pragma omp task firstprivate(i)
		deposit(&account, i);
	}
#pragma omp taskwait
	return (int)balance(&account);
}
