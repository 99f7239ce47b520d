/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Program 4 of von Praun and Gross, and OverReporting in MoTH's Table 1; a
 * reconstruction. Each thread makes sure that the table exists, in one
 * critical section, and looks something up, in a second.
 *
 * Why it looks wrong: two critical sections on one variable, one of which
 * writes it. Why it is right: once made, the table stays, so nothing can come
 * between the two that the second would notice. Method consistency reports it
 * all the same.
 *
 * Exit status 1 if a lookup gives a wrong answer.
 *
 * usage: over_reporting
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { THREADS = 2, SIZE = 10 };

struct table {
	pthread_mutex_t lock;
	bool made;
	int square[SIZE];
};

static struct table table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void make(struct table *t)
{
	pthread_mutex_lock(&t->lock);
	if (!t->made) {
		for (int i = 0; i < SIZE; i++)
			t->square[i] = i * i;
		t->made = true;
	}
	pthread_mutex_unlock(&t->lock);
}

static int get(struct table *t, int i)
{
	int square;

	pthread_mutex_lock(&t->lock);
	square = t->square[i];
	pthread_mutex_unlock(&t->lock);
	return square;
}

static int square(struct table *t, int i)
{
	make(t);
	MEET(THREADS);
	return get(t, i);
}

static void *user(void *sum)
{
	for (int i = 0; i < SIZE; i++)
		*(int *)sum += square(&table, i);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int sums[THREADS] = {0};

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, user, &sums[i]))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d and %d\n", sums[0], sums[1]);
	return sums[0] != 285 || sums[1] != 285;
}
