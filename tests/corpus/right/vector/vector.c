/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/vector: an operation on two vectors locks both, in
 * the order of their addresses.
 *
 * Exit status 1 if an element is fetched that is not there.
 *
 * usage: vector [TEST] 1 add_all, 2 insert_all, 3 remove_all, 4 contains_all,
 * 5 equals; each while the other vector is cleared
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

struct vector {
	pthread_mutex_t lock;
	int size;
	int item[MOST];
};

static struct vector first = {PTHREAD_MUTEX_INITIALIZER, 3, {1, 2, 3}};
static struct vector second = {PTHREAD_MUTEX_INITIALIZER, 3, {1, 2, 3}};
static bool missing; /* an element was fetched that is not there */

static void lock_both(struct vector *v, struct vector *other)
{
	pthread_mutex_lock(v < other ? &v->lock : &other->lock);
	pthread_mutex_lock(v < other ? &other->lock : &v->lock);
}

static void unlock_both(struct vector *v, struct vector *other)
{
	pthread_mutex_unlock(&v->lock);
	pthread_mutex_unlock(&other->lock);
}

/* The lock is held. */
static int get(struct vector *v, int i)
{
	if (i < v->size)
		return v->item[i];
	missing = true;
	return 0;
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

	lock_both(v, other);
	more = other->size;
	for (int i = 0; i < more && v->size < MOST; i++)
		v->item[v->size++] = get(other, i);
	unlock_both(v, other);
}

static void insert_all(struct vector *v, int at, struct vector *other)
{
	int more;

	lock_both(v, other);
	more = other->size;
	if (v->size + more <= MOST) {
		memmove(v->item + at + more, v->item + at, (v->size - at) * sizeof(*v->item));
		v->size += more;
		for (int i = 0; i < more; i++)
			v->item[at + i] = get(other, i);
	}
	unlock_both(v, other);
}

static void remove_all(struct vector *v, struct vector *other)
{
	int count, at;

	lock_both(v, other);
	count = other->size;
	for (int i = 0; i < count; i++) {
		at = find(v, get(other, i));
		if (at >= 0)
			v->item[at] = v->item[--v->size];
	}
	unlock_both(v, other);
}

static bool contains_all(struct vector *v, struct vector *other)
{
	bool all = true;
	int count;

	lock_both(v, other);
	count = other->size;
	for (int i = 0; i < count; i++)
		if (find(v, get(other, i)) < 0)
			all = false;
	unlock_both(v, other);
	return all;
}

static bool equals(struct vector *v, struct vector *other)
{
	bool equal;

	lock_both(v, other);
	equal = v->size == other->size;
	for (int i = 0; equal && i < v->size; i++)
		equal = v->item[i] == get(other, i);
	unlock_both(v, other);
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
	clear(&second);
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
