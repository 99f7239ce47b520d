/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/pair_equal: the pair is compared in one critical
 * section.
 *
 * Exit status 1 if are_equal finds an unequal pair.
 *
 * usage: pair_equal
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { ROUNDS = 10 };

struct pair {
	pthread_mutex_t lock;
	int a, b;
};

static struct pair pair = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void set_pair(struct pair *p, int a, int b)
{
	pthread_mutex_lock(&p->lock);
	p->a = a;
	p->b = b;
	pthread_mutex_unlock(&p->lock);
}

static bool are_equal(struct pair *p)
{
	bool equal;

	pthread_mutex_lock(&p->lock);
	equal = p->a == p->b;
	pthread_mutex_unlock(&p->lock);
	return equal;
}

static void *setter(void *unused)
{
	for (int i = 1; i <= ROUNDS; i++) {
		set_pair(&pair, i, i);
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
