/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: members of one struct that have nothing
 * to do with each other. A server's struct holds the requests that one thread
 * counts, and the errors that another counts, each without a lock, as nobody
 * else touches them until the threads are joined.
 *
 * Why it looks wrong: two threads write to one object at the same time. Why it
 * is right: no member is used by two of them.
 *
 * Exit status 1 if something was lost.
 *
 * usage: disjoint_members
 */
#include <pthread.h>
#include <stdio.h>

#include "../../stage.h"

enum { ROUNDS = 50 };

struct server {
	long requests, bytes; /* the acceptor's */
	long errors, retries; /* the sender's */
};

static struct server server;

static void count_request(struct server *s, int bytes)
{
	s->requests++;
	STAGE(1);
	STAGE(4);
	s->bytes += bytes;
}

static void count_error(struct server *s)
{
	s->errors++;
	s->retries += 2;
}

static void *acceptor(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		count_request(&server, 10);
	return unused;
}

static void *sender(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		STAGE(2);
		count_error(&server);
		STAGE(3);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, acceptor, NULL) ||
	    pthread_create(&threads[1], NULL, sender, NULL))
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%ld requests, %ld errors\n", server.requests, server.errors);
	return server.bytes != 10 * server.requests || server.requests != ROUNDS ||
	       server.retries != 2 * server.errors || server.errors != ROUNDS;
}
