/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: an old value that is validated. A price
 * is read in one critical section, something expensive is computed from it,
 * and the result is stored in a second one, if the price is still the same;
 * otherwise everything begins anew. (DoubleCheck in MoTH's Table 1 is of this
 * kind; see right/double_check.)
 *
 * Why it looks wrong: a value leaves one critical section and enters another.
 * Why it is right: the second one finds out whether it has become old, and a
 * version that only grows tells apart what looks the same.
 *
 * Exit status 1 if an update is lost.
 *
 * usage: validation
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { THREADS = 3, ROUNDS = 10 };

struct price {
	pthread_mutex_t lock;
	long value;
	unsigned long version;
};

static struct price price = {.lock = PTHREAD_MUTEX_INITIALIZER};

static long snapshot(struct price *p, unsigned long *version)
{
	long value;

	pthread_mutex_lock(&p->lock);
	value = p->value;
	*version = p->version;
	pthread_mutex_unlock(&p->lock);
	return value;
}

static bool replace(struct price *p, unsigned long version, long value)
{
	bool same;

	pthread_mutex_lock(&p->lock);
	same = p->version == version;
	if (same) {
		p->value = value;
		p->version++;
	}
	pthread_mutex_unlock(&p->lock);
	return same;
}

static void raise_price(struct price *p)
{
	unsigned long version;
	long value;

	do {
		value = snapshot(p, &version);
		MEET(THREADS);
	} while (!replace(p, version, value + 1));
}

static void *raiser(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		raise_price(&price);
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, raiser, NULL))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("raised to %ld of %d\n", price.value, THREADS * ROUNDS);
	return price.value != THREADS * ROUNDS;
}
