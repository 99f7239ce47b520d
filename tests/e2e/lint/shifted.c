/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What lies in an object is moved on within it: the analysis of pointers comes to an
 * end, and the fault beside it is found.
 * expect: shift stale-value table.count
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct item {
	struct item *next;
	int value;
};

struct table {
	pthread_mutex_t lock;
	int count;
	struct item *first, *second, *third, *fourth;
};

static struct table table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The first makes room for a new one, however many there are. */
static void shift(struct table *t)
{
	int count;

	pthread_mutex_lock(&t->lock);
	count = t->count;
	memmove((void *)&t->second, (void *)&t->first, (size_t)(count & 3) * sizeof(t->first));
	t->first = calloc(1, sizeof(struct item));
	t->first->next = t->second;
	pthread_mutex_unlock(&t->lock);
	pthread_mutex_lock(&t->lock);
	t->count = count + 1;
	pthread_mutex_unlock(&t->lock);
}

static void *work(void *unused)
{
	shift(&table);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	shift(&table);
	pthread_join(thread, NULL);
	return table.first->value;
}
