/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/dcl: every client looks under the lock.
 * (right/double_checked is the same with an atomic variable.)
 *
 * Exit status 1 if a client gets a limit other than 42.
 *
 * usage: dcl [CLIENTS]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct table {
	bool made;
	int limit;
};

static struct table table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int limit_of(struct table *t)
{
	int limit;

	pthread_mutex_lock(&lock);
	if (!t->made) {
		t->made = true;
		t->limit = 42;
	}
	limit = t->limit;
	pthread_mutex_unlock(&lock);
	return limit;
}

static void *client(void *limit)
{
	*(int *)limit = limit_of(&table);
	return NULL;
}

int main(int argc, char **argv)
{
	int clients = argc > 1 ? atoi(argv[1]) : 20;
	pthread_t *threads = calloc(clients, sizeof(*threads));
	int *limits = calloc(clients, sizeof(*limits));
	int wrong = 0;

	if (!threads || !limits)
		return 2;
	for (int i = 0; i < clients; i++)
		if (pthread_create(&threads[i], NULL, client, &limits[i]))
			return 2;
	for (int i = 0; i < clients; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < clients; i++)
		wrong += limits[i] != 42;
	printf("%d clients used half a table\n", wrong);
	free(limits);
	free(threads);
	return wrong != 0;
}
