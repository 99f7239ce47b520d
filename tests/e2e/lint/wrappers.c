/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Locks behind two layers of wrappers: each caller's region is its own.
 * expect: add stale-value box.value
 * expect count: locks 1
 */
#include <pthread.h>

struct box {
	pthread_mutex_t mutex;
	long value;
};

static struct box box = {PTHREAD_MUTEX_INITIALIZER, 0};

static int must(int failed)
{
	return failed ? __builtin_trap(), 1 : 0;
}

static void take(pthread_mutex_t *mutex)
{
	must(pthread_mutex_lock(mutex));
}

static void box_lock(struct box *b)
{
	take(&b->mutex);
}

static void box_unlock(struct box *b)
{
	must(pthread_mutex_unlock(&b->mutex));
}

static long get(struct box *b)
{
	long value;

	box_lock(b);
	value = b->value;
	box_unlock(b);
	return value;
}

static void add(struct box *b, long by)
{
	long now = get(b);

	box_lock(b);
	b->value = now + by;
	box_unlock(b);
}

/* One region, so nothing is wrong with it. */
static void add_at_once(struct box *b, long by)
{
	box_lock(b);
	b->value += by;
	box_unlock(b);
}

static void *run(void *unused)
{
	add(&box, 1);
	add_at_once(&box, 1);
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, run, NULL);
	pthread_create(&b, NULL, run, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
