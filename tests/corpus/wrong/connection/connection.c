/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Connection, in MoTH's Table 1, after Beckman, Bierhoff and Aldrich. Ten
 * threads of a user interface use one connection: eight send, one disconnects,
 * one shows the state.
 *
 * What breaks: try_send asks in one critical section whether the connection is
 * open and sends in the next (a stale value); disconnect closes the socket in
 * one and resets the number of messages in another, between which others see a
 * closed socket with messages (a high-level data race).
 *
 * How it shows: exit status 1 if a message was sent through a closed socket,
 * or a closed one seen with messages.
 *
 * usage: connection
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { SENDERS = 8, THREADS = SENDERS + 2, ROUNDS = 5 };

struct connection {
	pthread_mutex_t lock;
	bool open;
	int messages;
	int lost; /* sent through a closed socket */
};

static struct connection connection = {.lock = PTHREAD_MUTEX_INITIALIZER, .open = true, .messages = 1};

static bool is_connected(struct connection *c)
{
	bool open;

	pthread_mutex_lock(&c->lock);
	open = c->open;
	pthread_mutex_unlock(&c->lock);
	return open;
}

static void send(struct connection *c)
{
	pthread_mutex_lock(&c->lock);
	if (c->open)
		c->messages++;
	else
		c->lost++;
	pthread_mutex_unlock(&c->lock);
}

static void close_socket(struct connection *c)
{
	pthread_mutex_lock(&c->lock);
	c->open = false;
	pthread_mutex_unlock(&c->lock);
}

static void reset_counter(struct connection *c)
{
	pthread_mutex_lock(&c->lock);
	c->messages = 0;
	pthread_mutex_unlock(&c->lock);
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
	if (!is_connected(c))
		return;
	STAGE(1);
	STAGE(4);
	send(c);
	STAGE(5);
}

static void disconnect(struct connection *c)
{
	STAGE(2);
	close_socket(c);
	STAGE(3);
	STAGE(8);
	reset_counter(c);
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
	for (int i = 0; i < ROUNDS; i++) {
		STAGE(6);
		*(int *)insane += !is_sane(&connection);
		STAGE(7);
	}
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
