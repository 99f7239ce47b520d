/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Store, in MoTH's Table 2. Clients order, workers treat orders, suppliers
 * bring more; a product that is sold out is marked so.
 *
 * What breaks: serve asks in one critical section whether there are orders and
 * treats one in the next, by which time it may be gone (a stale value); supply
 * raises the number in one critical section and takes off the mark in another,
 * between which a client sees a product that is there and sold out (a high-
 * level data race).
 *
 * How it shows: exit status 1 if an order was not there, or a product seen
 * that is there and sold out.
 *
 * usage: store
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { KIND = 3, ROUNDS = 5 };

struct product {
	pthread_mutex_t lock;
	int number;
	bool sold_out; /* exactly if the number is 0 */
};

struct orders {
	pthread_mutex_t lock;
	int count;
	int missing; /* orders that were not there */
};

static struct product product = {.lock = PTHREAD_MUTEX_INITIALIZER, .sold_out = true};
static struct orders orders = {.lock = PTHREAD_MUTEX_INITIALIZER, .count = 1};

static void raise_number(struct product *p, int by)
{
	pthread_mutex_lock(&p->lock);
	p->number += by;
	pthread_mutex_unlock(&p->lock);
}

static void set_sold_out(struct product *p, bool sold_out)
{
	pthread_mutex_lock(&p->lock);
	p->sold_out = sold_out;
	pthread_mutex_unlock(&p->lock);
}

static void take_one(struct product *p)
{
	pthread_mutex_lock(&p->lock);
	if (p->number > 0 && --p->number == 0)
		p->sold_out = true;
	pthread_mutex_unlock(&p->lock);
}

static bool is_consistent(struct product *p)
{
	bool consistent;

	pthread_mutex_lock(&p->lock);
	consistent = p->sold_out == (p->number == 0);
	pthread_mutex_unlock(&p->lock);
	return consistent;
}

static void supply(struct product *p, int by)
{
	raise_number(p, by);
	STAGE(1);
	STAGE(4);
	set_sold_out(p, false);
}

static void order(struct orders *o)
{
	pthread_mutex_lock(&o->lock);
	o->count++;
	pthread_mutex_unlock(&o->lock);
}

static bool has_orders(struct orders *o)
{
	bool has;

	pthread_mutex_lock(&o->lock);
	has = o->count > 0;
	pthread_mutex_unlock(&o->lock);
	return has;
}

static void treat_order(struct orders *o)
{
	pthread_mutex_lock(&o->lock);
	if (o->count > 0)
		o->count--;
	else
		o->missing++;
	pthread_mutex_unlock(&o->lock);
}

static bool serve(struct orders *o)
{
	if (!has_orders(o))
		return false;
	MEET(2);
	treat_order(o);
	PASS();
	return true;
}

static void *supplier(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		supply(&product, 1);
	return unused;
}

static void *client(void *inconsistent)
{
	for (int i = 0; i < ROUNDS; i++) {
		STAGE(2);
		*(int *)inconsistent += !is_consistent(&product);
		STAGE(3);
		AWAIT(6);
		order(&orders);
	}
	return NULL;
}

static void *worker(void *unused)
{
	AWAIT(4);
	for (int i = 0; i < ROUNDS; i++)
		if (serve(&orders))
			take_one(&product);
	return unused;
}

int main(void)
{
	pthread_t threads[3 * KIND];
	int inconsistent[KIND] = {0}, sum = 0;

	for (int i = 0; i < KIND; i++)
		if (pthread_create(&threads[3 * i], NULL, supplier, NULL) ||
		    pthread_create(&threads[3 * i + 1], NULL, client, &inconsistent[i]) ||
		    pthread_create(&threads[3 * i + 2], NULL, worker, NULL))
			return 2;
	for (int i = 0; i < 3 * KIND; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < KIND; i++)
		sum += inconsistent[i];
	printf("%d orders were not there, %d products were inconsistent\n", orders.missing, sum);
	return orders.missing || sum;
}
