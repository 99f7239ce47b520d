/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Works like a server that never ends: clients put requests into a queue, workers
 * take them, look a session up in a table of stripes, change it, now and then
 * replace it by a new one, and write the answer into the request. Workers are
 * replaced from time to time, as in a pool that shrinks and grows.
 *
 *   server REQUESTS
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLIENTS = 2, WORKERS = 4, ROOM = 256, STRIPES = 64, SESSIONS = 4096, LIFE = 200000 };

struct request {
	uint64_t key, answer;
	char text[48];
	struct request *next;
};

struct session {
	uint64_t key, uses, sum;
	char last[48];
	struct session *next;
};

struct stripe {
	pthread_mutex_t lock;
	struct session *first;
	long count;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t not_empty, not_full;
	struct request *first, **end;
	long length;
	long clients; /* that may still put something in */
} queue = {PTHREAD_MUTEX_INITIALIZER,
	   PTHREAD_COND_INITIALIZER,
	   PTHREAD_COND_INITIALIZER,
	   NULL,
	   NULL,
	   0,
	   CLIENTS};

static struct stripe stripes[STRIPES];
static long requests;

static void put(struct request *request)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.length == ROOM)
		pthread_cond_wait(&queue.not_full, &queue.lock);
	*queue.end = request;
	queue.end = &request->next;
	queue.length++;
	pthread_cond_signal(&queue.not_empty);
	pthread_mutex_unlock(&queue.lock);
}

static struct request *take(void)
{
	struct request *request;

	pthread_mutex_lock(&queue.lock);
	while (!queue.length && queue.clients)
		pthread_cond_wait(&queue.not_empty, &queue.lock);
	request = queue.first;
	if (request) {
		queue.first = request->next;
		if (!queue.first)
			queue.end = &queue.first;
		queue.length--;
		pthread_cond_signal(&queue.not_full);
	}
	pthread_mutex_unlock(&queue.lock);
	return request;
}

static void *client(void *argument)
{
	uint64_t state = (uintptr_t)argument;

	for (long i = 0; i < requests / CLIENTS; i++) {
		struct request *request = calloc(1, sizeof *request);

		if (!request)
			abort();
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		request->key = (state >> 33) % SESSIONS;
		memset(request->text, 'a' + (int)(request->key % 26), sizeof request->text - 1);
		put(request);
	}
	pthread_mutex_lock(&queue.lock);
	queue.clients--;
	pthread_cond_broadcast(&queue.not_empty);
	pthread_mutex_unlock(&queue.lock);
	return NULL;
}

static void serve(struct stripe *stripe, struct request *request)
{
	struct session **p = &stripe->first, *session;

	while (*p && (*p)->key != request->key)
		p = &(*p)->next;
	session = *p;
	if (session && session->uses > 100) {
		*p = session->next;
		free(session);
		stripe->count--;
		session = NULL;
	}
	if (!session) {
		session = calloc(1, sizeof *session);
		if (!session)
			abort();
		session->key = request->key;
		session->next = stripe->first;
		stripe->first = session;
		stripe->count++;
	}
	session->uses++;
	for (size_t i = 0; i < sizeof session->last; i++)
		session->sum += (unsigned char)(session->last[i] = request->text[i]);
	request->answer = session->sum;
}

static void *worker(void *unused)
{
	struct request *request;
	long served = 0;

	while (served < LIFE && (request = take())) {
		struct stripe *stripe = &stripes[request->key % STRIPES];

		pthread_mutex_lock(&stripe->lock);
		serve(stripe, request);
		pthread_mutex_unlock(&stripe->lock);
		free(request);
		served++;
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t clients[CLIENTS], workers[WORKERS];

	requests = argc > 1 ? atol(argv[1]) : 100000;
	queue.end = &queue.first;
	for (int i = 0; i < STRIPES; i++)
		pthread_mutex_init(&stripes[i].lock, NULL);
	for (int i = 0; i < CLIENTS; i++)
		pthread_create(&clients[i], NULL, client, (void *)(uintptr_t)(i + 1));
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, worker, NULL);
	/* A worker's life ends; another one takes its place until there is nothing left to do. */
	for (int i = 0;; i = (i + 1) % WORKERS) {
		long left;

		pthread_join(workers[i], NULL);
		pthread_mutex_lock(&queue.lock);
		left = queue.clients + queue.length;
		pthread_mutex_unlock(&queue.lock);
		pthread_create(&workers[i], NULL, worker, NULL);
		if (!left)
			break;
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(clients[i], NULL);
	printf("%ld requests\n", requests);
	return 0;
}
