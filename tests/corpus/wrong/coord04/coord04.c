/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Coord04, in MoTH's Table 1, after Artho, Havelund and Biere. Two threads
 * exchange the coordinates of a point and then reset them.
 *
 * What breaks: exchanging is one critical section, resetting is two; exchanged
 * in between, a coordinate survives the reset.
 *
 * How it shows: a point that was reset stays so; exit status 1 if one finds it
 * otherwise.
 *
 * usage: coord04
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { THREADS = 2 };

struct point {
	pthread_mutex_t lock;
	int x, y;
};

static struct point point = {PTHREAD_MUTEX_INITIALIZER, 1, 2};

static void exchange(struct point *p)
{
	int x;

	pthread_mutex_lock(&p->lock);
	x = p->x;
	p->x = p->y;
	p->y = x;
	pthread_mutex_unlock(&p->lock);
}

static void reset_x(struct point *p)
{
	pthread_mutex_lock(&p->lock);
	p->x = 0;
	pthread_mutex_unlock(&p->lock);
}

static void reset_y(struct point *p)
{
	pthread_mutex_lock(&p->lock);
	p->y = 0;
	pthread_mutex_unlock(&p->lock);
}

static void reset(struct point *p)
{
	reset_x(p);
	STAGE(1);
	STAGE(4);
	reset_y(p);
}

static bool is_reset(struct point *p)
{
	bool zero;

	pthread_mutex_lock(&p->lock);
	zero = p->x == 0 && p->y == 0;
	pthread_mutex_unlock(&p->lock);
	return zero;
}

static void *worker(void *number)
{
	bool zero;

	STAGE_IF(*(int *)number == 1, 2);
	exchange(&point);
	STAGE_IF(*(int *)number == 1, 3);
	STAGE_IF(*(int *)number == 1, 6);
	reset(&point);
	zero = is_reset(&point);
	STAGE_IF(*(int *)number == 0, 5);
	*(int *)number = zero;
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int zero[THREADS]; /* first the thread's number, then what it found */
	int wrong = 0;

	for (int i = 0; i < THREADS; i++) {
		zero[i] = i;
		if (pthread_create(&threads[i], NULL, worker, &zero[i]))
			return 2;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		wrong += !zero[i];
	}
	printf("%d resets were undone\n", wrong);
	return wrong != 0;
}
