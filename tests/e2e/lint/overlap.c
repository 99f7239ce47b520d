/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The same as order.c, but for the second thread, which starts before the first
 * one is waited for.
 * expect: first stale-value box.value
 * expect: second stale-value box.value
 */
#include <pthread.h>

struct box {
	pthread_mutex_t lock;
	long value;
};

static struct box box = {PTHREAD_MUTEX_INITIALIZER, 0};

static long get(struct box *b)
{
	long value;

	pthread_mutex_lock(&b->lock);
	value = b->value;
	pthread_mutex_unlock(&b->lock);
	return value;
}

static void set(struct box *b, long to)
{
	pthread_mutex_lock(&b->lock);
	b->value = to;
	pthread_mutex_unlock(&b->lock);
}

static void *first(void *unused)
{
	set(&box, get(&box) + 1);
	return unused;
}

static void *second(void *unused)
{
	set(&box, get(&box) + 2);
	return unused;
}

int main(void)
{
	pthread_t a, b;

	set(&box, get(&box) + 3);
	pthread_create(&a, NULL, first, NULL);
	pthread_create(&b, NULL, second, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	set(&box, get(&box) + 4);
	return 0;
}
