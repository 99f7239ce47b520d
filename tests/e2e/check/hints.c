/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who has added something sees that there is too much, and calls a function that
 * makes room, under a lock that it takes itself. In `counted`, `unlocked`, `asked`,
 * `added`, `told` and `summed` this function looks again, so what was seen before is a hint. All
 * others carry something over that somebody else may have changed meanwhile, or do
 * not look again at what they were called for.
 */
#include "stage.h"

#include <stdbool.h>

enum { ROOM = 8 };

/* A table, and another one who adds to it between stages `first` + 1 and `first` + 2. */
#define TABLE(name, first)                                                      \
	struct name {                                                           \
		pthread_mutex_t lock;                                           \
		int count, limit, busy;                                         \
		int key[ROOM];                                                  \
	};                                                                      \
	static struct name name = {.lock = PTHREAD_MUTEX_INITIALIZER};          \
	__attribute__((noinline)) static void name##_put(struct name *t, int k) \
	{                                                                       \
		STAGE(first + 1);                                               \
		pthread_mutex_lock(&t->lock);                                   \
		t->key[t->count++] = k;                                         \
		t->limit = t->count / 2;                                        \
		t->busy++;                                                      \
		pthread_mutex_unlock(&t->lock);                                 \
		STAGE(first + 2);                                               \
	}

/* Others may add now. */
#define OTHERS(first)               \
	do {                        \
		STAGE(first);       \
		STAGE((first) + 3); \
	} while (0)

#define LOCKED(t, action)                         \
	do {                                      \
		pthread_mutex_lock(&(t)->lock);   \
		action;                           \
		pthread_mutex_unlock(&(t)->lock); \
	} while (0)

TABLE(counted, 0)
TABLE(unlocked, 4)
TABLE(asked, 8)
TABLE(added, 12)
TABLE(told, 16)
TABLE(blind, 20)
TABLE(other, 24)
TABLE(given, 28)
TABLE(kept, 32)
TABLE(missing, 36)
TABLE(empty, 40)
TABLE(always, 44)
TABLE(half, 48)
TABLE(taken, 52)
TABLE(answered, 56)
TABLE(copied, 60)
TABLE(handled, 64)
TABLE(summed, 68)
TABLE(moved, 72)

/* ---- meant ---- */

#define LOOKS_AGAIN(name)                                                 \
	__attribute__((noinline)) static void name##_room(struct name *t) \
	{                                                                 \
		pthread_mutex_lock(&t->lock);                             \
		if (t->count > t->limit) {                                \
			t->limit = t->count * 2;                          \
			t->key[0] = 0;                                    \
		}                                                         \
		pthread_mutex_unlock(&t->lock);                           \
	}

LOOKS_AGAIN(counted)
LOOKS_AGAIN(unlocked)
LOOKS_AGAIN(asked)
LOOKS_AGAIN(added)
LOOKS_AGAIN(summed)
LOOKS_AGAIN(moved)

static void counted_add(struct counted *t, int key)
{
	bool full;

	LOCKED(t, t->key[t->count++] = key; full = t->count > t->limit);
	OTHERS(0);
	if (full)
		counted_room(t);
}

static void unlocked_add(struct unlocked *t)
{
	bool full = t->count >= t->limit;

	OTHERS(4);
	if (full)
		unlocked_room(t);
}

__attribute__((noinline)) static bool asked_full(struct asked *t)
{
	bool full = false;

	LOCKED(t, if (t->count >= t->limit) full = true);
	return full;
}

static void asked_add(struct asked *t)
{
	bool full = asked_full(t);

	OTHERS(8);
	if (full)
		asked_room(t);
}

/* Whether it has added anything is something that it knows of itself. */
static bool added_add(struct added *t, int key)
{
	bool made = false, full;
	int i = 0;

	pthread_mutex_lock(&t->lock);
	while (i < t->count && t->key[i] != key)
		i++;
	if (i == t->count) {
		t->key[t->count++] = key;
		made = true;
	}
	full = t->count > t->limit;
	pthread_mutex_unlock(&t->lock);
	OTHERS(12);
	if (made && full)
		added_room(t);
	return made;
}

/* A loop that goes on as long as there is too much. */
__attribute__((noinline)) static void told_room(struct told *t)
{
	pthread_mutex_lock(&t->lock);
	while (t->count > t->limit)
		t->key[--t->count] = 0;
	pthread_mutex_unlock(&t->lock);
}

static void told_add(struct told *t, int key)
{
	int count, limit;

	LOCKED(t, t->key[t->count++] = key; count = t->count; limit = t->limit);
	OTHERS(16);
	if (count > limit)
		told_room(t);
}

/* Looks at what it is given, and changes nothing. */
static int *summed_find(struct summed *t, int *from, int key)
{
	for (; from < t->key + t->count; from++)
		if (*from == key)
			return from;
	return NULL;
}

/* A number that is found is added to where it is. */
static void summed_add(struct summed *t, int key, int by)
{
	bool full;
	int *at;

	pthread_mutex_lock(&t->lock);
	at = summed_find(t, t->key + t->busy, key);
	if (!at)
		at = &t->key[t->count++];
	*at += by;
	full = t->count > t->limit;
	pthread_mutex_unlock(&t->lock);
	OTHERS(68);
	if (full)
		summed_room(t);
}

/* ---- not meant ---- */

/* A number goes from one place to another. */
static void moved_add(struct moved *t, int by)
{
	bool full;

	pthread_mutex_lock(&t->lock);
	t->busy = t->key[t->count++] + by;
	full = t->count > t->limit;
	pthread_mutex_unlock(&t->lock);
	OTHERS(72);
	if (full)
		moved_room(t);
}

__attribute__((noinline)) static void blind_room(struct blind *t)
{
	LOCKED(t, t->limit = t->count * 2);
}

static void blind_add(struct blind *t, int key)
{
	bool full;

	LOCKED(t, t->key[t->count++] = key; full = t->count > t->limit);
	OTHERS(20);
	if (full)
		blind_room(t);
}

/* Looks, but at something else. */
__attribute__((noinline)) static void other_room(struct other *t)
{
	LOCKED(t, if (t->busy > 0) t->limit = t->count * 2);
}

static void other_add(struct other *t, int key)
{
	bool full;

	LOCKED(t, t->key[t->count++] = key; full = t->count > t->limit);
	OTHERS(24);
	if (full)
		other_room(t);
}

__attribute__((noinline)) static void given_room(struct given *t, int count)
{
	LOCKED(t, if (t->count > t->limit) t->limit = count * 2);
}

static void given_add(struct given *t, int key)
{
	int count, limit;

	LOCKED(t, t->key[t->count++] = key; count = t->count; limit = t->limit);
	OTHERS(28);
	if (count > limit)
		given_room(t, count);
}

/* What was seen before is written in the end. */
__attribute__((noinline)) static void kept_room(struct kept *t)
{
	LOCKED(t, if (t->count > t->limit) t->limit = t->count * 2);
}

static void kept_add(struct kept *t, int key)
{
	int count, limit;

	LOCKED(t, t->key[t->count++] = key; count = t->count; limit = t->limit);
	OTHERS(32);
	if (count > limit)
		kept_room(t);
	LOCKED(t, t->busy = count);
}

/* Called for a key that is not there, it looks whether there is room. */
__attribute__((noinline)) static void missing_room(struct missing *t)
{
	LOCKED(t, if (t->count < ROOM) t->key[t->count++] = 3);
}

static void missing_add(struct missing *t)
{
	bool found = false;

	pthread_mutex_lock(&t->lock);
	for (int i = 0; i < t->count; i++)
		if (t->key[i] == 3)
			found = true;
	pthread_mutex_unlock(&t->lock);
	OTHERS(36);
	if (!found)
		missing_room(t);
}

/* The same member, but another question. */
__attribute__((noinline)) static void empty_room(struct empty *t)
{
	LOCKED(t, if (t->count < ROOM) t->key[t->count++] = 3);
}

static void empty_add(struct empty *t)
{
	int count;

	LOCKED(t, count = t->count);
	OTHERS(40);
	if (count == 0)
		empty_room(t);
}

/* No hint: it is called in any case, as the second half of what is to be done. */
__attribute__((noinline)) static void always_room(struct always *t)
{
	LOCKED(t, if (t->count > t->limit) t->limit = t->count * 2);
}

static void always_add(struct always *t, int key)
{
	LOCKED(t, t->key[t->count++] = key);
	OTHERS(44);
	always_room(t);
}

/* Looks again at what decides about a part of what it does. */
__attribute__((noinline)) static void half_room(struct half *t)
{
	pthread_mutex_lock(&t->lock);
	t->busy = t->count;
	if (t->count > t->limit)
		t->limit = t->count * 2;
	pthread_mutex_unlock(&t->lock);
}

static void half_add(struct half *t, int key)
{
	bool full;

	LOCKED(t, t->key[t->count++] = key; full = t->count > t->limit);
	OTHERS(48);
	if (full)
		half_room(t);
}

/* Looks again, but what was seen first has been given away: by a pointer, as an answer, to another member, to
 * a function. */
#define DROPS(name)                                                       \
	__attribute__((noinline)) static void name##_drop(struct name *t) \
	{                                                                 \
		LOCKED(t, if (t->count > t->limit) t->count--);           \
	}

DROPS(taken)
DROPS(answered)
DROPS(copied)
DROPS(handled)

static void taken_add(struct taken *t, int *key)
{
	bool any;

	LOCKED(t, any = t->count > t->limit; if (any) *key = t->key[t->limit]);
	OTHERS(52);
	if (any)
		taken_drop(t);
}

static bool answered_add(struct answered *t)
{
	bool any;

	LOCKED(t, any = t->count > t->limit);
	OTHERS(56);
	if (!any)
		return false;
	answered_drop(t);
	return true;
}

static void copied_add(struct copied *t)
{
	bool any;

	LOCKED(t, any = t->count > t->limit; t->busy = t->key[t->limit]);
	OTHERS(60);
	if (any)
		copied_drop(t);
}

__attribute__((noinline)) void handle(int key)
{
	printf("%d", key);
}

static void handled_add(struct handled *t)
{
	bool any;
	int key = 0;

	LOCKED(t, any = t->count > t->limit; if (any) key = t->key[t->limit]);
	OTHERS(64);
	if (any) {
		handle(key);
		handled_drop(t);
	}
}

static void *one(void *unused)
{
	int key = 0;

	counted_add(&counted, 1);
	unlocked_add(&unlocked);
	asked_add(&asked);
	use(added_add(&added, 1));
	told_add(&told, 1);
	blind_add(&blind, 1);
	other_add(&other, 1);
	given_add(&given, 1);
	kept_add(&kept, 1);
	missing_add(&missing);
	empty_add(&empty);
	always_add(&always, 1);
	half_add(&half, 1);
	taken_add(&taken, &key);
	use(answered_add(&answered) + key);
	copied_add(&copied);
	handled_add(&handled);
	summed_add(&summed, 3, 1);
	moved_add(&moved, 1);
	return unused;
}

static void *another(void *unused)
{
	counted_put(&counted, 5);
	unlocked_put(&unlocked, 5);
	asked_put(&asked, 5);
	added_put(&added, 5);
	told_put(&told, 5);
	blind_put(&blind, 5);
	other_put(&other, 5);
	given_put(&given, 5);
	kept_put(&kept, 5);
	missing_put(&missing, 5);
	empty_put(&empty, 5);
	always_put(&always, 5);
	half_put(&half, 5);
	taken_put(&taken, 5);
	answered_put(&answered, 5);
	copied_put(&copied, 5);
	handled_put(&handled, 5);
	summed_put(&summed, 5);
	moved_put(&moved, 5);
	return unused;
}

int main(void)
{
	taken.count = answered.count = copied.count = handled.count = 1;
	TOGETHER(one, another);
	return counted.limit != 4 || unlocked.limit != 2 || asked.limit != 2 || added.limit != 4 ||
	       told.count != 1;
}
