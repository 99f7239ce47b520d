/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * MoTH's Fig. 1(a): a pair that is written in one critical section and
 * compared in two.
 *
 * What breaks: are_equal reads one half, then the other, and a new pair may be
 * set in between.
 *
 * How it shows: only equal pairs are ever set; exit status 1 if are_equal says
 * otherwise.
 *
 * usage: pair_equal
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { ROUNDS = 10 };

struct pair {
	pthread_mutex_t lock;
	int a, b;
};

static struct pair pair = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int get_a(struct pair *p)
{
	int a;

	pthread_mutex_lock(&p->lock);
	a = p->a;
	pthread_mutex_unlock(&p->lock);
	return a;
}

static int get_b(struct pair *p)
{
	int b;

	pthread_mutex_lock(&p->lock);
	b = p->b;
	pthread_mutex_unlock(&p->lock);
	return b;
}

static void set_pair(struct pair *p, int a, int b)
{
	pthread_mutex_lock(&p->lock);
	p->a = a;
	p->b = b;
	pthread_mutex_unlock(&p->lock);
}

static bool are_equal(struct pair *p)
{
	int a = get_a(p);

	STAGE(1);
	STAGE(4);
	return a == get_b(p);
}

static void *setter(void *unused)
{
	for (int i = 1; i <= ROUNDS; i++) {
		STAGE(2);
		set_pair(&pair, i, i);
		STAGE(3);
	}
	return unused;
}

static void *comparer(void *unequal)
{
	for (int i = 0; i < ROUNDS; i++)
		*(int *)unequal += !are_equal(&pair);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int unequal = 0;

	if (pthread_create(&threads[0], NULL, setter, NULL) ||
	    pthread_create(&threads[1], NULL, comparer, &unequal))
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%d pairs were unequal\n", unequal);
	return unequal != 0;
}
