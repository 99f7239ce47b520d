/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/jigsaw: the manager is found open and the entry
 * added in one critical section.
 *
 * Exit status 1 if there are entries after the shutdown.
 *
 * usage: jigsaw
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { CLIENTS = 2, THREADS = CLIENTS + 1, MOST = 16 };

struct manager {
	pthread_mutex_t lock;
	bool closed;
	int entries;
	int key[MOST];
};

static struct manager manager = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The place of a key, new if need be; the lock is held. */
static int lookup_entry(struct manager *m, int key)
{
	int i = 0;

	while (i < m->entries && m->key[i] != key)
		i++;
	if (i == m->entries)
		m->key[m->entries++] = key;
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
	int place = -1;

	pthread_mutex_lock(&m->lock);
	if (!m->closed)
		place = lookup_entry(m, key);
	pthread_mutex_unlock(&m->lock);
	return place;
}

static void *client(void *key)
{
	printf("key %d at %d\n", *(int *)key, load_resource(&manager, *(int *)key));
	return NULL;
}

static void *closer(void *unused)
{
	shut_down(&manager);
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
