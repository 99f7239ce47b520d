/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Between waits a function is consistent by itself: of those that take their critical
 * sections apart, only the one that meets others in between may. And who waited for
 * what nobody takes back may go by it; what is taken back may be gone again.
 * expect: take_after stale-value pair.*
 * expect count: inconsistent_methods 3
 */
#include <pthread.h>

struct pair {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int a, b, ready, full;
};

static pthread_barrier_t barrier;
static struct pair pair = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int read_a(struct pair *p)
{
	int a;

	pthread_mutex_lock(&p->lock);
	a = p->a;
	pthread_mutex_unlock(&p->lock);
	return a;
}

static int read_b(struct pair *p)
{
	int b;

	pthread_mutex_lock(&p->lock);
	b = p->b;
	pthread_mutex_unlock(&p->lock);
	return b;
}

static void await(struct pair *p)
{
	pthread_mutex_lock(&p->lock);
	while (!p->ready)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

static void show(int value)
{
	static volatile int shown;

	shown = value;
}

static void look_apart(struct pair *p)
{
	show(read_a(p));
	show(read_b(p));
}

static void look_and_meet(struct pair *p)
{
	show(read_a(p));
	pthread_barrier_wait(&barrier);
	show(read_b(p));
}

static void look_after(struct pair *p)
{
	await(p);
	show(read_b(p));
}

static void await_full(struct pair *p)
{
	pthread_mutex_lock(&p->lock);
	while (!p->full)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

static void empty(struct pair *p)
{
	pthread_mutex_lock(&p->lock);
	p->full = 0;
	p->b--;
	pthread_mutex_unlock(&p->lock);
}

static void take_after(struct pair *p)
{
	await_full(p);
	empty(p);
}

static void *set_both(void *unused)
{
	pthread_mutex_lock(&pair.lock);
	pair.a++;
	pair.b++;
	pair.ready = 1;
	pair.full = 1;
	pthread_cond_broadcast(&pair.changed);
	pthread_mutex_unlock(&pair.lock);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 1);
	pthread_create(&thread, NULL, set_both, NULL);
	look_apart(&pair);
	look_and_meet(&pair);
	look_after(&pair);
	take_after(&pair);
	pthread_join(thread, NULL);
	return 0;
}
