/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Clerks that take one order after the other and count them. The number is
 * handed to who makes the order, and kept there as a value: the loop walks over
 * nothing, and each order is a unit.
 */
#include "stage.h"

struct order {
	long number, amount, room[2];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, torn_lock = PTHREAD_MUTEX_INITIALIZER;
static long stock, torn_stock;

static struct order order_of(long clerk, long i)
{
	struct order order = {0};

	order.number = clerk << 32 | i;
	order.amount = clerk + 1;
	return order;
}

/* Another clerk comes between two orders, and may. */
void sell(long clerk, long orders)
{
	for (long i = 0; i < orders; i++) {
		struct order order = order_of(clerk, i);

		pthread_mutex_lock(&lock);
		stock -= order.amount;
		pthread_mutex_unlock(&lock);
		if (!i) {
			STAGE(0);
			STAGE(3);
		}
	}
}

void restock(void)
{
	STAGE(1);
	pthread_mutex_lock(&lock);
	stock += 10;
	pthread_mutex_unlock(&lock);
	STAGE(2);
}

/* This one comes into an order. */
void sell_torn(long clerk, long orders)
{
	for (long i = 0; i < orders; i++) {
		struct order order = order_of(clerk, i);
		long now;

		pthread_mutex_lock(&torn_lock);
		now = torn_stock;
		pthread_mutex_unlock(&torn_lock);
		if (!i) {
			STAGE(4);
			STAGE(7);
		}
		pthread_mutex_lock(&torn_lock);
		torn_stock = now - order.amount;
		pthread_mutex_unlock(&torn_lock);
	}
}

void restock_torn(void)
{
	STAGE(5);
	pthread_mutex_lock(&torn_lock);
	torn_stock += 10;
	pthread_mutex_unlock(&torn_lock);
	STAGE(6);
}

static void *one(void *argument)
{
	sell(0, 2);
	sell_torn(0, 2);
	return argument;
}

static void *two(void *argument)
{
	restock();
	restock_torn();
	return argument;
}

int main(void)
{
	TOGETHER(one, two);
	return 0;
}
