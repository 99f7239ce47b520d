// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The way to an access, over a function pointer, recursion, an exception that was caught and a longjmp: the
// stack in the report is the one that was there.
extern "C" {
#include "stage.h"
}
#include <csetjmp>

struct counter {
	pthread_mutex_t lock;
	int value;
};

static counter shared = {PTHREAD_MUTEX_INITIALIZER, 0};
static jmp_buf back;

static int get(counter *c)
{
	pthread_mutex_lock(&c->lock);
	int value = c->value;
	pthread_mutex_unlock(&c->lock);
	return value;
}

static void put(counter *c, int value)
{
	pthread_mutex_lock(&c->lock);
	c->value = value;
	pthread_mutex_unlock(&c->lock);
}

void thrower(counter *c)
{
	if (get(c) >= 0)
		throw 1;
}

void jumper(counter *c)
{
	use(get(c));
	longjmp(back, 1);
}

void increment(counter *c, int depth)
{
	if (depth) {
		increment(c, depth - 1);
		return;
	}
	int value = get(c);
	STAGE(0);
	STAGE(3);
	put(c, value + 1);
}

void through(void (*function)(counter *, int), counter *c)
{
	try {
		thrower(c);
	} catch (int) {
	}
	if (!setjmp(back))
		jumper(c);
	function(c, 2);
}

static void *first(void *unused)
{
	through(increment, &shared);
	return unused;
}

static void *second(void *unused)
{
	STAGE(1);
	put(&shared, 7);
	STAGE(2);
	return unused;
}

int main()
{
	void *(*both[])(void *) = {first, second};

	together(2, both);
	return shared.value != 1;
}
