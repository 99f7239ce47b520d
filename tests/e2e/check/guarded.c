/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Items have a lock of their own, and are made and listed under the table's: that is the first that a run
 * shows of them. They are sets by themselves all the same. Who looks at one after the other, each under its
 * lock, does not mean them to be one; who tests one and takes of it in another critical section is not
 * atomic, be it by way of the table. What has no lock of its own belongs to the table.
 */
#include "stage.h"

struct item {
	int stock, limit;
	pthread_mutex_t lock;
};
struct label {
	int printed, wanted;
};
struct table {
	pthread_mutex_t lock;
	int used;
	struct item *items[2];
	struct label *label;
};

static struct table table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void add(struct table *t, int stock)
{
	pthread_mutex_lock(&t->lock);
	t->items[t->used] = malloc(sizeof(struct item));
	pthread_mutex_init(&t->items[t->used]->lock, NULL);
	t->items[t->used]->stock = stock;
	t->items[t->used]->limit = 2 * stock;
	if (!t->used++)
		t->label = calloc(1, sizeof(struct label));
	t->label->wanted++;
	pthread_mutex_unlock(&t->lock);
}

static void change(struct item *item, int by)
{
	pthread_mutex_lock(&item->lock);
	item->stock += by;
	pthread_mutex_unlock(&item->lock);
}

/* Right: nobody promises a sum of one moment. */
static void sum(struct table *t)
{
	int all = 0;

	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&t->items[i]->lock);
		all += t->items[i]->stock;
		pthread_mutex_unlock(&t->items[i]->lock);
		if (!i) {
			STAGE(0);
			STAGE(3);
		}
	}
	use(all);
}

/* Not atomic. */
static void reserve(struct table *t)
{
	pthread_mutex_lock(&t->items[0]->lock);
	int there = t->items[0]->stock > 0;
	pthread_mutex_unlock(&t->items[0]->lock);
	STAGE(4);
	STAGE(7);
	if (there)
		change(t->items[0], -1);
}

/* Not atomic: how many there are, and what their label says. */
static void print(struct table *t)
{
	pthread_mutex_lock(&t->lock);
	int used = t->used;
	pthread_mutex_unlock(&t->lock);
	STAGE(8);
	STAGE(11);
	pthread_mutex_lock(&t->lock);
	t->label->printed = used;
	pthread_mutex_unlock(&t->lock);
}

static void relabel(struct table *t)
{
	pthread_mutex_lock(&t->lock);
	t->used++;
	t->label->printed = t->used;
	pthread_mutex_unlock(&t->lock);
}

static void *one(void *unused)
{
	sum(&table);
	reserve(&table);
	print(&table);
	return unused;
}

static void *other(void *unused)
{
	STAGE(1);
	change(table.items[0], 1);
	change(table.items[1], 1);
	STAGE(2);
	STAGE(5);
	change(table.items[0], -1);
	STAGE(6);
	STAGE(9);
	relabel(&table);
	STAGE(10);
	return unused;
}

int main(void)
{
	add(&table, 3);
	add(&table, 4);
	TOGETHER(one, other);
	return 0;
}
