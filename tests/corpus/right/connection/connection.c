/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/connection: trying to send, and disconnecting, are
 * one critical section each.
 *
 * Exit status 1 if a message was sent through a closed socket, or a closed one
 * seen with messages.
 *
 * usage: connection
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { SENDERS = 8, THREADS = SENDERS + 2, ROUNDS = 5 };

struct connection {
	pthread_mutex_t lock;
	bool open;
	int messages;
	int lost; /* sent through a closed socket */
};

static struct connection connection = {.lock = PTHREAD_MUTEX_INITIALIZER, .open = true, .messages = 1};

/* The lock is held. */
static void send(struct connection *c)
{
	if (c->open)
		c->messages++;
	else
		c->lost++;
}

/* A closed connection has no messages. */
static bool is_sane(struct connection *c)
{
	bool sane;

	pthread_mutex_lock(&c->lock);
	sane = c->open || c->messages == 0;
	pthread_mutex_unlock(&c->lock);
	return sane;
}

static void try_send(struct connection *c)
{
	pthread_mutex_lock(&c->lock);
	if (c->open)
		send(c);
	pthread_mutex_unlock(&c->lock);
}

static void disconnect(struct connection *c)
{
	pthread_mutex_lock(&c->lock);
	c->open = false;
	c->messages = 0;
	pthread_mutex_unlock(&c->lock);
}

static void *sender(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		try_send(&connection);
	return unused;
}

static void *closer(void *unused)
{
	disconnect(&connection);
	return unused;
}

static void *watcher(void *insane)
{
	for (int i = 0; i < ROUNDS; i++)
		*(int *)insane += !is_sane(&connection);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int insane = 0;

	for (int i = 0; i < SENDERS; i++)
		if (pthread_create(&threads[i], NULL, sender, NULL))
			return 2;
	if (pthread_create(&threads[SENDERS], NULL, closer, NULL) ||
	    pthread_create(&threads[SENDERS + 1], NULL, watcher, &insane))
		return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d messages lost, %d insane states\n", connection.lost, insane);
	return connection.lost || insane;
}
