/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Structs on the heap that are cleared by memset() before anything else: what is in them belongs
 * together by their type, as if calloc() had given them. `add` reads and writes one account in two goes,
 * and `put` comes in between. In `row` each one is by itself, the first as well as the others: `pass`, which
 * lets one go and takes the next, is none of two others' business.
 */
#include "stage.h"

#include <string.h>

struct account {
	pthread_mutex_t lock;
	long balance;
};

/* By itself, lest the compiler call calloc(). */
__attribute__((noinline)) static void clear(struct account *all, int count)
{
	memset(all, 0, (size_t)count * sizeof *all);
}

static struct account *accounts_new(int count)
{
	struct account *made = malloc((size_t)count * sizeof *made);

	if (!made)
		exit(1);
	clear(made, count);
	for (int i = 0; i < count; i++)
		pthread_mutex_init(&made[i].lock, NULL);
	return made;
}

__attribute__((noinline)) static long get(struct account *a)
{
	pthread_mutex_lock(&a->lock);
	long balance = a->balance;
	pthread_mutex_unlock(&a->lock);
	return balance;
}

__attribute__((noinline)) static void put(struct account *a, long balance)
{
	pthread_mutex_lock(&a->lock);
	a->balance = balance;
	pthread_mutex_unlock(&a->lock);
}

__attribute__((noinline)) static void add(struct account *a)
{
	long balance = get(a);

	STAGE(0);
	STAGE(3);
	put(a, balance + 1);
}

__attribute__((noinline)) static long pass(struct account *from, struct account *to)
{
	long balance = get(from);

	STAGE(4);
	STAGE(7);
	put(to, balance);
	return balance;
}

struct bank {
	struct account *single, *row;
};

static void *one(void *argument)
{
	struct account *single = ((struct bank *)argument)->single, *row = ((struct bank *)argument)->row;

	add(single);
	use((int)pass(&row[0], &row[1]));
	return NULL;
}

static void *other(void *argument)
{
	struct account *single = ((struct bank *)argument)->single, *row = ((struct bank *)argument)->row;

	STAGE(1);
	put(single, 5);
	STAGE(2);
	STAGE(5);
	put(&row[0], 1);
	put(&row[1], 1);
	STAGE(6);
	return NULL;
}

int main(void)
{
	struct bank bank = {accounts_new(1), accounts_new(3)};
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, one, &bank) || pthread_create(&threads[1], NULL, other, &bank))
		return 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return get(bank.single) != 1;
}
