/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Functions that are torn apart in predicted orders, and mean to be, each with a
 * sister that does not. One thread calls all of them, then the other does.
 */
#include "../check/stage.h"

#include <stdbool.h>

enum { ROUNDS = 2, MANY = 307 };

struct thing {
	pthread_mutex_t lock;
	bool busy, made;
	int work, value, first, second, limit;
};

#define THING {.lock = PTHREAD_MUTEX_INITIALIZER}
static struct thing retried = THING, stale = THING, taken = THING, reset = THING, once = THING, again = THING,
		    loose = THING, tied = THING;
static struct table {
	pthread_mutex_t lock;
	bool made;
	int values[MANY];
} all_once = THING, all_again = THING;

#define LOCKED(t, action)                         \
	do {                                      \
		pthread_mutex_lock(&(t)->lock);   \
		action;                           \
		pthread_mutex_unlock(&(t)->lock); \
	} while (0)

/* Writes only if nobody has changed what it goes by, else tries again. */
void tries_again(struct thing *t)
{
	bool done = false;

	while (!done) {
		int seen;

		LOCKED(t, seen = t->value);
		LOCKED(t, done = t->value == seen; if (done) t->value = seen + 1);
	}
}

void goes_by_old(struct thing *t)
{
	int seen;

	LOCKED(t, seen = t->value);
	LOCKED(t, t->value = seen + 1);
}

/* Looks whether it may before it takes. */
void takes(struct thing *t)
{
	bool mine;

	LOCKED(t, mine = !t->busy; if (mine) t->busy = true);
	if (!mine)
		return;
	LOCKED(t, t->busy = false);
}

/* Takes without a look: the read decides about nothing. */
void overwrites(struct thing *t)
{
	LOCKED(t, use(t->work); t->work = 1);
	LOCKED(t, t->work = 0);
}

/* What is made once stays. */
int makes_once(struct thing *t)
{
	int value;

	LOCKED(
		t, if (!t->made) {
			t->value = 7;
			t->made = true;
		});
	LOCKED(t, value = t->value);
	return value;
}

/* And does not where somebody makes it anew. */
int makes_again(struct thing *t)
{
	int value;

	LOCKED(
		t, if (!t->made) {
			t->value = 7;
			t->made = true;
		});
	LOCKED(t, value = t->value);
	LOCKED(t, t->made = false; t->value = 0);
	return value;
}

/* Here and there, so that each is an access. */
static void fill(struct table *t, int value)
{
	for (int i = 0; i < MANY; i++)
		t->values[i * 7 % MANY] = value;
}

/* Of most of what is made by whoever joins the threads alone. */
static int add_up(const struct table *t)
{
	int value = 0;

	for (int i = 0; i < MANY; i++)
		value += t->values[i * 5 % MANY];
	return value;
}

/* It makes no difference how much is made. */
int makes_all_once(struct table *t)
{
	int value;

	LOCKED(
		t, if (!t->made) {
			fill(t, 7);
			t->made = true;
		});
	LOCKED(t, value = t->values[0] + t->values[1]);
	return value;
}

int makes_all_again(struct table *t)
{
	int value;

	LOCKED(
		t, if (!t->made) {
			fill(t, 7);
			t->made = true;
		});
	LOCKED(t, value = t->values[0] + t->values[1]);
	LOCKED(t, t->made = false; t->values[0] = 0);
	return value;
}

/* Two members that nobody looks at together. */
void fills_loose(struct thing *t)
{
	LOCKED(t, t->first++);
	LOCKED(t, t->second++);
}

void fills_tied(struct thing *t)
{
	LOCKED(t, t->limit++);
	LOCKED(t, t->work++);
}

static int sum(struct thing *t)
{
	int value;

	LOCKED(t, value = t->limit + t->work);
	return value;
}

static void all(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		tries_again(&retried);
		goes_by_old(&stale);
		takes(&taken);
		overwrites(&reset);
		use(makes_once(&once));
		use(makes_again(&again));
		use(makes_all_once(&all_once));
		use(makes_all_again(&all_again));
		fills_loose(&loose);
		fills_tied(&tied);
		use(sum(&tied));
	}
}

static void *one(void *unused)
{
	STAGE(1);
	all();
	STAGE(2);
	return unused;
}

static void *other(void *unused)
{
	/* In the trace it comes to its first loop before anybody has taken a lock in one. */
	STAGE(0);
	STAGE(3);
	all();
	return unused;
}

int main(void)
{
	TOGETHER(one, other);
	use(add_up(&all_once) + add_up(&all_again));
	return 0;
}
