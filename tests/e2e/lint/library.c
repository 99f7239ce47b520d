/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * No main: anybody may call the external functions, in any number of threads.
 * build: -shared -fPIC
 * expect: counter_add stale-value counter.value
 * expect blind spot: there is no main
 */
#include <pthread.h>

struct counter {
	pthread_mutex_t lock;
	long value;
};

long counter_get(struct counter *c);
void counter_add(struct counter *c, long by);

long counter_get(struct counter *c)
{
	long value;

	pthread_mutex_lock(&c->lock);
	value = c->value;
	pthread_mutex_unlock(&c->lock);
	return value;
}

void counter_add(struct counter *c, long by)
{
	long now = counter_get(c);

	pthread_mutex_lock(&c->lock);
	c->value = now + by;
	pthread_mutex_unlock(&c->lock);
}
