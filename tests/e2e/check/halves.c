/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A struct of which another one is just the second half, on the heap. The block has room for
 * two of the other one, but is no array of them: what is in it belongs to the whole, and `add`
 * is a unit on that, which `put` comes into. `row` is an array, whose elements are by themselves: what
 * `sum` does to two of them is none of `set`'s business.
 */
#include "stage.h"

struct range {
	long low, high;
};
struct table {
	long users, lock_words;
	struct range range;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table *table;
static struct range *row;

static long range_low(const struct range *r)
{
	return r->low;
}

static void range_move(struct range *r, long low)
{
	r->low = low;
	r->high = low + 10;
}

__attribute__((noinline)) static long table_low(struct table *t)
{
	pthread_mutex_lock(&lock);
	long low = range_low(&t->range);
	pthread_mutex_unlock(&lock);
	return low;
}

__attribute__((noinline)) static void table_move(struct table *t, long low)
{
	pthread_mutex_lock(&lock);
	range_move(&t->range, low);
	pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void add(struct table *t)
{
	long low = table_low(t);

	STAGE(0);
	STAGE(3);
	table_move(t, low + 1);
}

__attribute__((noinline)) static void put(struct table *t)
{
	STAGE(1);
	table_move(t, 5);
	STAGE(2);
}

__attribute__((noinline)) static long sum(struct range *of)
{
	pthread_mutex_lock(&lock);
	long low = of[0].low;
	pthread_mutex_unlock(&lock);
	STAGE(4);
	STAGE(7);
	pthread_mutex_lock(&lock);
	of[0].high = low;
	pthread_mutex_unlock(&lock);
	return low;
}

__attribute__((noinline)) static void set(struct range *of)
{
	STAGE(5);
	pthread_mutex_lock(&lock);
	of->low = of->high = 3;
	pthread_mutex_unlock(&lock);
	STAGE(6);
}

static void *one(void *unused)
{
	add(table);
	use((int)sum(row));
	return unused;
}

static void *other(void *unused)
{
	put(table);
	set(&row[1]);
	return unused;
}

int main(void)
{
	table = malloc(sizeof *table);
	row = malloc(2 * sizeof *row);
	table->users = 2;
	table->lock_words = 0;
	range_move(&table->range, 0);
	range_move(&row[0], 0);
	range_move(&row[1], 0);
	TOGETHER(one, other);
	return table->range.low != 1;
}
