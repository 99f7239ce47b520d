/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Objects are looked up in a list by their names, and snapshots of a configuration by the pointer to the
 * current one; who gets one is counted as its user under the same lock. It is used, and
 * given back, in other regions: it is there still, also if the list has
 * changed or there is a newer snapshot. Who looks, gives up the lock to make an object, and
 * enters it without a second look may enter it twice.
 * expect: get_unchecked stale-value objects
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct object {
	char name[16];
	int users, hits;
	struct object *next;
	pthread_mutex_t lock;
};

struct config {
	int users, version, limits[4];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, writers = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t config_lock = PTHREAD_MUTEX_INITIALIZER;
static struct object *objects;
static struct config *current;

static struct object *find(const char *name)
{
	struct object *o = objects;

	while (o && strcmp(o->name, name) != 0)
		o = o->next;
	return o;
}

static struct object *make(const char *name)
{
	struct object *o = calloc(1, sizeof(*o));

	if (!o)
		abort();
	strncpy(o->name, name, sizeof(o->name) - 1);
	pthread_mutex_init(&o->lock, NULL);
	return o;
}

static struct object *get(const char *name)
{
	struct object *o;

	pthread_mutex_lock(&lock);
	o = find(name);
	if (!o) {
		o = make(name);
		o->next = objects;
		objects = o;
	}
	o->users++;
	pthread_mutex_unlock(&lock);
	return o;
}

static struct object *get_unchecked(const char *name)
{
	struct object *o;

	pthread_mutex_lock(&lock);
	o = find(name);
	if (!o) {
		pthread_mutex_unlock(&lock);
		o = make(name);
		pthread_mutex_lock(&lock);
		o->next = objects;
		objects = o;
	}
	o->users++;
	pthread_mutex_unlock(&lock);
	return o;
}

static void put(struct object *o)
{
	pthread_mutex_lock(&lock);
	if (--o->users) {
		pthread_mutex_unlock(&lock);
		return;
	}
	for (struct object **at = &objects; *at; at = &(*at)->next)
		if (*at == o) {
			*at = o->next;
			break;
		}
	pthread_mutex_unlock(&lock);
	free(o);
}

static void use(struct object *o)
{
	pthread_mutex_lock(&o->lock);
	o->hits++;
	pthread_mutex_unlock(&o->lock);
}

static struct config *config_get(void)
{
	struct config *c;

	pthread_mutex_lock(&config_lock);
	c = current;
	c->users++;
	pthread_mutex_unlock(&config_lock);
	return c;
}

static void config_put(struct config *c)
{
	int left;

	pthread_mutex_lock(&config_lock);
	left = --c->users;
	pthread_mutex_unlock(&config_lock);
	if (!left)
		free(c);
}

static void config_update(int slot, int value)
{
	struct config *old, *new = malloc(sizeof(*new)), *was;

	if (!new)
		abort();
	pthread_mutex_lock(&writers);
	old = config_get();
	memcpy(new->limits, old->limits, sizeof(new->limits));
	new->version = old->version + 1;
	new->users = 1;
	new->limits[slot] = value;
	pthread_mutex_lock(&config_lock);
	was = current;
	current = new;
	pthread_mutex_unlock(&config_lock);
	config_put(was);
	config_put(old);
	pthread_mutex_unlock(&writers);
}

static void *work(void *argument)
{
	for (int i = 0; i < 4; i++) {
		struct object *o = get(i % 2 ? "a" : "b"), *other = get_unchecked("c");
		struct config *c = config_get();

		use(o);
		put(o);
		put(other);
		if (c->version < 100)
			config_update(i, i + 1);
		config_put(c);
	}
	return argument;
}

int main(void)
{
	pthread_t threads[3];

	current = calloc(1, sizeof(*current));
	if (!current)
		return 2;
	current->users = 1;
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
