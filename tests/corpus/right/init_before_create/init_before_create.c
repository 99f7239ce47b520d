/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: initialisation before the threads begin.
 * The table is made in several steps and without its lock; later it is read
 * under the lock.
 *
 * Why it looks wrong: the maker's accesses hold no lock, and are spread over
 * functions. Why it is right: there is no other thread yet, and pthread_create
 * orders all of it before what they do.
 *
 * Exit status 1 if a thread finds a wrong entry.
 *
 * usage: init_before_create
 */
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3, SIZE = 16 };

struct table {
	pthread_mutex_t lock;
	int size;
	int entry[SIZE];
	long sum;
};

static void set_entry(struct table *t, int i, int value)
{
	t->entry[i] = value;
	t->sum += value;
}

static void init(struct table *t)
{
	pthread_mutex_init(&t->lock, NULL);
	t->size = 0;
	t->sum = 0;
	for (int i = 0; i < SIZE; i++) {
		set_entry(t, i, i * i);
		t->size++;
	}
}

/* Adds one to an entry, and keeps the sum. */
static void grow(struct table *t, int i)
{
	pthread_mutex_lock(&t->lock);
	t->entry[i % t->size]++;
	t->sum++;
	pthread_mutex_unlock(&t->lock);
}

static void *grower(void *table)
{
	for (int i = 0; i < SIZE; i++)
		grow(table, i);
	return NULL;
}

int main(void)
{
	struct table table;
	pthread_t threads[THREADS];
	long sum = 0;

	init(&table);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, grower, &table))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < SIZE; i++)
		sum += table.entry[i];
	printf("the sum is %ld, and was kept as %ld\n", sum, table.sum);
	return sum != table.sum;
}
