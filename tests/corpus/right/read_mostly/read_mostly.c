/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: a table that is read often and changed
 * now and then, under a reader-writer lock.
 *
 * Why it looks wrong: readers overlap each other in the table, and between two
 * of a thread's lookups it changes. Why it is right: overlapping reads do no
 * harm, and each lookup is a question of its own.
 *
 * Exit status 1 if a lookup sees half a change.
 *
 * usage: read_mostly
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

enum { READERS = 4, ROUNDS = 25, CHANGES = 5, SIZE = 8 };

struct table {
	pthread_rwlock_t lock;
	int value[SIZE]; /* all the same */
};

static struct table table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

static bool lookup(struct table *t, int i)
{
	bool same;

	pthread_rwlock_rdlock(&t->lock);
	same = t->value[i] == t->value[(i + 1) % SIZE];
	pthread_rwlock_unlock(&t->lock);
	return same;
}

static void change(struct table *t, int to)
{
	pthread_rwlock_wrlock(&t->lock);
	for (int i = 0; i < SIZE; i++)
		t->value[i] = to;
	pthread_rwlock_unlock(&t->lock);
}

static void *reader(void *wrong)
{
	for (int i = 0; i < ROUNDS; i++)
		*(int *)wrong += !lookup(&table, i % SIZE);
	return NULL;
}

static void *writer(void *unused)
{
	for (int i = 1; i <= CHANGES; i++)
		change(&table, i);
	return unused;
}

int main(void)
{
	pthread_t threads[READERS + 1];
	int wrong[READERS] = {0}, sum = 0;

	for (int i = 0; i < READERS; i++)
		if (pthread_create(&threads[i], NULL, reader, &wrong[i]))
			return 2;
	if (pthread_create(&threads[READERS], NULL, writer, NULL))
		return 2;
	for (int i = 0; i <= READERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < READERS; i++)
		sum += wrong[i];
	printf("%d lookups saw half a change\n", sum);
	return sum != 0;
}
