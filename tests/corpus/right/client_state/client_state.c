/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ClientState, the other struct of Jigsaw that von Praun and Gross discuss. A
 * state's place in the list of idle ones is touched in one critical section,
 * what it serves in another, and a third clears everything.
 *
 * Why it looks wrong: retire accesses in one critical section what serve
 * accesses in two. Why it is right: the two halves have nothing to do with
 * each other; serve neither carries a value from one to the other, nor shows
 * both to anyone.
 *
 * Exit status 1 if a retired state is not all empty.
 *
 * usage: client_state
 */
#include <pthread.h>
#include <stdio.h>

#include "../../stage.h"

enum { THREADS = 2, ROUNDS = 10 };

struct state {
	pthread_mutex_t lock;
	int previous, next; /* in the list of idle states */
	int client, requests;
};

static struct state state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void unlink_state(struct state *s, int previous, int next)
{
	pthread_mutex_lock(&s->lock);
	s->previous = previous;
	s->next = next;
	pthread_mutex_unlock(&s->lock);
}

static void bind_state(struct state *s, int client)
{
	pthread_mutex_lock(&s->lock);
	s->client = client;
	s->requests++;
	pthread_mutex_unlock(&s->lock);
}

static void serve(struct state *s, int client)
{
	unlink_state(s, -1, -1);
	MEET(THREADS);
	bind_state(s, client);
}

/* All or nothing is left. */
static int retire(struct state *s)
{
	int wrong;

	pthread_mutex_lock(&s->lock);
	s->previous = s->next = s->client = s->requests = 0;
	wrong = s->previous || s->next || s->client || s->requests;
	pthread_mutex_unlock(&s->lock);
	return wrong;
}

static void *server(void *wrong)
{
	for (int i = 1; i <= ROUNDS; i++) {
		serve(&state, i);
		*(int *)wrong += retire(&state);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int wrong[THREADS] = {0};

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, server, &wrong[i]))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d states were not empty\n", wrong[0] + wrong[1]);
	return wrong[0] || wrong[1];
}
