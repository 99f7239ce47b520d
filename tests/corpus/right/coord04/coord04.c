/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/coord04: the coordinates are reset in one critical
 * section.
 *
 * Exit status 1 if a thread finds the point changed after its reset.
 *
 * usage: coord04
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

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

static void reset(struct point *p)
{
	pthread_mutex_lock(&p->lock);
	p->x = 0;
	p->y = 0;
	pthread_mutex_unlock(&p->lock);
}

static bool is_reset(struct point *p)
{
	bool zero;

	pthread_mutex_lock(&p->lock);
	zero = p->x == 0 && p->y == 0;
	pthread_mutex_unlock(&p->lock);
	return zero;
}

static void *worker(void *zero)
{
	exchange(&point);
	reset(&point);
	*(bool *)zero = is_reset(&point);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	bool zero[THREADS];
	int wrong = 0;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, worker, &zero[i]))
			return 2;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		wrong += !zero[i];
	}
	printf("%d resets were undone\n", wrong);
	return wrong != 0;
}
