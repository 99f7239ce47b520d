/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Apache FtpServer, in PENELOPE's Table 1, reduced to its errors. A handler
 * serves the commands of a connection; a timer closes it when it takes too
 * long.
 *
 * What breaks: serve uses request, writer and user of the connection without
 * its lock, between a test that it is open and the end of the command, while
 * close_connection takes them away; and both count logins and connections
 * without a lock.
 *
 * How it shows: exit status 1 if something that serve needed was gone (a null
 * pointer in the original), or the counts are wrong.
 *
 * usage: ftp_server
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { COMMANDS = 3 };

struct connection {
	pthread_mutex_t lock;
	bool closed;
	const char *request, *writer, *name; /* NULL: closed */
	int gone;                            /* used when they were not there */
};

struct server {
	int connections, logins;
};

static struct connection connection = {PTHREAD_MUTEX_INITIALIZER, false, "request", "writer", "name", 0};
static struct server server = {0, 0};

static void log_in(struct server *s)
{
	int logins = s->logins;

	STAGE(1);
	STAGE(4);
	s->logins = logins + 1;
}

static void log_out(struct server *s)
{
	s->logins--;
}

static void count_connection(struct server *s, int by)
{
	int connections = s->connections;

	s->connections = connections + by;
}

static void serve(struct connection *c)
{
	if (c->closed)
		return;
	STAGE(5);
	STAGE(8);
	if (!c->request)
		c->gone++;
	if (!c->name)
		c->gone++;
	if (!c->writer)
		c->gone++;
}

static void close_connection(struct connection *c)
{
	pthread_mutex_lock(&c->lock);
	if (!c->closed) {
		c->closed = true;
		c->request = NULL;
		c->writer = NULL;
		c->name = NULL;
	}
	pthread_mutex_unlock(&c->lock);
}

static void *handler(void *unused)
{
	count_connection(&server, 1);
	log_in(&server);
	for (int i = 0; i < COMMANDS; i++)
		serve(&connection);
	return unused;
}

static void *timer(void *unused)
{
	STAGE(2);
	log_out(&server);
	count_connection(&server, -1);
	STAGE(3);
	STAGE(6);
	close_connection(&connection);
	STAGE(7);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, handler, NULL) ||
	    pthread_create(&threads[1], NULL, timer, NULL))
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%d connections, %d logins, %d things were gone\n", server.connections, server.logins,
	       connection.gone);
	return connection.gone || server.connections || server.logins;
}
