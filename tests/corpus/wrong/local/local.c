/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Local, in MoTH's Table 1, after Artho, Havelund and Biere. Two threads
 * increment a cell, once each, by way of a local variable.
 *
 * What breaks: increment reads the cell in one critical section and writes it
 * in another.
 *
 * How it shows: the cell must be 2 at the end; exit status 1 otherwise.
 *
 * usage: local
 */
#include <pthread.h>
#include <stdio.h>

#include "../../stage.h"

enum { THREADS = 2 };

struct cell {
	pthread_mutex_t lock;
	int n;
};

static struct cell cell = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int get_value(struct cell *c)
{
	int n;

	pthread_mutex_lock(&c->lock);
	n = c->n;
	pthread_mutex_unlock(&c->lock);
	return n;
}

static void set_value(struct cell *c, int n)
{
	pthread_mutex_lock(&c->lock);
	c->n = n;
	pthread_mutex_unlock(&c->lock);
}

static void increment(struct cell *c)
{
	int local = get_value(c);

	local++;
	MEET(THREADS);
	set_value(c, local);
}

static void *worker(void *c)
{
	increment(c);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, worker, &cell))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("the cell is %d\n", cell.n);
	return cell.n != THREADS;
}
