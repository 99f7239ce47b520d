/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The iterators of Vector and Hashtable, which von Praun and Gross report as
 * found. One thread adds up a table by way of an iterator, another one removes
 * elements. A reconstruction.
 *
 * What breaks: total_of asks the iterator in one critical section whether
 * there is one more element, and for the element in the next.
 *
 * How it shows: exit status 1 if an element was asked for that is not there
 * (an exception in the original).
 *
 * usage: iterator
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { SIZE = 8 };

struct table {
	pthread_mutex_t lock;
	int count;
	int missing; /* asked for behind the end */
	int values[SIZE];
};

struct iterator {
	struct table *table;
	int position;
};

static struct table table = {
	.lock = PTHREAD_MUTEX_INITIALIZER, .count = SIZE, .values = {1, 2, 3, 4, 5, 6, 7, 8}};

static bool has_next(struct iterator *i)
{
	bool more;

	pthread_mutex_lock(&i->table->lock);
	more = i->position < i->table->count;
	pthread_mutex_unlock(&i->table->lock);
	return more;
}

static int next(struct iterator *i)
{
	int value = 0;

	pthread_mutex_lock(&i->table->lock);
	if (i->position < i->table->count)
		value = i->table->values[i->position++];
	else
		i->table->missing++;
	pthread_mutex_unlock(&i->table->lock);
	return value;
}

static int total_of(struct table *t)
{
	struct iterator i = {t, 0};
	int total = 0;

	while (has_next(&i)) {
		STAGE_IF(i.position == SIZE - 1, 1);
		STAGE_IF(i.position == SIZE - 1, 4);
		total += next(&i);
	}
	return total;
}

static void remove_last(struct table *t)
{
	pthread_mutex_lock(&t->lock);
	if (t->count > 0)
		t->count--;
	pthread_mutex_unlock(&t->lock);
}

static void *reader(void *sum)
{
	*(int *)sum = total_of(&table);
	return NULL;
}

static void *remover(void *unused)
{
	STAGE(2);
	remove_last(&table);
	STAGE(3);
	return unused;
}

int main(void)
{
	pthread_t threads[2];
	int sum = 0;

	if (pthread_create(&threads[0], NULL, reader, &sum) ||
	    pthread_create(&threads[1], NULL, remover, NULL))
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("a sum of %d, %d elements were not there\n", sum, table.missing);
	return table.missing != 0;
}
