/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: from a read lock to a write lock, done
 * right. A cache is searched under the read lock; who misses takes the write
 * lock and searches again before inserting.
 *
 * Why it looks wrong: what was found out under the read lock is old under the
 * write lock. Why it is right: it is not used there; the search is repeated.
 *
 * Exit status 1 if a key is in the cache twice.
 *
 * usage: rwlock_upgrade
 */
#include <pthread.h>
#include <stdio.h>

#include "../../stage.h"

enum { THREADS = 4, KEYS = 8, MOST = THREADS * KEYS };

struct cache {
	pthread_rwlock_t lock;
	int count;
	int key[MOST], value[MOST];
};

static struct cache cache = {.lock = PTHREAD_RWLOCK_INITIALIZER};

/* Where the key is, or -1; a lock is held. */
static int find(struct cache *c, int key)
{
	for (int i = 0; i < c->count; i++)
		if (c->key[i] == key)
			return i;
	return -1;
}

static int square(struct cache *c, int key)
{
	int at, value = 0;

	pthread_rwlock_rdlock(&c->lock);
	at = find(c, key);
	if (at >= 0)
		value = c->value[at];
	pthread_rwlock_unlock(&c->lock);
	if (at >= 0)
		return value;

	MEET(THREADS);
	pthread_rwlock_wrlock(&c->lock);
	at = find(c, key);
	if (at < 0) {
		at = c->count++;
		c->key[at] = key;
		c->value[at] = key * key;
	}
	value = c->value[at];
	pthread_rwlock_unlock(&c->lock);
	return value;
}

static void *user(void *wrong)
{
	for (int key = 0; key < KEYS; key++)
		*(int *)wrong += square(&cache, key) != key * key;
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int wrong[THREADS] = {0}, sum = 0;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, user, &wrong[i]))
			return 2;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += wrong[i];
	}
	printf("%d wrong answers, %d entries for %d keys\n", sum, cache.count, KEYS);
	return sum || cache.count != KEYS;
}
