/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Long calls that are one unit. They fill a table of their own, call by call, so that
 * all they did is taken back as they go on; then the other thread has its turn, and
 * they come back to what they did at first, or do not.
 *
 *   entire broken    the balance is read, long before it is written: found
 *   entire written   the balance is written, and later read: found
 *   entire lent      the other thread changes what was read, and nobody comes back
 *   entire apart     the other thread has its own account
 *   entire inner     the long call has become known as one unit when it begins to make others' units: found
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Each half is more than the windows that may be held. */
enum { PAGES = 1024, PAGE = 1024, ROUNDS = 2 };

struct account {
	pthread_mutex_t lock;
	long balance;
	long notes;
};

struct ledger {
	pthread_mutex_t lock;
	long balance;
	long *pages;
	struct account *other;
	long sum;
};

static int to_other[2], to_ledger[2];
static const char *mode;
static struct ledger ledger = {.lock = PTHREAD_MUTEX_INITIALIZER, .balance = 100};
static struct account account = {.lock = PTHREAD_MUTEX_INITIALIZER, .balance = 100};

static int is(const char *name)
{
	return !strcmp(mode, name);
}

/* The kernel keeps the order, and no lock or condition that a checker knows of. */
static void turn(int out, int in)
{
	char c = 0;

	if (write(out, &c, 1) != 1 || read(in, &c, 1) != 1)
		abort();
}

long ledger_balance(struct ledger *l)
{
	long now;

	pthread_mutex_lock(&l->lock);
	now = l->balance;
	pthread_mutex_unlock(&l->lock);
	return now;
}

void ledger_set(struct ledger *l, long balance)
{
	pthread_mutex_lock(&l->lock);
	l->balance = balance;
	pthread_mutex_unlock(&l->lock);
}

__attribute__((noinline)) void ledger_fill(struct ledger *l, int page, int round)
{
	/* Here and there, lest it be told as a range. */
	for (unsigned i = 0; i < PAGE; i++)
		l->pages[(((unsigned)page * PAGE + i) * 40503u + (unsigned)round) % (PAGES * PAGE)] += i;
}

__attribute__((noinline)) long ledger_digit(struct ledger *l, int i)
{
	return l->sum += l->pages[i % PAGE];
}

/* A half of the pages. */
static void ledger_work(struct ledger *l, int half)
{
	for (int i = 0; i < 20000; i++)
		ledger_digit(l, i);
	for (int round = 0; round < ROUNDS; round++)
		for (int page = 0; page < PAGES / 2; page++)
			ledger_fill(l, page + half * PAGES / 2, round);
}

void account_move(struct account *a, struct ledger *l)
{
	long before, after;

	pthread_mutex_lock(&a->lock);
	before = a->balance;
	pthread_mutex_unlock(&a->lock);
	turn(to_other[1], to_ledger[0]);
	pthread_mutex_lock(&a->lock);
	after = a->balance = before + 1;
	a->notes = after - before;
	pthread_mutex_unlock(&a->lock);
}

void ledger_close(struct ledger *l)
{
	long before = 0;

	/* The checker sees that it is one unit. */
	ledger_work(l, 0);
	if (is("broken") || is("lent"))
		before = ledger_balance(l);
	if (is("written"))
		ledger_set(l, 7);
	ledger_work(l, 1);
	if (is("inner")) {
		account_move(l->other, l);
		return;
	}
	turn(to_other[1], to_ledger[0]);
	ledger_digit(l, 1);
	if (is("broken"))
		ledger_set(l, before + 1);
	if (is("written"))
		l->sum += ledger_balance(l);
}

static void *close_books(void *unused)
{
	ledger_close(&ledger);
	return unused;
}

void ledger_deposit(struct ledger *l)
{
	pthread_mutex_lock(&l->lock);
	l->balance += 10;
	pthread_mutex_unlock(&l->lock);
}

void account_deposit(struct account *a)
{
	pthread_mutex_lock(&a->lock);
	a->balance += 10;
	pthread_mutex_unlock(&a->lock);
}

static void *deposit(void *unused)
{
	char c;

	if (read(to_other[0], &c, 1) != 1)
		abort();
	if (is("apart") || is("inner"))
		account_deposit(&account);
	else
		ledger_deposit(&ledger);
	if (write(to_ledger[1], &c, 1) != 1)
		abort();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t one, two;

	mode = argc > 1 ? argv[1] : "";
	ledger.pages = calloc(PAGES * PAGE, sizeof *ledger.pages);
	ledger.other = &account;
	if (!ledger.pages || pipe(to_other) || pipe(to_ledger))
		return 1;
	if (pthread_create(&one, NULL, close_books, NULL) || pthread_create(&two, NULL, deposit, NULL))
		return 1;
	pthread_join(one, NULL);
	pthread_join(two, NULL);
	printf("%ld %ld %ld\n", ledger.balance, account.balance, ledger.sum & 1);
	free(ledger.pages);
	return 0;
}
