/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Coord03, in MoTH's Table 1, after Artho, Havelund and Biere. A point that is
 * moved as a whole, and four kinds of threads, ten of each: one sets x and y
 * together; one reads x; one reads x, then y, in two critical sections, and
 * uses both; one reads x and uses it, and later reads x and y in one critical
 * section and uses these.
 *
 * What breaks: the third kind, on_curve. The fourth is right: what it reads
 * apart it uses apart.
 *
 * How it shows: only points with y = 2 x are ever set; exit status 1 if
 * on_curve finds another.
 *
 * usage: coord03
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { KIND = 10, THREADS = 4 * KIND };

struct point {
	pthread_mutex_t lock;
	int x, y;
};

struct seen {
	bool wrong;
	int x;
};

static struct point point = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void set_xy(struct point *p, int x, int y)
{
	pthread_mutex_lock(&p->lock);
	p->x = x;
	p->y = y;
	pthread_mutex_unlock(&p->lock);
}

static int get_x(struct point *p)
{
	int x;

	pthread_mutex_lock(&p->lock);
	x = p->x;
	pthread_mutex_unlock(&p->lock);
	return x;
}

static int get_y(struct point *p)
{
	int y;

	pthread_mutex_lock(&p->lock);
	y = p->y;
	pthread_mutex_unlock(&p->lock);
	return y;
}

static void get_xy(struct point *p, int *x, int *y)
{
	pthread_mutex_lock(&p->lock);
	*x = p->x;
	*y = p->y;
	pthread_mutex_unlock(&p->lock);
}

static bool on_curve(struct point *p)
{
	int x = get_x(p), y;

	STAGE(1);
	STAGE(4);
	y = get_y(p);
	return y == 2 * x;
}

static void *setter(void *unused)
{
	STAGE(2);
	set_xy(&point, 1, 2);
	STAGE(3);
	return unused;
}

static void *x_reader(void *seen)
{
	((struct seen *)seen)->x = get_x(&point);
	return NULL;
}

static void *curve_reader(void *seen)
{
	((struct seen *)seen)->wrong = !on_curve(&point);
	return NULL;
}

static void *point_reader(void *argument)
{
	struct seen *seen = argument;
	int x, y;

	seen->x = get_x(&point);
	get_xy(&point, &x, &y);
	seen->wrong = y != 2 * x;
	return NULL;
}

int main(void)
{
	void *(*const kinds[])(void *) = {setter, x_reader, curve_reader, point_reader};
	static struct seen seen[THREADS];
	pthread_t threads[THREADS];
	int wrong = 0;

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, kinds[i % 4], &seen[i]))
			return 2;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		wrong += seen[i].wrong;
	}
	printf("%d points off the curve\n", wrong);
	return wrong != 0;
}
