/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Units of work that are not atomic, as they are found in programs that work:
 * lost updates, what is tested and then done, two members that belong together,
 * a list without a lock. Findings make ten sections of them: eight units are
 * wrong, and two look at what these leave half done. Compiled with -DBUGS a
 * workload serves a request of one of seven kinds every now and then, REQUEST(n)
 * says where and how often, and in the end it is said how many kinds have left
 * behind what cannot be.
 *
 * They have data of their own, so that the workload's result is the same, and
 * none of them can bring the program down, however they are broken.
 */
#ifndef BENCH_BUGS_H
#define BENCH_BUGS_H

#ifndef BUGS
#define REQUEST(every) ((void)0)
#else

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

/* The n-th time that a thread comes here it serves a request. -DBUGS=16 has it serve sixteen times as many,
 * so that a short run shows them all; -DBUGS_EVERY=10 a tenth as many. */
#ifndef BUGS_EVERY
#define BUGS_EVERY 1
#endif
#define REQUEST(every)                                                                               \
	do {                                                                                         \
		static __thread uint32_t times_;                                                     \
		if (++times_ % ((every) * BUGS_EVERY > BUGS ? (every) * BUGS_EVERY / BUGS : 1) == 0) \
			bugs_serve(bugs_kind++, times_);                                             \
	} while (0)

enum { BUGS_KINDS = 7, BUGS_POOL = 64, BUGS_WIDTH = 10, BUGS_MONEY = 1000 };

struct bug_counter {
	long count;
};
struct bug_account {
	pthread_mutex_t lock;
	long balance;
};
struct bug_tickets {
	pthread_mutex_t lock;
	long left, oversold;
};
struct bug_range {
	pthread_mutex_t lock;
	long low, high;
};
struct bug_memo {
	long key, value;
};
struct bug_buffer {
	struct bug_buffer *next;
};
struct bug_pool {
	struct bug_buffer *first;
	struct bug_buffer buffers[BUGS_POOL];
};
struct bug_ledger {
	pthread_mutex_t lock;
	long cash, stock;
};

/* Units are not static: each is a call of its own, as it would be from another file. */
#define UNIT __attribute__((noinline))

static struct bug_counter bugs_counter;
static struct bug_account bugs_account = {PTHREAD_MUTEX_INITIALIZER, 0};
static struct bug_tickets bugs_tickets = {PTHREAD_MUTEX_INITIALIZER, 1, 0};
static struct bug_range bugs_range = {PTHREAD_MUTEX_INITIALIZER, 0, BUGS_WIDTH};
static struct bug_memo bugs_memo;
static struct bug_pool bugs_pool;
static struct bug_ledger bugs_ledger = {PTHREAD_MUTEX_INITIALIZER, BUGS_MONEY, 0};

/* What each thread has seen and done; added up when it ends would need a hook, so: atomically, and seldom
 * read. */
static long bugs_served[BUGS_KINDS], bugs_torn, bugs_stale, bugs_missing;
static __thread uint32_t bugs_kind;

UNIT void bug_counter_add(struct bug_counter *counter)
{
	counter->count++;
}

static long bug_account_get(struct bug_account *account)
{
	long balance;

	pthread_mutex_lock(&account->lock);
	balance = account->balance;
	pthread_mutex_unlock(&account->lock);
	return balance;
}

static void bug_account_set(struct bug_account *account, long balance)
{
	pthread_mutex_lock(&account->lock);
	account->balance = balance;
	pthread_mutex_unlock(&account->lock);
}

UNIT void bug_account_deposit(struct bug_account *account, long amount)
{
	bug_account_set(account, bug_account_get(account) + amount);
}

/* Sells the last one, or gives one back. */
UNIT void bug_tickets_trade(struct bug_tickets *tickets)
{
	long left;

	pthread_mutex_lock(&tickets->lock);
	left = tickets->left;
	pthread_mutex_unlock(&tickets->lock);
	pthread_mutex_lock(&tickets->lock);
	tickets->left += left > 0 ? -1 : 1;
	if (tickets->left < 0 || tickets->left > 1)
		tickets->oversold++;
	pthread_mutex_unlock(&tickets->lock);
}

UNIT void bug_range_move(struct bug_range *range, long to)
{
	pthread_mutex_lock(&range->lock);
	range->low = to;
	pthread_mutex_unlock(&range->lock);
	pthread_mutex_lock(&range->lock);
	range->high = to + BUGS_WIDTH;
	pthread_mutex_unlock(&range->lock);
}

UNIT long bug_memo_square(struct bug_memo *memo, long key)
{
	if (memo->key != key) {
		memo->value = key * key;
		memo->key = key;
	}
	return memo->value;
}

UNIT struct bug_buffer *bug_pool_take(struct bug_pool *pool)
{
	struct bug_buffer *buffer = pool->first;

	if (buffer)
		pool->first = buffer->next;
	return buffer;
}

UNIT void bug_pool_give(struct bug_pool *pool, struct bug_buffer *buffer)
{
	buffer->next = pool->first;
	pool->first = buffer;
}

/* The two that look at both members at once are right: they say that the members belong together. */
UNIT long bug_range_look(struct bug_range *range)
{
	long width;

	pthread_mutex_lock(&range->lock);
	width = range->high - range->low;
	pthread_mutex_unlock(&range->lock);
	return width;
}

UNIT void bug_ledger_buy(struct bug_ledger *ledger, long amount)
{
	pthread_mutex_lock(&ledger->lock);
	ledger->cash -= amount;
	pthread_mutex_unlock(&ledger->lock);
	pthread_mutex_lock(&ledger->lock);
	ledger->stock += amount;
	pthread_mutex_unlock(&ledger->lock);
}

UNIT long bug_ledger_sum(struct bug_ledger *ledger)
{
	long sum;

	pthread_mutex_lock(&ledger->lock);
	sum = ledger->cash + ledger->stock;
	pthread_mutex_unlock(&ledger->lock);
	return sum;
}

static void bugs_serve(uint32_t kind, long value)
{
	struct bug_buffer *buffer;

	__atomic_fetch_add(&bugs_served[kind % BUGS_KINDS], 1, __ATOMIC_RELAXED);
	switch (kind % BUGS_KINDS) {
	case 0:
		bug_counter_add(&bugs_counter);
		break;
	case 1:
		bug_account_deposit(&bugs_account, 1);
		break;
	case 2:
		bug_tickets_trade(&bugs_tickets);
		break;
	case 3:
		bug_range_move(&bugs_range, value);
		if (bug_range_look(&bugs_range) != BUGS_WIDTH)
			__atomic_fetch_add(&bugs_torn, 1, __ATOMIC_RELAXED);
		break;
	case 4:
		if (bug_memo_square(&bugs_memo, value) != value * value)
			__atomic_fetch_add(&bugs_stale, 1, __ATOMIC_RELAXED);
		break;
	case 5:
		buffer = bug_pool_take(&bugs_pool);
		if (buffer)
			bug_pool_give(&bugs_pool, buffer);
		break;
	default:
		bug_ledger_buy(&bugs_ledger, value & 1 ? 1 : -1);
		if (bug_ledger_sum(&bugs_ledger) != BUGS_MONEY)
			__atomic_fetch_add(&bugs_missing, 1, __ATOMIC_RELAXED);
	}
}

static inline void bugs_begin(void)
{
	for (int i = 0; i < BUGS_POOL; i++)
		bug_pool_give(&bugs_pool, &bugs_pool.buffers[i]);
}

/* How many of what must hold does not, when all threads have ended. */
static inline void bugs_report(void)
{
	long requests = 0;
	int buffers = 0, broken = 0;

	for (struct bug_buffer *b = bugs_pool.first; b && buffers <= BUGS_POOL; b = b->next)
		buffers++;
	for (int kind = 0; kind < BUGS_KINDS; kind++)
		requests += bugs_served[kind];
	broken += bugs_counter.count != bugs_served[0];
	broken += bugs_account.balance != bugs_served[1];
	broken += bugs_tickets.oversold != 0;
	broken += bugs_range.high - bugs_range.low != BUGS_WIDTH || bugs_torn;
	broken += bugs_stale != 0;
	broken += buffers != BUGS_POOL;
	broken += bugs_ledger.cash + bugs_ledger.stock != BUGS_MONEY || bugs_missing;
	fprintf(stderr, "bugs: %ld requests, %d of %d broken\n", requests, broken, BUGS_KINDS);
}
#endif
#endif
