/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The concurrent echo test of AtomRace (TIDorb); a reconstruction. Ten clients
 * send forty requests each to one server.
 *
 * What breaks: count adds to the number of requests and bytes without a lock
 * (load-and-store), and acquire tests and takes the one buffer that is kept
 * for the next request without one (test-and-use); four variables in all.
 *
 * How it shows: exit status 1 if requests or bytes are missing at the end, or
 * a buffer was in two hands.
 *
 * usage: echo [CLIENTS [REQUESTS]]
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { MOST = 64, SIZE = 16 };

struct buffer {
	atomic_int users;
	char text[SIZE];
};

struct server {
	int requests;
	long bytes;
	bool has_kept;
	struct buffer *kept;
};

static struct buffer buffer;
static struct server server = {.has_kept = true, .kept = &buffer};
static int requests = 40;

static void count(struct server *s, int bytes)
{
	int before = s->requests;

	MEET(2);
	s->requests = before + 1;
	s->bytes += bytes;
}

/* The kept buffer, or NULL; then the caller must do without. */
static struct buffer *acquire(struct server *s)
{
	struct buffer *b = NULL;

	if (s->has_kept) {
		MEET(2);
		s->has_kept = false;
		b = s->kept;
		s->kept = NULL;
	}
	return b;
}

static void release(struct server *s, struct buffer *b)
{
	s->kept = b;
	s->has_kept = true;
}

/* Whether the buffer was the caller's alone. */
static bool echo(struct server *s)
{
	struct buffer *b = acquire(s);
	bool alone = true;

	if (b) {
		alone = atomic_fetch_add(&b->users, 1) == 0;
		sched_yield();
		atomic_fetch_sub(&b->users, 1);
		release(s, b);
	}
	count(s, SIZE);
	return alone;
}

static void *client(void *shared)
{
	for (int i = 0; i < requests; i++)
		*(int *)shared += !echo(&server);
	return NULL;
}

int main(int argc, char **argv)
{
	int clients = argc > 1 ? atoi(argv[1]) : 10, sum = 0;
	int shared[MOST] = {0};
	pthread_t threads[MOST];

	if (argc > 2)
		requests = atoi(argv[2]);
	if (clients < 1 || clients > MOST)
		return 2;
	for (int i = 0; i < clients; i++)
		if (pthread_create(&threads[i], NULL, client, &shared[i]))
			return 2;
	for (int i = 0; i < clients; i++) {
		pthread_join(threads[i], NULL);
		sum += shared[i];
	}
	printf("%d requests of %d, %ld bytes, %d times a buffer was shared\n", server.requests,
	       clients * requests, server.bytes, sum);
	return sum || server.requests != clients * requests || server.bytes != (long)SIZE * server.requests;
}
