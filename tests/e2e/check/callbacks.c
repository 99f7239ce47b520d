/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A static function that calls itself, and what its object says it should call, is a
 * part of its caller where that works on the same object, and a unit where it does
 * not: the two calls of a thread's first function are two. What the call that is
 * further in does between two critical sections belongs to the outermost one. What
 * stands behind such a call is the caller's, which may be a unit for more. And who
 * takes twice from what several share means each by itself.
 */
#include "stage.h"

struct board {
	pthread_mutex_t lock;
	void (*each)(struct board *, int);
	int sum, marks, last;
	struct pile *pile; /* that all share */
};
struct pile {
	int left;
};
struct yard {
	struct pile *pile;
};
struct purse {
	pthread_mutex_t lock;
	int money;
};

static struct board torn = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct board right = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct board prices;
static struct purse purse = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

static void mark(struct board *b, int by)
{
	b->marks += by + b->sum;
}

static int total(struct board *b, int depth)
{
	int sum = 0;

	if (depth)
		sum = total(b, depth - 1);
	else
		b->each(b, 1);
	return sum + b->last;
}

/* Not atomic. */
static void charge(struct board *b, struct purse *p)
{
	int sum, money;

	pthread_mutex_lock(&p->lock);
	sum = total(b, 2);
	money = p->money;
	pthread_mutex_unlock(&p->lock);
	STAGE(8);
	STAGE(11);
	pthread_mutex_lock(&p->lock);
	p->money = money - sum;
	pthread_mutex_unlock(&p->lock);
}

static void earn(struct purse *p)
{
	pthread_mutex_lock(&p->lock);
	p->money++;
	pthread_mutex_unlock(&p->lock);
}

static pthread_mutex_t pile_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pile pile;
static struct yard yard = {&pile};
static struct board one = {.pile = &pile}, two = {.pile = &pile};

static void fill(struct yard *y)
{
	pthread_mutex_lock(&pile_lock);
	y->pile->left = 9;
	pthread_mutex_unlock(&pile_lock);
}

static void take(struct board *b, int count)
{
	b->each(b, count);
	b->pile->left -= count;
}

/* Right. */
static void take_two(struct board *b)
{
	pthread_mutex_lock(&pile_lock);
	use(b->sum);
	take(b, 1);
	pthread_mutex_unlock(&pile_lock);
	STAGE(12);
	STAGE(15);
	pthread_mutex_lock(&pile_lock);
	use(b->sum);
	take(b, 1);
	pthread_mutex_unlock(&pile_lock);
}

static void take_one(struct board *b)
{
	pthread_mutex_lock(&pile_lock);
	take(b, 1);
	pthread_mutex_unlock(&pile_lock);
}

static void *first(void *unused)
{
	down(&torn, 1);
	once(&right, 3);
	STAGE(4);
	STAGE(7);
	once(&right, 4);
	earn(&purse);
	charge(&prices, &purse);
	take_two(&one);
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
	STAGE(9);
	earn(&purse);
	STAGE(10);
	STAGE(13);
	take_one(&two);
	STAGE(14);
	return unused;
}

int main(void)
{
	torn.each = count_staged;
	right.each = count;
	prices.each = one.each = two.each = mark;
	fill(&yard);
	take_one(&one);
	take_one(&two);
	TOGETHER(first, second);
	use(torn.sum + right.sum + purse.money);
	return 0;
}
