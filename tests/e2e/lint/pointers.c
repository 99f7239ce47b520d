/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The functions that read and write are reached through a table of pointers.
 * expect: increment stale-value cell.value
 */
#include <pthread.h>

struct cell {
	pthread_mutex_t lock;
	int value;
};

struct operations {
	int (*get)(struct cell *);
	void (*set)(struct cell *, int);
};

static struct cell cell = {PTHREAD_MUTEX_INITIALIZER, 0};

static int get(struct cell *c)
{
	int value;

	pthread_mutex_lock(&c->lock);
	value = c->value;
	pthread_mutex_unlock(&c->lock);
	return value;
}

static void set(struct cell *c, int to)
{
	pthread_mutex_lock(&c->lock);
	c->value = to;
	pthread_mutex_unlock(&c->lock);
}

static const struct operations operations[] = {{get, set}};

static void increment(const struct operations *o, struct cell *c)
{
	int value = o->get(c);

	o->set(c, value + 1);
}

static void *run(void *which)
{
	increment(&operations[*(int *)which], &cell);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int which = 0;

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, &which);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
