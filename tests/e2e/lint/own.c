/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Objects from an allocator of the program's own. Until one is put where others
 * find it, nobody comes in between: neither while it is filled in, nor when it is
 * given back unused. What is done to it afterwards is another matter.
 *
 * expect: rename_first stale-value item.size
 */
#include <pthread.h>
#include <stdlib.h>

struct item {
	struct item *next;
	long size, state;
};

static struct {
	pthread_mutex_t lock;
	struct item *unused;
} pool = {PTHREAD_MUTEX_INITIALIZER, NULL};

static struct {
	pthread_mutex_t lock;
	struct item *first;
} list = {PTHREAD_MUTEX_INITIALIZER, NULL};

static struct item *take(void)
{
	struct item *item;

	pthread_mutex_lock(&pool.lock);
	item = pool.unused;
	if (item)
		pool.unused = item->next;
	pthread_mutex_unlock(&pool.lock);
	return item;
}

static struct item *item_new(void)
{
	struct item *item = take();

	if (!item)
		return NULL;
	pthread_mutex_lock(&list.lock);
	item->state = list.first != NULL;
	pthread_mutex_unlock(&list.lock);
	return item;
}

static void item_fill(struct item *item, long size)
{
	pthread_mutex_lock(&list.lock);
	item->size = size;
	pthread_mutex_unlock(&list.lock);
}

static void item_free(struct item *item)
{
	pthread_mutex_lock(&pool.lock);
	item->state = 0;
	item->size = 0;
	item->next = pool.unused;
	pool.unused = item;
	pthread_mutex_unlock(&pool.lock);
}

static void item_put(struct item *item)
{
	pthread_mutex_lock(&list.lock);
	item->next = list.first;
	list.first = item;
	pthread_mutex_unlock(&list.lock);
}

static long total(void)
{
	long sum = 0;

	pthread_mutex_lock(&list.lock);
	for (struct item *i = list.first; i; i = i->next)
		sum += i->size * i->state;
	pthread_mutex_unlock(&list.lock);
	return sum;
}

static long first_size(void)
{
	long size;

	pthread_mutex_lock(&list.lock);
	size = list.first ? list.first->size : 0;
	pthread_mutex_unlock(&list.lock);
	return size;
}

static void set_first(long size)
{
	pthread_mutex_lock(&list.lock);
	if (list.first)
		list.first->size = size;
	pthread_mutex_unlock(&list.lock);
}

/* In three regions, but nobody has seen it. */
static void add(long size)
{
	struct item *item = item_new();

	if (!item)
		return;
	item_fill(item, size);
	item_put(item);
}

/* In two regions, and everybody sees it. */
static void rename_first(void)
{
	set_first(first_size() + 1);
}

static void *work(void *unused)
{
	for (int i = -3; i < 10; i++) {
		add(i);
		rename_first();
		if (total() < 0)
			abort();
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 50; i++) {
		struct item *item = calloc(1, sizeof(*item));

		if (!item)
			return 1;
		item_free(item);
	}
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
