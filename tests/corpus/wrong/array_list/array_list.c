/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ArrayList (sync), of the collections in Marathon's Table 1; a
 * reconstruction. Five threads add to and remove from a list under its lock,
 * five make copies of it.
 *
 * What breaks: copy, like the constructor from another collection, takes the
 * other list's size and then its elements without its lock.
 *
 * How it shows: removed places are 0, and no copy may have one; exit status 1
 * otherwise.
 *
 * usage: array_list [ROUNDS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../stage.h"

enum { MOST = 16, PAIRS = 5 };

struct list {
	pthread_mutex_t lock;
	int size;
	int item[MOST];
};

static struct list shared = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int rounds = 10;

static void add(struct list *list, int item)
{
	pthread_mutex_lock(&list->lock);
	if (list->size < MOST)
		list->item[list->size++] = item;
	pthread_mutex_unlock(&list->lock);
}

static void remove_last(struct list *list)
{
	pthread_mutex_lock(&list->lock);
	if (list->size > 0)
		list->item[--list->size] = 0;
	pthread_mutex_unlock(&list->lock);
}

static void copy(struct list *copy, struct list *from)
{
	copy->size = from->size;
	MEET(PAIRS);
	STAGE(1);
	STAGE(4);
	for (int i = 0; i < copy->size; i++)
		copy->item[i] = from->item[i];
	STAGE(5);
}

static void *changer(void *unused)
{
	for (int i = 1; i <= rounds; i++) {
		STAGE(2);
		remove_last(&shared);
		STAGE(3);
		AWAIT(5);
		add(&shared, i);
	}
	return unused;
}

static void *copier(void *holes)
{
	struct list own = {.lock = PTHREAD_MUTEX_INITIALIZER};

	for (int i = 0; i < rounds; i++) {
		copy(&own, &shared);
		for (int j = 0; j < own.size; j++)
			*(int *)holes += own.item[j] == 0;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2 * PAIRS];
	int holes[PAIRS] = {0}, sum = 0;

	if (argc > 1)
		rounds = atoi(argv[1]);
	for (int i = 1; i <= PAIRS; i++)
		add(&shared, i);
	for (int i = 0; i < PAIRS; i++)
		if (pthread_create(&threads[2 * i], NULL, changer, NULL) ||
		    pthread_create(&threads[2 * i + 1], NULL, copier, &holes[i]))
			return 2;
	for (int i = 0; i < 2 * PAIRS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < PAIRS; i++)
		sum += holes[i];
	printf("%d holes in the copies\n", sum);
	return sum != 0;
}
