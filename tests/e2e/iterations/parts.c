/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is told of again, and what is not; parts.py says what the comments mean. A
 * static function on its caller's own object is a part of it, and so is a walk,
 * as long as they do not synchronise, though they may.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct shelf {
	pthread_mutex_t lock;
	void (*each)(struct shelf *);
	int items, base, step, next, last, depth, twice, outside, other, inside, beside, list[4];
};

static struct shelf shelf = {.lock = PTHREAD_MUTEX_INITIALIZER, .items = 4};
static struct shelf second = {.lock = PTHREAD_MUTEX_INITIALIZER, .items = 4};
static volatile int seen;

void quiet(struct shelf *s)
{
	seen += s->items;
}

void locking(struct shelf *s)
{
	pthread_mutex_lock(&s->lock);
	pthread_mutex_unlock(&s->lock);
}

/* Iterations that do not synchronise are one with what is around them. */
static long walk(struct shelf *s)
{
	long sum = s->base; //@ 1
	for (int i = 0; i < s->items; i++) {
		sum += s->base;    //@ 0
		sum += s->step;    //@ 1
		sum += s->list[i]; //@ 4
		if (i > 9)
			s->each(s);
	}
	return sum + s->step; //@ 0
}

/* Those that do begin anew, and what is behind them, too. */
static long walk_locked(struct shelf *s)
{
	long sum = s->next; //@ 1
	for (int i = 0; i < 4; i++) {
		sum += s->next + s->list[i]; //@ 7
		if (i < 10)
			s->each(s);
	}
	return sum + s->next; //@ 1
}

/* A recursion on one object is one call, */
static long below(struct shelf *s, int depth)
{
	long sum = s->depth; //@ 2

	if (depth > 9)
		s->each(s);
	if (depth)
		sum += below(s, depth - 1) + below(s, depth - 1);
	return sum + s->depth; //@ 0
}

/* but it is not where a part of it is another object's. */
static long across(struct shelf *s, struct shelf *t, int depth)
{
	long sum = s->twice; //@ 6

	if (depth > 9)
		s->each(s);
	if (depth)
		sum += across(t, s, depth - 1);
	return sum;
}

/* Whatever its own code touches, the outermost is a unit for. */
static long elsewhere(struct shelf *s, int depth)
{
	long sum = s->outside + second.other; //@ 4

	if (depth > 9)
		s->each(s);
	if (depth)
		sum += elsewhere(s, depth - 1);
	return sum;
}

/* What it calls is a part if it keeps to their object, */
static long inside(struct shelf *s, int depth)
{
	if (depth > 9)
		s->each(s);
	return s->inside; //@ 1
}

/* and else is a unit itself. */
static long beside(struct shelf *s, int depth)
{
	if (depth > 9)
		s->each(s);
	return s->beside + second.other; //@ 6
}

static long calls_inside(struct shelf *s, int depth)
{
	long sum = depth ? calls_inside(s, depth - 1) : 0;

	return sum + inside(s, depth);
}

static long calls_beside(struct shelf *s, int depth)
{
	long sum = depth ? calls_beside(s, depth - 1) : 0;

	return sum + beside(s, depth);
}

/* Who synchronises in the middle of it tells of what comes behind. */
static long locked_below(struct shelf *s, int depth)
{
	long sum = s->last; //@ 3

	if (depth == 2)
		s->each(s);
	if (depth)
		sum += locked_below(s, depth - 1) + locked_below(s, depth - 1);
	return sum;
}

/* No unit, and each of its calls is one. */
static void *start(void *argument)
{
	struct shelf *s = argument;

	s->each = quiet;
	seen += walk(s);
	seen += below(&shelf, 3);
	seen += below(&shelf, 3);
	seen += across(&shelf, &second, 2);
	seen += across(&shelf, &second, 2);
	seen += elsewhere(&shelf, 2);
	seen += elsewhere(&shelf, 2);
	seen += calls_inside(&shelf, 2);
	seen += calls_beside(&shelf, 2);
	s->each = locking;
	seen += walk_locked(s);
	seen += locked_below(s, 3);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, start, &shelf))
		exit(1);
	pthread_join(thread, NULL);
	printf("%d\n", seen);
	return 0;
}
