/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Pool 1.2, in PENELOPE's Table 1: a pool of objects that a factory makes.
 * right/pool is its version 1.3.
 *
 * What breaks: borrow, give_back and add use the pool's factory outside the
 * lock, while close and set_factory take it away.
 *
 * How it shows: exit status 1 if the factory was not there when it was used (a
 * null pointer in the original).
 *
 * usage: pool [TEST] 1 borrow while the pool is closed, 2 give_back while it
 * is closed, 3 add while the factory changes, 4 borrow while the factory
 * changes
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

struct factory {
	int first; /* number of the next object */
};

struct pool {
	pthread_mutex_t lock;
	struct factory *factory; /* NULL: closed, or not set */
	int idle, active;
	int failures; /* uses of a factory that was not there */
};

static struct factory factory = {100};
static struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .factory = &factory};

/* Asks the factory for something; the factory must be there. */
static int use_factory(struct pool *p)
{
	struct factory *f = p->factory;

	if (f)
		return f->first;
	p->failures++;
	return -1;
}

static int borrow(struct pool *p)
{
	bool make;

	pthread_mutex_lock(&p->lock);
	if (!p->factory) {
		pthread_mutex_unlock(&p->lock);
		return -1;
	}
	make = p->idle == 0;
	if (!make)
		p->idle--;
	p->active++;
	pthread_mutex_unlock(&p->lock);
	STAGE(1);
	STAGE(4);
	return make ? use_factory(p) : 1;
}

static void give_back(struct pool *p)
{
	bool open;

	pthread_mutex_lock(&p->lock);
	open = p->factory != NULL;
	p->active--;
	pthread_mutex_unlock(&p->lock);
	if (!open)
		return;
	STAGE(1);
	STAGE(4);
	use_factory(p); /* makes the object passive */
	pthread_mutex_lock(&p->lock);
	p->idle++;
	pthread_mutex_unlock(&p->lock);
}

static void add(struct pool *p)
{
	if (!p->factory)
		return;
	STAGE(1);
	printf("adding an object\n");
	STAGE(4);
	use_factory(p);
	pthread_mutex_lock(&p->lock);
	p->idle++;
	pthread_mutex_unlock(&p->lock);
}

static void set_factory(struct pool *p, struct factory *f)
{
	pthread_mutex_lock(&p->lock);
	p->factory = f;
	pthread_mutex_unlock(&p->lock);
}

static void close_pool(struct pool *p)
{
	pthread_mutex_lock(&p->lock);
	p->idle = 0;
	p->factory = NULL;
	pthread_mutex_unlock(&p->lock);
}

static void *user(void *test)
{
	switch (*(int *)test) {
	case 2:
		give_back(&pool);
		break;
	case 3:
		add(&pool);
		break;
	default:
		printf("borrowed %d\n", borrow(&pool));
	}
	return NULL;
}

static void *manager(void *test)
{
	STAGE(2);
	if (*(int *)test <= 2)
		close_pool(&pool);
	else
		set_factory(&pool, NULL);
	STAGE(3);
	return NULL;
}

int main(int argc, char **argv)
{
	int test = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[2];

	if (test == 2)
		pool.active = 1;
	if (pthread_create(&threads[0], NULL, user, &test) ||
	    pthread_create(&threads[1], NULL, manager, &test))
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%d times there was no factory\n", pool.failures);
	return pool.failures != 0;
}
