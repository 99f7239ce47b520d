/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A function and what it is to be called with are taken out of an object, and it
 * is called: what it does to the object is a step of its own. To call a function that
 * is known beforehand with what was read is not.
 * expect: again stale-value timer.argument
 */
#include <pthread.h>

struct timer {
	pthread_mutex_t lock;
	void (*call)(struct timer *timer, long argument);
	long argument;
};

static struct timer timer = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void renew(struct timer *t, long argument)
{
	pthread_mutex_lock(&t->lock);
	t->argument = argument + 1;
	pthread_mutex_unlock(&t->lock);
}

static void fire(struct timer *t)
{
	void (*call)(struct timer *, long);
	long argument;

	pthread_mutex_lock(&t->lock);
	call = t->call;
	argument = t->argument;
	pthread_mutex_unlock(&t->lock);
	call(t, argument);
}

static void again(struct timer *t)
{
	long argument;

	pthread_mutex_lock(&t->lock);
	argument = t->argument;
	pthread_mutex_unlock(&t->lock);
	renew(t, argument);
}

static void *work(void *unused)
{
	fire(&timer);
	again(&timer);
	return unused;
}

int main(void)
{
	pthread_t thread;

	timer.call = renew;
	pthread_create(&thread, NULL, work, NULL);
	work(NULL);
	pthread_join(thread, NULL);
	return 0;
}
