/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * An object is one's own until others can find it, also when its lock has been made.
 * expect: make_found high-level-race pair.*
 */
#include <pthread.h>
#include <stdlib.h>

struct pair {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int a, b;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pair *found;

static void publish(struct pair *p)
{
	pthread_mutex_lock(&lock);
	found = p;
	pthread_mutex_unlock(&lock);
}

static void make_own(void)
{
	struct pair *p = calloc(1, sizeof(*p));

	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	pthread_mutex_lock(&p->lock);
	p->a = 1;
	pthread_mutex_unlock(&p->lock);
	pthread_mutex_lock(&p->lock);
	p->b = 1;
	pthread_mutex_unlock(&p->lock);
	publish(p);
}

static void make_found(void)
{
	struct pair *p = calloc(1, sizeof(*p));

	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	publish(p);
	pthread_mutex_lock(&p->lock);
	p->a = 2;
	pthread_mutex_unlock(&p->lock);
	pthread_mutex_lock(&p->lock);
	p->b = 2;
	pthread_mutex_unlock(&p->lock);
}

static int differ(void)
{
	struct pair *p;
	int differ = 0;

	pthread_mutex_lock(&lock);
	p = found;
	pthread_mutex_unlock(&lock);
	if (!p)
		return 0;
	pthread_mutex_lock(&p->lock);
	differ = p->a != p->b;
	pthread_mutex_unlock(&p->lock);
	return differ;
}

static void *work(void *unused)
{
	make_own();
	make_found();
	return differ() ? NULL : unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	work(NULL);
	pthread_join(thread, NULL);
	return 0;
}
