/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Two threads that never run at the same time, and main before and after them:
 * create and join tell.
 * expect nothing
 * expect count: threads 3
 * expect count: shared_variables 0
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
	pthread_t thread;

	set(&box, get(&box) + 3);
	pthread_create(&thread, NULL, first, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, second, NULL);
	pthread_join(thread, NULL);
	set(&box, get(&box) + 4);
	return 0;
}
