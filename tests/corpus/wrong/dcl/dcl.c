/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * DCL, of the ConTest programs in Marathon's Table 1; a reconstruction. Twenty
 * clients share a table that is made when the first of them needs it: double-
 * checked locking with plain variables.
 *
 * What breaks: limit tests made without the lock, and make sets it before the
 * table is complete, so a client may use half a table.
 *
 * How it shows: exit status 1 if a client gets a limit other than 42.
 *
 * usage: dcl [CLIENTS]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

struct table {
	bool made;
	int limit;
};

static struct table table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int limit_of(struct table *t)
{
	if (!t->made) {
		pthread_mutex_lock(&lock);
		if (!t->made) {
			t->made = true;
			STAGE(1);
			STAGE(4);
			t->limit = 42;
		}
		pthread_mutex_unlock(&lock);
	}
	return t->limit;
}

static void *client(void *limit)
{
	*(int *)limit = limit_of(&table);
	return NULL;
}

/* In a staged run, comes when the table is half made. */
static void *late_client(void *limit)
{
	STAGE(2);
	client(limit);
	STAGE(3);
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
		if (pthread_create(&threads[i], NULL, i ? client : late_client, &limits[i]))
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
