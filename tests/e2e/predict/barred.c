/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A lost update that cannot be: the second thread is created when a plain flag is
 * set, which is asked for under a lock. That is a value, of which prediction
 * knows nothing.
 */
#include <pthread.h>
#include <sched.h>

struct counter {
	pthread_mutex_t lock;
	int value;
};

static struct counter counter = {PTHREAD_MUTEX_INITIALIZER, 0};
static pthread_mutex_t flag_lock = PTHREAD_MUTEX_INITIALIZER;
static int flag;

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

static void set_flag(void)
{
	pthread_mutex_lock(&flag_lock);
	flag = 1;
	pthread_mutex_unlock(&flag_lock);
}

static int flag_is_set(void)
{
	pthread_mutex_lock(&flag_lock);
	int is = flag;
	pthread_mutex_unlock(&flag_lock);
	return is;
}

static void *first(void *unused)
{
	increment(&counter);
	set_flag();
	return unused;
}

static void *second(void *unused)
{
	increment(&counter);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, first, NULL))
		return 2;
	while (!flag_is_set())
		sched_yield();
	if (pthread_create(&threads[1], NULL, second, NULL))
		return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return counter.value != 2;
}
