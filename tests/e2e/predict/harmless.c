/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A value that both make, and both the same: RWW, and nobody can tell. */
#include <pthread.h>

struct cache {
	pthread_mutex_t lock;
	int value;
};

static struct cache cache = {PTHREAD_MUTEX_INITIALIZER, 0};

static int look_up(struct cache *c)
{
	pthread_mutex_lock(&c->lock);
	int value = c->value;
	pthread_mutex_unlock(&c->lock);
	return value;
}

static void keep(struct cache *c, int value)
{
	pthread_mutex_lock(&c->lock);
	c->value = value;
	pthread_mutex_unlock(&c->lock);
}

/* Says what was there. */
static int make(struct cache *c)
{
	int value = look_up(c);

	keep(c, 42);
	return value;
}

static void *work(void *result)
{
	*(int *)result = make(&cache);
	return result;
}

int main(void)
{
	pthread_t threads[2];
	int results[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, &results[i]))
			return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return (results[0] && results[0] != 42) || (results[1] && results[1] != 42) || cache.value != 42;
}
