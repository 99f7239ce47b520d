/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/coord03: who uses x and y together reads them
 * together.
 *
 * Exit status 1 if a thread sees a point with y other than 2 x.
 *
 * usage: coord03
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

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

static void get_xy(struct point *p, int *x, int *y)
{
	pthread_mutex_lock(&p->lock);
	*x = p->x;
	*y = p->y;
	pthread_mutex_unlock(&p->lock);
}

static bool on_curve(struct point *p)
{
	int x, y;

	get_xy(p, &x, &y);
	return y == 2 * x;
}

static void *setter(void *unused)
{
	set_xy(&point, 1, 2);
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
