/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/ftp_server: a command is served under the
 * connection's lock, and the server's counts have one, too.
 *
 * Exit status 1 if something that serve needed was gone, or the counts are
 * wrong.
 *
 * usage: ftp_server
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { COMMANDS = 3 };

struct connection {
	pthread_mutex_t lock;
	bool closed;
	const char *request, *writer, *name; /* NULL: closed */
	int gone;                            /* used when they were not there */
};

struct server {
	pthread_mutex_t lock;
	int connections, logins;
};

static struct connection connection = {PTHREAD_MUTEX_INITIALIZER, false, "request", "writer", "name", 0};
static struct server server = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

static void log_in(struct server *s)
{
	pthread_mutex_lock(&s->lock);
	s->logins++;
	pthread_mutex_unlock(&s->lock);
}

static void log_out(struct server *s)
{
	pthread_mutex_lock(&s->lock);
	s->logins--;
	pthread_mutex_unlock(&s->lock);
}

static void count_connection(struct server *s, int by)
{
	pthread_mutex_lock(&s->lock);
	s->connections += by;
	pthread_mutex_unlock(&s->lock);
}

static void serve(struct connection *c)
{
	pthread_mutex_lock(&c->lock);
	if (!c->closed)
		c->gone += !c->request + !c->name + !c->writer;
	pthread_mutex_unlock(&c->lock);
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
	log_out(&server);
	count_connection(&server, -1);
	close_connection(&connection);
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
