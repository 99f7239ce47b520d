/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A lock that is tried is held where the result says so, and nowhere else.
 * expect: refill stale-value tank.level
 */
#include <pthread.h>
#include <stdbool.h>

struct tank {
	pthread_mutex_t lock;
	int level;
};

static struct tank tank = {PTHREAD_MUTEX_INITIALIZER, 10};

static bool level(struct tank *t, int *out)
{
	if (pthread_mutex_trylock(&t->lock))
		return false;
	*out = t->level;
	pthread_mutex_unlock(&t->lock);
	return true;
}

static void refill(struct tank *t)
{
	int now;

	if (!level(t, &now))
		return;
	pthread_mutex_lock(&t->lock);
	t->level = now + 5;
	pthread_mutex_unlock(&t->lock);
}

static void drain(struct tank *t)
{
	if (pthread_mutex_trylock(&t->lock) == 0) {
		if (t->level > 0)
			t->level--;
		pthread_mutex_unlock(&t->lock);
	}
}

static void *filler(void *unused)
{
	refill(&tank);
	return unused;
}

static void *drainer(void *unused)
{
	drain(&tank);
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, filler, NULL);
	pthread_create(&b, NULL, drainer, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
