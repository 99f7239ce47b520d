/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a cycle is about may have been freed when the cycle closes. It is still
 * known what it was: of two accesses the later one tells, or the place in the
 * source does.
 */
#include "stage.h"

struct part {
	int value;
};

struct whole {
	pthread_mutex_t lock;
	struct part *part;
	int changes;
};

static struct whole whole = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct part *part_new(int value)
{
	struct part *p = malloc(sizeof(*p));

	p->value = value;
	return p;
}

static void renew(struct whole *w, int value)
{
	pthread_mutex_lock(&w->lock);
	w->part->value = 0;
	free(w->part);
	w->part = part_new(value);
	w->changes++;
	pthread_mutex_unlock(&w->lock);
}

/* Not atomic. */
int look(struct whole *w)
{
	pthread_mutex_lock(&w->lock);
	int value = w->part->value;

	pthread_mutex_unlock(&w->lock);
	STAGE(0);
	STAGE(3);
	pthread_mutex_lock(&w->lock);
	value += w->changes;
	pthread_mutex_unlock(&w->lock);
	return value;
}

static void *first(void *unused)
{
	use(look(&whole));
	return unused;
}

static void *second(void *unused)
{
	STAGE(1);
	renew(&whole, 2);
	STAGE(2);
	return unused;
}

int main(void)
{
	whole.part = part_new(1);
	TOGETHER(first, second);
	return 0;
}
