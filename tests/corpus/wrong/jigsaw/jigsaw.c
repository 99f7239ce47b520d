/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Program 5 of von Praun and Gross, and Jigsaw in MoTH's Table 1: the store
 * manager of a web server. Two threads load resources, and one shuts the
 * manager down.
 *
 * What breaks: load_resource checks in one critical section that the manager
 * is open, and adds an entry in the next.
 *
 * How it shows: exit status 1 if there are entries after the shutdown.
 *
 * usage: jigsaw
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { CLIENTS = 2, THREADS = CLIENTS + 1, MOST = 16 };

struct manager {
	pthread_mutex_t lock;
	bool closed;
	int entries;
	int key[MOST];
};

static struct manager manager = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_closed(struct manager *m)
{
	bool closed;

	pthread_mutex_lock(&m->lock);
	closed = m->closed;
	pthread_mutex_unlock(&m->lock);
	return closed;
}

/* The place of a key, new if need be. */
static int lookup_entry(struct manager *m, int key)
{
	int i;

	pthread_mutex_lock(&m->lock);
	for (i = 0; i < m->entries && m->key[i] != key; i++)
		continue;
	if (i == m->entries)
		m->key[m->entries++] = key;
	pthread_mutex_unlock(&m->lock);
	return i;
}

static void shut_down(struct manager *m)
{
	pthread_mutex_lock(&m->lock);
	m->entries = 0;
	m->closed = true;
	pthread_mutex_unlock(&m->lock);
}

static int load_resource(struct manager *m, int key)
{
	if (is_closed(m))
		return -1;
	STAGE_IF(key == 0, 1);
	STAGE_IF(key == 0, 4);
	return lookup_entry(m, key);
}

static void *client(void *key)
{
	printf("key %d at %d\n", *(int *)key, load_resource(&manager, *(int *)key));
	return NULL;
}

static void *closer(void *unused)
{
	STAGE(2);
	shut_down(&manager);
	STAGE(3);
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];
	int keys[THREADS];

	for (int i = 0; i < THREADS; i++) {
		keys[i] = i;
		if (pthread_create(&threads[i], NULL, i < CLIENTS ? client : closer, &keys[i]))
			return 2;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d entries after the shutdown\n", manager.entries);
	return manager.entries != 0;
}
