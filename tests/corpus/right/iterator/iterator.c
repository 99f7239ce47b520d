/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/iterator: the table is locked over the whole
 * iteration.
 *
 * Exit status 1 if an element was asked for that is not there.
 *
 * usage: iterator
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

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

/* The table's lock is held. */
static bool has_next(struct iterator *i)
{
	return i->position < i->table->count;
}

/* The table's lock is held. */
static int next(struct iterator *i)
{
	if (i->position < i->table->count)
		return i->table->values[i->position++];
	i->table->missing++;
	return 0;
}

static int total_of(struct table *t)
{
	struct iterator i = {t, 0};
	int total = 0;

	pthread_mutex_lock(&t->lock);
	while (has_next(&i))
		total += next(&i);
	pthread_mutex_unlock(&t->lock);
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
	remove_last(&table);
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
