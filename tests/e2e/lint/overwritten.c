/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A cache is asked, and the answer comes by a pointer to a local. Who gets none computes the value
 * and adds it: what an answer would have been is not put back. Who
 * changes what it got and puts that back loses what others did.
 * expect: bump stale-value entry.value
 * expect: bump stale-value cache.first
 */
#include <pthread.h>
#include <stdlib.h>

struct entry {
	int key, value;
	struct entry *next;
};

struct cache {
	pthread_mutex_t lock;
	struct entry *first;
	int size;
};

static struct cache cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct entry *find(struct cache *c, int key)
{
	struct entry *e = c->first;

	while (e && e->key != key)
		e = e->next;
	return e;
}

static int get(struct cache *c, int key, int *value)
{
	struct entry *e;

	pthread_mutex_lock(&c->lock);
	e = find(c, key);
	if (e)
		*value = e->value;
	pthread_mutex_unlock(&c->lock);
	return e != NULL;
}

static void set(struct cache *c, int key, int value)
{
	struct entry *e;

	pthread_mutex_lock(&c->lock);
	e = find(c, key);
	if (e)
		e->value = value;
	pthread_mutex_unlock(&c->lock);
}

static void add(struct cache *c, int key, int value)
{
	struct entry *e, *new = malloc(sizeof(*new));

	if (!new)
		abort();
	new->key = key;
	new->value = value;
	pthread_mutex_lock(&c->lock);
	e = find(c, key);
	if (!e) {
		new->next = c->first;
		c->first = new;
		c->size++;
	}
	pthread_mutex_unlock(&c->lock);
	if (e)
		free(new);
}

static int load(struct cache *c, int key)
{
	int value;

	if (!get(c, key, &value)) {
		value = key * key;
		add(c, key, value);
	}
	return value;
}

static void bump(struct cache *c, int key)
{
	int value;

	if (get(c, key, &value)) {
		value = value + 1;
		set(c, key, value);
	}
}

static void *work(void *unused)
{
	for (int i = 0; i < 8; i++)
		if (load(&cache, i % 3) > 3)
			bump(&cache, i % 3);
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return cache.size > 3;
}
