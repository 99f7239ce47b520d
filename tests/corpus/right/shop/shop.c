/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/shop: who finds something has it.
 *
 * Exit status 1 if a customer had to take from an empty shop.
 *
 * usage: shop [CUSTOMERS]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

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

/* The lock is held. */
static int get_item(struct shop *s)
{
	if (s->items > 0)
		return s->storage[--s->items];
	s->missed++;
	return -1;
}

/* The lock is held. */
static bool is_empty(struct shop *s)
{
	return s->items == 0;
}

static int buy(struct shop *s)
{
	int item = -1;

	pthread_mutex_lock(&s->lock);
	if (!is_empty(s))
		item = get_item(s);
	pthread_mutex_unlock(&s->lock);
	return item;
}

static void *supplier(void *unused)
{
	for (int i = 0; i < TIMES * customers; i++)
		put_item(&shop, i);
	return unused;
}

static void *customer(void *unused)
{
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
