/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Rows that outlive the table which they belong to. The first table is gone when the
 * second one gets its rows: they are the second one's then, and what a function on it
 * does to a row in two critical sections is one thing. Rows that two tables have at the
 * same time are nobody's own.
 */
#include "stage.h"

struct row {
	long stock;
	long sold;
};

struct table {
	pthread_mutex_t lock;
	struct row *rows;
	long changes;
};

static long row_stock(struct table *t, int i)
{
	long now;

	pthread_mutex_lock(&t->lock);
	now = t->rows[i].stock;
	pthread_mutex_unlock(&t->lock);
	return now;
}

static void row_set(struct table *t, int i, long stock)
{
	pthread_mutex_lock(&t->lock);
	t->rows[i].stock = stock;
	t->changes++;
	pthread_mutex_unlock(&t->lock);
}

void take(struct table *t, int i)
{
	pthread_mutex_lock(&t->lock);
	t->rows[i].stock--;
	t->rows[i].sold++;
	pthread_mutex_unlock(&t->lock);
}

/* Not atomic: a third function, which touches no row itself, works on the table. */
void refill(struct table *t, int i)
{
	long now = row_stock(t, i);

	STAGE(0);
	STAGE(3);
	row_set(t, i, now + 10);
}

static struct table *table_new(struct row *rows)
{
	struct table *t = calloc(1, sizeof(*t));

	pthread_mutex_init(&t->lock, NULL);
	t->rows = rows;
	return t;
}

static struct table *table;

static void *refiller(void *unused)
{
	refill(table, 1);
	return unused;
}

static void *taker(void *unused)
{
	STAGE(1);
	take(table, 1);
	STAGE(2);
	return unused;
}

int main(void)
{
	struct row *rows = calloc(4, sizeof(*rows));
	pthread_t one, two;

	table = table_new(rows);
	for (int i = 0; i < 4; i++) {
		row_set(table, i, 5);
		take(table, i);
	}
	free(table);
	table = table_new(rows);
	pthread_create(&one, NULL, refiller, NULL);
	pthread_create(&two, NULL, taker, NULL);
	pthread_join(one, NULL);
	pthread_join(two, NULL);
	free(table);
	free(rows);
	return 0;
}
