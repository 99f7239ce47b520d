/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Threads post events to a loop, which takes them all at once and goes through
 * the list without a lock: all that it finds there was there when it took
 * the list. With WRONG it looks at the first in one critical section
 * and takes it out in another.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { CLIENTS = 3, EVENTS = 4 };

struct event {
	int kind, argument;
	struct event *next;
};

struct loop {
	pthread_mutex_t lock;
	pthread_cond_t posted;
	struct event *pending;
	int clients, handled;
};

static struct loop loop = {
	.lock = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER, .clients = CLIENTS};

static void loop_post(struct loop *l, int kind, int argument)
{
	struct event *e = malloc(sizeof(*e));

	if (!e)
		abort();
	e->kind = kind;
	e->argument = argument;
	pthread_mutex_lock(&l->lock);
	e->next = l->pending;
	l->pending = e;
	pthread_cond_signal(&l->posted);
	pthread_mutex_unlock(&l->lock);
}

static void handle(struct loop *l, struct event *e)
{
	if (e->kind)
		l->clients--;
	else
		l->handled += e->argument;
	free(e);
}

static void wait_for_events(struct loop *l)
{
	pthread_mutex_lock(&l->lock);
	while (!l->pending)
		pthread_cond_wait(&l->posted, &l->lock);
	pthread_mutex_unlock(&l->lock);
}

static void drain(struct loop *l)
{
	struct event *e, *next;

#ifdef WRONG
	for (;;) {
		pthread_mutex_lock(&l->lock);
		e = l->pending;
		pthread_mutex_unlock(&l->lock);
		if (!e)
			break;
		pthread_mutex_lock(&l->lock);
		l->pending = e->next;
		pthread_mutex_unlock(&l->lock);
		handle(l, e);
	}
	(void)next;
#else
	pthread_mutex_lock(&l->lock);
	e = l->pending;
	l->pending = NULL;
	pthread_mutex_unlock(&l->lock);
	for (; e; e = next) {
		next = e->next;
		handle(l, e);
	}
#endif
}

static void *loop_run(void *l)
{
	while (((struct loop *)l)->clients) {
		wait_for_events(l);
		drain(l);
	}
	return NULL;
}

static void *client(void *l)
{
	for (int i = 0; i < EVENTS; i++)
		loop_post(l, 0, i);
	loop_post(l, 1, 0);
	return NULL;
}

int main(void)
{
	pthread_t runs, clients[CLIENTS];

#ifdef WRONG
	/* An event that is lost may be the one that is waited for. */
	alarm(2);
#endif
	for (int i = 0; i < CLIENTS; i++)
		if (pthread_create(&clients[i], NULL, client, &loop))
			return 2;
	if (pthread_create(&runs, NULL, loop_run, &loop))
		return 2;
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(clients[i], NULL);
	pthread_join(runs, NULL);
	return loop.handled != CLIENTS * EVENTS * (EVENTS - 1) / 2;
}
