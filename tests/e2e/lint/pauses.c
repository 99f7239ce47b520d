/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where others are meant to work in between: at a wait, in front of a loop that
 * waits, where a thread is made. What is taken apart without one is found, also
 * beside one that not all ways come to; so is what a wait lets others change and
 * is then put back as it was.
 * expect: move_apart high-level-race point.*
 * expect: move_and_perhaps_wait high-level-race point.*
 * expect: keep stale-value point.sum
 * expect: waits_too_early high-level-race point.*
 */
#include <pthread.h>
#include <stdlib.h>

struct point {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int x, y, sum, ready;
};

static struct point *made;

static void lock(struct point *p)
{
	pthread_mutex_lock(&p->lock);
}

static void unlock(struct point *p)
{
	pthread_mutex_unlock(&p->lock);
}

/* More than a wrapper: it gives back and takes what its caller holds. */
static void await(struct point *p)
{
	while (!p->ready)
		pthread_cond_wait(&p->changed, &p->lock);
}

static void move_apart(struct point *p)
{
	lock(p);
	p->x = 1;
	unlock(p);
	lock(p);
	p->y = 1;
	unlock(p);
}

static void move_and_wait(struct point *p)
{
	lock(p);
	p->x = 2;
	unlock(p);
	lock(p);
	while (!p->ready)
		pthread_cond_wait(&p->changed, &p->lock);
	p->y = 2;
	unlock(p);
}

static void move_and_await(struct point *p)
{
	lock(p);
	p->x = 3;
	unlock(p);
	lock(p);
	await(p);
	p->y = 3;
	unlock(p);
}

static void move_and_perhaps_wait(struct point *p, int wait)
{
	lock(p);
	p->x = 4;
	unlock(p);
	lock(p);
	if (wait)
		await(p);
	p->y = 4;
	unlock(p);
}

/* In front of both. */
static void waits_too_early(struct point *p)
{
	lock(p);
	await(p);
	p->x = 5;
	unlock(p);
	lock(p);
	p->y = 5;
	unlock(p);
}

static void keep(struct point *p)
{
	int sum;

	lock(p);
	sum = p->sum;
	while (!p->ready)
		pthread_cond_wait(&p->changed, &p->lock);
	p->sum = sum + 1;
	unlock(p);
}

static void *look(void *of)
{
	struct point *p = of;
	int apart;

	lock(p);
	apart = p->x - p->y;
	p->sum += apart;
	unlock(p);
	return apart ? of : NULL;
}

static void *make_ready(void *of)
{
	struct point *p = of;

	lock(p);
	p->ready = 1;
	pthread_cond_broadcast(&p->changed);
	unlock(p);
	return look(p);
}

/* It starts on an object that is still to be filled in. */
static pthread_t start(struct point *p)
{
	pthread_t thread;

	lock(p);
	p->x = 6;
	unlock(p);
	pthread_create(&thread, NULL, make_ready, p);
	lock(p);
	p->y = 6;
	unlock(p);
	return thread;
}

static void *work(void *of)
{
	struct point *p = of;

	move_apart(p);
	move_and_wait(p);
	move_and_await(p);
	move_and_perhaps_wait(p, p != NULL);
	waits_too_early(p);
	keep(p);
	return look(p);
}

int main(void)
{
	pthread_t a, b, c;

	made = calloc(1, sizeof(*made));
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->changed, NULL);
	pthread_create(&a, NULL, work, made);
	pthread_create(&c, NULL, look, made);
	b = start(made);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	pthread_join(c, NULL);
	return 0;
}
