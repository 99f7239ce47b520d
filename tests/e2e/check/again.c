/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A table is searched under a read lock, and again under the write lock before a
 * key is added: what the first search said is old by then, and is not used. In
 * `plain`, `wrapped`, `returned`, `numbered` and `within` this is so. All others carry something over that
 * somebody else may have changed meanwhile, or do not look again.
 */
#include "stage.h"

enum { ROOM = 8 };

/* A table, searching it, and another one who adds to it between stages `first` + 1 and `first` + 2. */
#define TABLE(name, first)                                                        \
	struct name {                                                             \
		pthread_rwlock_t lock;                                            \
		int count, misses;                                                \
		int key[ROOM], value[ROOM];                                       \
	};                                                                        \
	static struct name name = {.lock = PTHREAD_RWLOCK_INITIALIZER};           \
	static int name##_find(struct name *t, int key)                           \
	{                                                                         \
		for (int i = 0; i < t->count; i++)                                \
			if (t->key[i] == key)                                     \
				return i;                                         \
		return -1;                                                        \
	}                                                                         \
	__attribute__((noinline)) static void name##_put(struct name *t, int key) \
	{                                                                         \
		STAGE(first + 1);                                                 \
		pthread_rwlock_wrlock(&t->lock);                                  \
		t->key[t->count] = key;                                           \
		t->misses++;                                                      \
		t->value[t->count++] = key;                                       \
		pthread_rwlock_unlock(&t->lock);                                  \
		STAGE(first + 2);                                                 \
	}

/* Others may add now. */
#define OTHERS(first)               \
	do {                        \
		STAGE(first);       \
		STAGE((first) + 3); \
	} while (0)

TABLE(plain, 0)
TABLE(wrapped, 4)
TABLE(returned, 8)
TABLE(old, 12)
TABLE(other_key, 16)
TABLE(kept, 20)
TABLE(counted, 24)
TABLE(unasked, 28)
TABLE(unlocked, 32)
TABLE(numbered, 36)
TABLE(within, 40)
TABLE(handed, 44)
TABLE(late, 48)
TABLE(early, 52)

/* ---- meant ---- */

static int plain_get(struct plain *t, int key)
{
	int at, value = 0;

	pthread_rwlock_rdlock(&t->lock);
	at = plain_find(t, key);
	if (at >= 0)
		value = t->value[at];
	pthread_rwlock_unlock(&t->lock);
	if (at >= 0)
		return value;
	OTHERS(0);
	pthread_rwlock_wrlock(&t->lock);
	at = plain_find(t, key);
	if (at < 0) {
		at = t->count++;
		t->key[at] = key;
		t->value[at] = key * key;
	}
	value = t->value[at];
	pthread_rwlock_unlock(&t->lock);
	return value;
}

__attribute__((noinline)) static void wrapped_lock(struct wrapped *t)
{
	pthread_rwlock_wrlock(&t->lock);
}

__attribute__((noinline)) static void wrapped_unlock(struct wrapped *t)
{
	pthread_rwlock_unlock(&t->lock);
}

static void wrapped_add(struct wrapped *t, int key, int value)
{
	wrapped_lock(t);
	if (wrapped_find(t, key) >= 0) {
		wrapped_unlock(t);
		return;
	}
	wrapped_unlock(t);
	OTHERS(4);
	wrapped_lock(t);
	if (wrapped_find(t, key) < 0) {
		t->key[t->count] = key;
		t->value[t->count++] = value + 1;
	}
	wrapped_unlock(t);
}

static int returned_get(struct returned *t, int key)
{
	pthread_rwlock_rdlock(&t->lock);
	int first = returned_find(t, key);
	pthread_rwlock_unlock(&t->lock);
	if (first >= 0)
		return first;
	OTHERS(8);
	pthread_rwlock_wrlock(&t->lock);
	int second = returned_find(t, key);
	if (second < 0) {
		second = t->count++;
		t->key[second] = key;
	}
	pthread_rwlock_unlock(&t->lock);
	return second;
}

/* Nobody goes by how many misses there were. */
static void numbered_add(struct numbered *t, int key)
{
	pthread_rwlock_wrlock(&t->lock);
	int at = numbered_find(t, key);
	t->misses++;
	pthread_rwlock_unlock(&t->lock);
	if (at >= 0)
		return;
	OTHERS(36);
	pthread_rwlock_wrlock(&t->lock);
	at = numbered_find(t, key);
	if (at < 0)
		t->key[t->count++] = key;
	pthread_rwlock_unlock(&t->lock);
}

static int square(int n)
{
	return n * n;
}

/* It searches before it adds anything, whoever calls it. */
__attribute__((noinline)) static void within_set(struct within *t, int key, int value)
{
	pthread_rwlock_wrlock(&t->lock);
	int at = within_find(t, key);
	if (at < 0) {
		at = t->count++;
		t->key[at] = key;
	}
	t->value[at] = value;
	pthread_rwlock_unlock(&t->lock);
}

static int within_add(struct within *t, int key)
{
	int at, value;

	pthread_rwlock_rdlock(&t->lock);
	at = within_find(t, key);
	if (at >= 0) {
		value = t->value[at];
		pthread_rwlock_unlock(&t->lock);
		return value;
	}
	pthread_rwlock_unlock(&t->lock);
	OTHERS(40);
	value = square(key);
	within_set(t, key, value);
	return value;
}

/* ---- not meant ---- */

/* What it hands on is what it saw. */
__attribute__((noinline)) static void handed_set(struct handed *t, int key, int value)
{
	pthread_rwlock_wrlock(&t->lock);
	if (handed_find(t, key) < 0) {
		t->key[t->count] = key;
		t->value[t->count++] = value;
	}
	pthread_rwlock_unlock(&t->lock);
}

static void handed_add(struct handed *t, int key)
{
	int at, end;

	pthread_rwlock_rdlock(&t->lock);
	at = handed_find(t, key);
	end = t->count;
	pthread_rwlock_unlock(&t->lock);
	if (at >= 0)
		return;
	OTHERS(44);
	handed_set(t, key, end);
}

/* It has added the key when it searches. */
__attribute__((noinline)) static void late_set(struct late *t, int key)
{
	pthread_rwlock_wrlock(&t->lock);
	t->key[t->count++] = key;
	if (late_find(t, key) < 0)
		t->value[0] = key;
	pthread_rwlock_unlock(&t->lock);
}

static void late_add(struct late *t, int key)
{
	pthread_rwlock_rdlock(&t->lock);
	int at = late_find(t, key);
	pthread_rwlock_unlock(&t->lock);
	if (at >= 0)
		return;
	OTHERS(48);
	late_set(t, key);
}

/* Where it will write it looks up before it has the lock. */
__attribute__((noinline)) static void early_set(struct early *t, int key)
{
	int end = t->count;

	pthread_rwlock_wrlock(&t->lock);
	if (early_find(t, key) < 0) {
		t->key[end] = key;
		t->count = end + 1;
	}
	pthread_rwlock_unlock(&t->lock);
}

static void early_add(struct early *t, int key)
{
	pthread_rwlock_rdlock(&t->lock);
	int at = early_find(t, key);
	pthread_rwlock_unlock(&t->lock);
	if (at >= 0)
		return;
	OTHERS(52);
	early_set(t, key);
}

/* Where there was room is where it writes. */
static void old_add(struct old *t, int key)
{
	pthread_rwlock_rdlock(&t->lock);
	int at = old_find(t, key), end = t->count;
	pthread_rwlock_unlock(&t->lock);
	if (at >= 0)
		return;
	OTHERS(12);
	pthread_rwlock_wrlock(&t->lock);
	at = old_find(t, key);
	if (at < 0) {
		t->key[end] = key;
		t->count = end + 1;
	}
	pthread_rwlock_unlock(&t->lock);
}

static void other_key_add(struct other_key *t, int key)
{
	pthread_rwlock_rdlock(&t->lock);
	int at = other_key_find(t, key);
	pthread_rwlock_unlock(&t->lock);
	if (at >= 0)
		return;
	OTHERS(16);
	pthread_rwlock_wrlock(&t->lock);
	at = other_key_find(t, 0);
	if (at < 0)
		t->key[t->count++] = key;
	pthread_rwlock_unlock(&t->lock);
}

/* The first answer is given in the end. */
static int kept_add(struct kept *t, int key)
{
	pthread_rwlock_rdlock(&t->lock);
	int first = kept_find(t, key), second;
	pthread_rwlock_unlock(&t->lock);
	OTHERS(20);
	pthread_rwlock_wrlock(&t->lock);
	second = kept_find(t, key);
	if (second < 0)
		t->key[t->count++] = key;
	pthread_rwlock_unlock(&t->lock);
	return first;
}

/* Whether it adds the key depends on how many have missed one. */
static void counted_add(struct counted *t, int key)
{
	pthread_rwlock_wrlock(&t->lock);
	int at = counted_find(t, key);
	t->misses++;
	pthread_rwlock_unlock(&t->lock);
	if (at >= 0)
		return;
	OTHERS(24);
	pthread_rwlock_wrlock(&t->lock);
	at = counted_find(t, key);
	if (at < 0 && t->misses < 100)
		t->key[t->count++] = key;
	pthread_rwlock_unlock(&t->lock);
}

static int unasked_add(struct unasked *t, int key)
{
	int at;

	pthread_rwlock_rdlock(&t->lock);
	at = unasked_find(t, key);
	pthread_rwlock_unlock(&t->lock);
	if (at >= 0)
		return at;
	OTHERS(28);
	pthread_rwlock_wrlock(&t->lock);
	at = unasked_find(t, key);
	t->key[t->count++] = key;
	pthread_rwlock_unlock(&t->lock);
	return at;
}

/* The second search is not the only one that leads to where it writes. */
static void unlocked_add(struct unlocked *t, int key, int sure)
{
	pthread_rwlock_rdlock(&t->lock);
	int at = unlocked_find(t, key);
	pthread_rwlock_unlock(&t->lock);
	if (at >= 0)
		return;
	OTHERS(32);
	pthread_rwlock_wrlock(&t->lock);
	if (!sure)
		at = unlocked_find(t, key);
	if (at < 0)
		t->key[t->count++] = key;
	pthread_rwlock_unlock(&t->lock);
}

static void *one(void *unused)
{
	use(plain_get(&plain, 3));
	wrapped_add(&wrapped, 3, 4);
	use(returned_get(&returned, 3));
	old_add(&old, 3);
	other_key_add(&other_key, 3);
	use(kept_add(&kept, 3));
	counted_add(&counted, 3);
	use(unasked_add(&unasked, 3));
	unlocked_add(&unlocked, 3, 1);
	numbered_add(&numbered, 3);
	use(within_add(&within, 3));
	handed_add(&handed, 3);
	late_add(&late, 3);
	early_add(&early, 3);
	return unused;
}

static void *other(void *unused)
{
	plain_put(&plain, 5);
	wrapped_put(&wrapped, 5);
	returned_put(&returned, 5);
	old_put(&old, 5);
	other_key_put(&other_key, 5);
	kept_put(&kept, 5);
	counted_put(&counted, 5);
	unasked_put(&unasked, 5);
	unlocked_put(&unlocked, 5);
	numbered_put(&numbered, 5);
	within_put(&within, 5);
	handed_put(&handed, 5);
	late_put(&late, 5);
	early_put(&early, 5);
	return unused;
}

int main(void)
{
	TOGETHER(one, other);
	return plain.count != 2 || wrapped.count != 2 || returned.count != 2 || numbered.count != 2 ||
	       within.count != 2;
}
