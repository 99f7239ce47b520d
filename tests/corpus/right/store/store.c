/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/store: an order is found and treated, and a
 * product supplied, in one critical section each.
 *
 * Exit status 1 if an order was not there, or a product seen that is there and
 * sold out.
 *
 * usage: store
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

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
	pthread_mutex_lock(&p->lock);
	p->number += by;
	p->sold_out = false;
	pthread_mutex_unlock(&p->lock);
}

static void order(struct orders *o)
{
	pthread_mutex_lock(&o->lock);
	o->count++;
	pthread_mutex_unlock(&o->lock);
}

/* The lock is held. */
static void treat_order(struct orders *o)
{
	if (o->count > 0)
		o->count--;
	else
		o->missing++;
}

static bool serve(struct orders *o)
{
	bool has;

	pthread_mutex_lock(&o->lock);
	has = o->count > 0;
	if (has)
		treat_order(o);
	pthread_mutex_unlock(&o->lock);
	return has;
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
		*(int *)inconsistent += !is_consistent(&product);
		order(&orders);
	}
	return NULL;
}

static void *worker(void *unused)
{
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
