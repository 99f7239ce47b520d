/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A table of connections that are counted by who uses them, as servers have
 * one. Not from a paper.
 *
 * What breaks: find_connection looks the connection up, reads how many use it,
 * and writes one more, each in a critical section of its own. The object is
 * neither its parameter nor reached by its own code: it comes out of a list
 * that another function walks with a local pointer.
 *
 * How it shows: exit status 1 if in the end a connection is not used once, by
 * the table.
 *
 * usage: connections
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { THREADS = 2, BUCKETS = 4, CONNECTIONS = 6 };

struct connection {
	pthread_mutex_t lock;
	int number, users;
	struct connection *next;
};

struct table {
	pthread_mutex_t lock;
	struct connection *bucket[BUCKETS];
};

static struct table table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int add_connection(struct table *t, int number)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (!c)
		return -1;
	pthread_mutex_init(&c->lock, NULL);
	c->number = number;
	c->users = 1;
	pthread_mutex_lock(&t->lock);
	c->next = t->bucket[number % BUCKETS];
	t->bucket[number % BUCKETS] = c;
	pthread_mutex_unlock(&t->lock);
	return 0;
}

static struct connection *look_up(struct table *t, int number)
{
	struct connection *c;

	pthread_mutex_lock(&t->lock);
	for (c = t->bucket[number % BUCKETS]; c; c = c->next)
		if (c->number == number)
			break;
	pthread_mutex_unlock(&t->lock);
	return c;
}

static int users_of(struct connection *c)
{
	int users;

	pthread_mutex_lock(&c->lock);
	users = c->users;
	pthread_mutex_unlock(&c->lock);
	return users;
}

static void set_users(struct connection *c, int users)
{
	pthread_mutex_lock(&c->lock);
	c->users = users;
	pthread_mutex_unlock(&c->lock);
}

static struct connection *find_connection(struct table *t, int number)
{
	struct connection *c = look_up(t, number);
	int users;

	if (!c)
		return NULL;
	users = users_of(c);
	MEET_IF(number == 0, THREADS);
	set_users(c, users + 1);
	MEET_IF(number == 0, THREADS);
	return c;
}

static void leave(struct connection *c)
{
	pthread_mutex_lock(&c->lock);
	c->users--;
	pthread_mutex_unlock(&c->lock);
}

static void *worker(void *unused)
{
	for (int i = 0; i < CONNECTIONS; i++) {
		struct connection *c = find_connection(&table, i);

		if (c)
			leave(c);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];
	int wrong = 0;

	for (int i = 0; i < CONNECTIONS; i++)
		if (add_connection(&table, i))
			return 2;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, worker, NULL))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < CONNECTIONS; i++)
		wrong += users_of(look_up(&table, i)) != 1;
	printf("%d of %d connections were counted wrongly\n", wrong, CONNECTIONS);
	return wrong != 0;
}
