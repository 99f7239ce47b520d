/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Locks behind a table of functions, which can be turned off: one set takes a lock,
 * another does nothing. And a lock that is not there need not be taken.
 *
 * expect: transfer stale-value account.balance
 */
#include <pthread.h>
#include <stdlib.h>

struct lock {
	pthread_mutex_t mutex;
	int number;
};

struct methods {
	void (*enter)(struct lock *);
	void (*leave)(struct lock *);
};

struct account {
	struct lock *lock;
	long balance, entries;
};

static void real_enter(struct lock *l)
{
	pthread_mutex_lock(&l->mutex);
}

static void real_leave(struct lock *l)
{
	pthread_mutex_unlock(&l->mutex);
}

static void no_enter(struct lock *l)
{
}

static void no_leave(struct lock *l)
{
}

static const struct methods real = {real_enter, real_leave}, none = {no_enter, no_leave};
static struct methods methods;
static struct account account;

static void lock_enter(struct lock *l)
{
	if (l)
		methods.enter(l);
}

static void lock_leave(struct lock *l)
{
	if (l)
		methods.leave(l);
}

static long balance(struct account *a)
{
	long n;

	lock_enter(a->lock);
	n = a->balance;
	lock_leave(a->lock);
	return n;
}

static void set_balance(struct account *a, long n)
{
	lock_enter(a->lock);
	a->balance = n;
	a->entries++;
	lock_leave(a->lock);
}

static void transfer(struct account *a, long n)
{
	set_balance(a, balance(a) + n);
}

static void deposit(struct account *a, long n)
{
	lock_enter(a->lock);
	a->balance = a->balance + n;
	a->entries++;
	lock_leave(a->lock);
}

static void *work(void *unused)
{
	for (int i = 0; i < 100; i++) {
		transfer(&account, 1);
		deposit(&account, 1);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	methods = argc > 1 ? none : real;
	account.lock = malloc(sizeof(*account.lock));
	if (!account.lock)
		return 1;
	pthread_mutex_init(&account.lock->mutex, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return argv[0] == NULL;
}
