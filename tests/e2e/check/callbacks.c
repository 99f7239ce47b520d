/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A static function that calls itself, and what its object says it should call, is a
 * part of its caller where that works on the same object, and a unit where it does
 * not: the two calls of a thread's first function are two. What the call that is
 * further in does between two critical sections belongs to the outermost one.
 */
#include "stage.h"

struct board {
	pthread_mutex_t lock;
	void (*each)(struct board *, int);
	int sum, marks;
};

static struct board torn = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct board right = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void count(struct board *b, int by)
{
	pthread_mutex_lock(&b->lock);
	b->sum += by;
	pthread_mutex_unlock(&b->lock);
}

static void count_staged(struct board *b, int by)
{
	count(b, by);
	if (by == 1) {
		STAGE(0);
		STAGE(3);
	}
}

/* Not atomic. */
static void down(struct board *b, int depth)
{
	b->each(b, depth);
	if (depth)
		down(b, depth - 1);
}

/* Right. */
static void once(struct board *b, int depth)
{
	b->each(b, depth);
	if (depth > 9)
		once(b, depth - 1);
}

static void *first(void *unused)
{
	down(&torn, 1);
	once(&right, 3);
	STAGE(4);
	STAGE(7);
	once(&right, 4);
	return unused;
}

static void *second(void *unused)
{
	STAGE(1);
	count(&torn, 5);
	STAGE(2);
	STAGE(5);
	count(&right, 2);
	STAGE(6);
	return unused;
}

int main(void)
{
	torn.each = count_staged;
	right.each = count;
	TOGETHER(first, second);
	use(torn.sum + right.sum);
	return 0;
}
