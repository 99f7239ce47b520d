/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shop, of the ConTest programs in Marathon's Table 1. A supplier fills a
 * shop, and customers come ten times each.
 *
 * What breaks: buy asks in one critical section whether there is something,
 * and takes it in the next; meanwhile another customer takes the last piece.
 *
 * How it shows: exit status 1 if a customer had to take from an empty shop.
 *
 * usage: shop [CUSTOMERS]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { MOST = 20, TIMES = 10 };

struct shop {
	pthread_mutex_t lock;
	int items;
	int missed; /* taken though there was nothing */
	int storage[MOST * TIMES];
};

static struct shop shop = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int customers = 6;

static void put_item(struct shop *s, int item)
{
	pthread_mutex_lock(&s->lock);
	s->storage[s->items++] = item;
	pthread_mutex_unlock(&s->lock);
}

static int get_item(struct shop *s)
{
	int item = -1;

	pthread_mutex_lock(&s->lock);
	if (s->items > 0)
		item = s->storage[--s->items];
	else
		s->missed++;
	pthread_mutex_unlock(&s->lock);
	return item;
}

static bool is_empty(struct shop *s)
{
	bool empty;

	pthread_mutex_lock(&s->lock);
	empty = s->items == 0;
	pthread_mutex_unlock(&s->lock);
	return empty;
}

static int buy(struct shop *s)
{
	int item;

	if (is_empty(s))
		return -1;
	MEET(2);
	item = get_item(s);
	PASS();
	return item;
}

static void *supplier(void *unused)
{
	put_item(&shop, 0);
	PASS();
	AWAIT(3);
	for (int i = 1; i < TIMES * customers; i++)
		put_item(&shop, i);
	return unused;
}

static void *customer(void *unused)
{
	AWAIT(1);
	for (int i = 0; i < TIMES; i++)
		buy(&shop);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[MOST + 1];

	if (argc > 1)
		customers = atoi(argv[1]);
	if (customers < 1 || customers > MOST)
		return 2;
	if (pthread_create(&threads[customers], NULL, supplier, NULL))
		return 2;
	for (int i = 0; i < customers; i++)
		if (pthread_create(&threads[i], NULL, customer, NULL))
			return 2;
	for (int i = 0; i <= customers; i++)
		pthread_join(threads[i], NULL);
	printf("%d customers took from an empty shop\n", shop.missed);
	return shop.missed != 0;
}
