/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A lost update over two critical sections: RWW on one variable. */
#include <pthread.h>

struct counter {
	pthread_mutex_t lock;
	int value;
};

static struct counter counter = {PTHREAD_MUTEX_INITIALIZER, 0};

static int get(struct counter *c)
{
	pthread_mutex_lock(&c->lock);
	int value = c->value;
	pthread_mutex_unlock(&c->lock);
	return value;
}

static void set(struct counter *c, int value)
{
	pthread_mutex_lock(&c->lock);
	c->value = value;
	pthread_mutex_unlock(&c->lock);
}

static void increment(struct counter *c)
{
	set(c, get(c) + 1);
}

static void *work(void *unused)
{
	increment(&counter);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return counter.value != 2;
}
