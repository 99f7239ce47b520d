/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Functions with two critical sections each, and another thread in between.
 * borrow takes a thing and gives it back, and who wants it meanwhile goes away;
 * lend does the same, and is looked at by who does not want it. mark writes two
 * members that nobody reads together. move writes two members that somebody
 * does. pass looks again whose turn it is, and goes by that; draw takes for its
 * number what is somebody else's by then.
 */
#include "stage.h"

#include <stdbool.h>

struct thing {
	pthread_mutex_t lock;
	bool taken, lent;
	long user, label;
	long x, y;
	long turn, number;
};

static struct thing thing = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Taken and given back. */
void borrow(struct thing *t)
{
	pthread_mutex_lock(&t->lock);
	bool mine = !t->taken;

	if (mine)
		t->taken = true;
	pthread_mutex_unlock(&t->lock);
	if (!mine)
		return;
	STAGE(0);
	STAGE(3);
	pthread_mutex_lock(&t->lock);
	t->taken = false;
	pthread_mutex_unlock(&t->lock);
}

/* Torn. */
void lend(struct thing *t)
{
	pthread_mutex_lock(&t->lock);
	if (!t->lent)
		t->lent = true;
	pthread_mutex_unlock(&t->lock);
	STAGE(4);
	STAGE(7);
	pthread_mutex_lock(&t->lock);
	t->lent = false;
	pthread_mutex_unlock(&t->lock);
}

int look(struct thing *t)
{
	pthread_mutex_lock(&t->lock);
	bool lent = t->lent;

	pthread_mutex_unlock(&t->lock);
	return lent;
}

/* Two things that have nothing to do with each other. */
void mark(struct thing *t, long user)
{
	pthread_mutex_lock(&t->lock);
	t->user = user;
	pthread_mutex_unlock(&t->lock);
	STAGE(8);
	STAGE(11);
	pthread_mutex_lock(&t->lock);
	t->label = 2 * user;
	pthread_mutex_unlock(&t->lock);
}

void clear(struct thing *t)
{
	pthread_mutex_lock(&t->lock);
	t->user = t->label = 0;
	pthread_mutex_unlock(&t->lock);
}

/* Torn. */
void move(struct thing *t, long by)
{
	pthread_mutex_lock(&t->lock);
	t->x = by;
	pthread_mutex_unlock(&t->lock);
	STAGE(12);
	STAGE(15);
	pthread_mutex_lock(&t->lock);
	t->y = by;
	pthread_mutex_unlock(&t->lock);
}

long sum(struct thing *t)
{
	pthread_mutex_lock(&t->lock);
	long both = t->x + t->y;

	pthread_mutex_unlock(&t->lock);
	return both;
}

/* Looked at again. */
void pass(struct thing *t, long mine)
{
	pthread_mutex_lock(&t->lock);
	t->turn++;
	pthread_mutex_unlock(&t->lock);
	STAGE(16);
	STAGE(19);
	pthread_mutex_lock(&t->lock);
	if (t->turn <= mine)
		use(0);
	pthread_mutex_unlock(&t->lock);
}

void next(struct thing *t)
{
	pthread_mutex_lock(&t->lock);
	t->turn++;
	pthread_mutex_unlock(&t->lock);
}

/* Torn. */
int draw(struct thing *t)
{
	pthread_mutex_lock(&t->lock);
	t->number++;
	pthread_mutex_unlock(&t->lock);
	STAGE(20);
	STAGE(23);
	pthread_mutex_lock(&t->lock);
	long mine = t->number;

	pthread_mutex_unlock(&t->lock);
	return (int)mine;
}

void another(struct thing *t)
{
	pthread_mutex_lock(&t->lock);
	t->number++;
	pthread_mutex_unlock(&t->lock);
}

static void *first(void *unused)
{
	borrow(&thing);
	lend(&thing);
	mark(&thing, 1);
	move(&thing, 1);
	pass(&thing, 0);
	use(draw(&thing));
	return unused;
}

static void *second(void *unused)
{
	STAGE(1);
	borrow(&thing);
	STAGE(2);
	STAGE(5);
	use(look(&thing));
	STAGE(6);
	STAGE(9);
	clear(&thing);
	STAGE(10);
	STAGE(13);
	use((int)sum(&thing));
	STAGE(14);
	STAGE(17);
	next(&thing);
	STAGE(18);
	STAGE(21);
	another(&thing);
	STAGE(22);
	return unused;
}

int main(void)
{
	TOGETHER(first, second);
	return 0;
}
