/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * `look` gives its lock back between reading and writing, and `move` comes in between, in one
 * critical section: the cycle leaves `move`, too, before it enters it, but nobody came into
 * that. In `turn` and `back` it is the same with the threads changed about.
 */
#include "stage.h"

struct pair {
	pthread_mutex_t lock;
	int a, b;
};
static struct pair pair = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct twin {
	pthread_mutex_t lock;
	int a, b;
} twin = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((noinline)) static int look(struct pair *p)
{
	pthread_mutex_lock(&p->lock);
	int a = p->a;
	pthread_mutex_unlock(&p->lock);
	STAGE(0);
	STAGE(3);
	pthread_mutex_lock(&p->lock);
	p->b = 7;
	pthread_mutex_unlock(&p->lock);
	return a;
}

__attribute__((noinline)) static void move(struct pair *p)
{
	STAGE(1);
	pthread_mutex_lock(&p->lock);
	p->a = p->b + 1;
	pthread_mutex_unlock(&p->lock);
	STAGE(2);
}

__attribute__((noinline)) static int turn(struct twin *p)
{
	pthread_mutex_lock(&p->lock);
	int a = p->a;
	pthread_mutex_unlock(&p->lock);
	STAGE(4);
	STAGE(7);
	pthread_mutex_lock(&p->lock);
	p->b = 7;
	pthread_mutex_unlock(&p->lock);
	return a;
}

__attribute__((noinline)) static void back(struct twin *p)
{
	STAGE(5);
	pthread_mutex_lock(&p->lock);
	p->a = p->b + 1;
	pthread_mutex_unlock(&p->lock);
	STAGE(6);
}

static void *one(void *unused)
{
	use(look(&pair));
	back(&twin);
	return unused;
}

static void *other(void *unused)
{
	move(&pair);
	use(turn(&twin));
	return unused;
}

int main(void)
{
	TOGETHER(one, other);
	return pair.b != 7;
}
