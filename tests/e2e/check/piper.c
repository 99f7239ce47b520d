/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Piper, after the ConTest suite: seats are handed from a filler to a taker
 * through a small buffer, with condition waits as they should be. A wait gives
 * the lock up in the middle of the function, so the function is not one unit.
 */
#include "stage.h"

enum { ROOM = 1, ITEMS = 20 };

struct pipe {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int items[ROOM];
	int count, filled, taken;
};

static struct pipe pipe_ = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0, 0};

static void fill(struct pipe *p, int item)
{
	pthread_mutex_lock(&p->lock);
	while (p->count == ROOM)
		pthread_cond_wait(&p->changed, &p->lock);
	p->items[p->count++] = item;
	p->filled++;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

static int take(struct pipe *p)
{
	pthread_mutex_lock(&p->lock);
	while (!p->count)
		pthread_cond_wait(&p->changed, &p->lock);
	int item = p->items[--p->count];
	p->taken++;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	return item;
}

static void *filler(void *unused)
{
	for (int i = 0; i < ITEMS; i++)
		fill(&pipe_, i);
	return unused;
}

static void *taker(void *unused)
{
	for (int i = 0; i < ITEMS; i++)
		take(&pipe_);
	return unused;
}

int main(void)
{
	TOGETHER(filler, taker);
	return pipe_.filled != ITEMS || pipe_.taken != ITEMS;
}
