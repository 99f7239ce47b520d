/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A shelf has its items, also where they are only ever reached by what a function returns: of a row of
 * pointers that are compared by name alone, and of a chain, at whose end the optimiser makes one load of two.
 * Who tests the stock in one go and takes in another is not atomic, whoever comes in between; who does both
 * in one critical section is.
 */
#include "stage.h"

#include <string.h>

struct item {
	pthread_mutex_t lock;
	char name[8];
	int stock;
};
struct shelf {
	pthread_mutex_t lock;
	struct item *row[4];
};

struct link {
	char name[8];
	int stock;
	struct link *next;
};
struct chain {
	pthread_mutex_t lock;
	struct link *heads[2];
};

__attribute__((noinline)) static struct item *find(struct shelf *shelf, const char *name)
{
	pthread_mutex_lock(&shelf->lock);
	struct item *found = shelf->row[name[0] & 3];

	if (found && strcmp(found->name, name))
		found = NULL;
	pthread_mutex_unlock(&shelf->lock);
	return found;
}

/* What it returns another function has found. */
__attribute__((noinline)) static struct item *must_find(struct shelf *shelf, const char *name)
{
	struct item *found = find(shelf, name);

	if (!found)
		abort();
	return found;
}

static int has(struct shelf *shelf, const char *name)
{
	struct item *item = find(shelf, name);

	pthread_mutex_lock(&item->lock);
	int stock = item->stock;
	pthread_mutex_unlock(&item->lock);
	return stock > 0;
}

static void take(struct shelf *shelf, const char *name)
{
	struct item *item = must_find(shelf, name);

	pthread_mutex_lock(&item->lock);
	item->stock--;
	pthread_mutex_unlock(&item->lock);
}

/* Not atomic. */
static void reserve(struct shelf *shelf)
{
	if (!has(shelf, "a"))
		return;
	STAGE(0);
	STAGE(3);
	take(shelf, "a");
}

/* Atomic, for each. */
static int count(struct shelf *shelf)
{
	int sum = 0;

	for (int i = 'a'; i <= 'b'; i++) {
		struct item *item = shelf->row[i & 3];

		pthread_mutex_lock(&item->lock);
		sum += item->stock;
		pthread_mutex_unlock(&item->lock);
		if (i == 'a') {
			STAGE(12);
			STAGE(15);
		}
	}
	return sum;
}

/* Atomic. */
static void reserve_at_once(struct shelf *shelf)
{
	struct item *item = must_find(shelf, "b");

	pthread_mutex_lock(&item->lock);
	STAGE(4);
	STAGE(7);
	if (item->stock > 0)
		item->stock--;
	pthread_mutex_unlock(&item->lock);
}

__attribute__((noinline)) static struct link *follow(struct chain *chain, const char *name)
{
	struct link *link = chain->heads[name[0] & 1];

	while (link && strcmp(link->name, name))
		link = link->next;
	return link;
}

static int link_has(struct chain *chain)
{
	pthread_mutex_lock(&chain->lock);
	int stock = follow(chain, "a")->stock;
	pthread_mutex_unlock(&chain->lock);
	return stock > 0;
}

static void link_take(struct chain *chain)
{
	pthread_mutex_lock(&chain->lock);
	follow(chain, "a")->stock--;
	pthread_mutex_unlock(&chain->lock);
}

/* Not atomic. */
static void link_reserve(struct chain *chain)
{
	if (!link_has(chain))
		return;
	STAGE(8);
	STAGE(11);
	link_take(chain);
}

struct store {
	struct shelf shelf;
	struct chain chain;
};

static void *one(void *argument)
{
	struct store *store = argument;

	reserve(&store->shelf);
	reserve_at_once(&store->shelf);
	link_reserve(&store->chain);
	use(count(&store->shelf));
	return NULL;
}

static void *other(void *argument)
{
	struct store *store = argument;

	STAGE(1);
	take(&store->shelf, "a");
	STAGE(2);
	STAGE(5);
	STAGE(6);
	take(&store->shelf, "b");
	STAGE(9);
	link_take(&store->chain);
	STAGE(10);
	STAGE(13);
	take(&store->shelf, "a");
	take(&store->shelf, "b");
	STAGE(14);
	return NULL;
}

static struct item *item_new(const char *name)
{
	struct item *item = calloc(1, sizeof *item);

	pthread_mutex_init(&item->lock, NULL);
	strcpy(item->name, name);
	item->stock = 1;
	return item;
}

int main(void)
{
	struct store *store = calloc(1, sizeof *store);
	struct link *link = calloc(1, sizeof *link);
	pthread_t threads[2];

	pthread_mutex_init(&store->shelf.lock, NULL);
	pthread_mutex_init(&store->chain.lock, NULL);
	store->shelf.row['a' & 3] = item_new("a");
	store->shelf.row['b' & 3] = item_new("b");
	strcpy(link->name, "a");
	link->stock = 1;
	store->chain.heads['a' & 1] = link;
	if (pthread_create(&threads[0], NULL, one, store) || pthread_create(&threads[1], NULL, other, store))
		return 1;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return link->stock != -1;
}
