/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Vector, as in PENELOPE's Fig. 1 and Table 1, and of the collections in
 * Marathon's Table 1; a reconstruction. A vector whose every operation is
 * locked, and operations that work on a second vector as well.
 *
 * What breaks: those lock the vector that they change, ask the other one for
 * its size, and then fetch its elements one by one, by which time there may be
 * fewer.
 *
 * How it shows: exit status 1 if an element is fetched that is not there (an
 * exception in the original).
 *
 * usage: vector [TEST] 1 add_all, 2 insert_all, 3 remove_all, 4 contains_all,
 * 5 equals; each while the other vector is cleared
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../stage.h"

enum { MOST = 16 };

struct vector {
	pthread_mutex_t lock;
	int size;
	int item[MOST];
};

static struct vector first = {PTHREAD_MUTEX_INITIALIZER, 3, {1, 2, 3}};
static struct vector second = {PTHREAD_MUTEX_INITIALIZER, 3, {1, 2, 3}};
static bool missing; /* an element was fetched that is not there */

static int size_of(struct vector *v)
{
	int size;

	pthread_mutex_lock(&v->lock);
	size = v->size;
	pthread_mutex_unlock(&v->lock);
	return size;
}

static int get(struct vector *v, int i)
{
	int item = 0;

	pthread_mutex_lock(&v->lock);
	if (i < v->size)
		item = v->item[i];
	else
		missing = true;
	pthread_mutex_unlock(&v->lock);
	return item;
}

static void clear(struct vector *v)
{
	pthread_mutex_lock(&v->lock);
	v->size = 0;
	pthread_mutex_unlock(&v->lock);
}

/* Where an item is, or -1; the lock is held. */
static int find(struct vector *v, int item)
{
	for (int i = 0; i < v->size; i++)
		if (v->item[i] == item)
			return i;
	return -1;
}

static void add_all(struct vector *v, struct vector *other)
{
	int more;

	pthread_mutex_lock(&v->lock);
	more = size_of(other);
	STAGE(1);
	STAGE(4);
	for (int i = 0; i < more && v->size < MOST; i++)
		v->item[v->size++] = get(other, i);
	pthread_mutex_unlock(&v->lock);
}

static void insert_all(struct vector *v, int at, struct vector *other)
{
	int more;

	pthread_mutex_lock(&v->lock);
	more = size_of(other);
	STAGE(1);
	STAGE(4);
	if (v->size + more <= MOST) {
		memmove(v->item + at + more, v->item + at, (v->size - at) * sizeof(*v->item));
		v->size += more;
		for (int i = 0; i < more; i++)
			v->item[at + i] = get(other, i);
	}
	pthread_mutex_unlock(&v->lock);
}

static void remove_all(struct vector *v, struct vector *other)
{
	int count, at;

	pthread_mutex_lock(&v->lock);
	count = size_of(other);
	STAGE(1);
	STAGE(4);
	for (int i = 0; i < count; i++) {
		at = find(v, get(other, i));
		if (at >= 0)
			v->item[at] = v->item[--v->size];
	}
	pthread_mutex_unlock(&v->lock);
}

static bool contains_all(struct vector *v, struct vector *other)
{
	bool all = true;
	int count;

	pthread_mutex_lock(&v->lock);
	count = size_of(other);
	STAGE(1);
	STAGE(4);
	for (int i = 0; i < count; i++)
		if (find(v, get(other, i)) < 0)
			all = false;
	pthread_mutex_unlock(&v->lock);
	return all;
}

static bool equals(struct vector *v, struct vector *other)
{
	bool equal;

	pthread_mutex_lock(&v->lock);
	equal = v->size == size_of(other);
	STAGE(1);
	STAGE(4);
	for (int i = 0; equal && i < v->size; i++)
		equal = v->item[i] == get(other, i);
	pthread_mutex_unlock(&v->lock);
	return equal;
}

static void *user(void *test)
{
	switch (*(int *)test) {
	case 1:
		add_all(&first, &second);
		break;
	case 2:
		insert_all(&first, 1, &second);
		break;
	case 3:
		remove_all(&first, &second);
		break;
	case 4:
		printf("contains all: %d\n", contains_all(&first, &second));
		break;
	default:
		printf("equal: %d\n", equals(&first, &second));
	}
	return NULL;
}

static void *cleaner(void *unused)
{
	STAGE(2);
	clear(&second);
	STAGE(3);
	return unused;
}

int main(int argc, char **argv)
{
	int test = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, user, &test) ||
	    pthread_create(&threads[1], NULL, cleaner, NULL))
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%s\n", missing ? "an element was not there" : "all elements were there");
	return missing;
}
