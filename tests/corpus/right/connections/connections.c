/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/connections: who looks a connection up counts as
 * one more of its users before the table's lock is given up.
 *
 * Exit status 1 if in the end a connection is not used once, by the table.
 *
 * usage: connections
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

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

/* The table's lock is held. */
static struct connection *look_up(struct table *t, int number)
{
	struct connection *c;

	for (c = t->bucket[number % BUCKETS]; c; c = c->next)
		if (c->number == number)
			break;
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

static struct connection *find_connection(struct table *t, int number)
{
	struct connection *c;

	pthread_mutex_lock(&t->lock);
	c = look_up(t, number);
	if (c) {
		pthread_mutex_lock(&c->lock);
		c->users++;
		pthread_mutex_unlock(&c->lock);
	}
	pthread_mutex_unlock(&t->lock);
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
