/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A condition is looked at under a read lock, and again under the write lock
 * before anything is changed. In `plain`, `both` and `limited` what was seen first
 * does not matter any more. All others carry something over, or do not ask again
 * for what decided.
 */
#include "stage.h"

/* A route, and another one who fills it in between stages `first` + 1 and `first` + 2. */
#define ROUTE(name, first)                                                     \
	struct name {                                                          \
		pthread_rwlock_t lock;                                         \
		int valid, open, fills, most;                                  \
		long value;                                                    \
	};                                                                     \
	static struct name name = {PTHREAD_RWLOCK_INITIALIZER, 0, 1, 0, 2, 0}; \
	__attribute__((noinline)) static void name##_fill(struct name *r)      \
	{                                                                      \
		STAGE(first + 1);                                              \
		pthread_rwlock_wrlock(&r->lock);                               \
		r->value += 2;                                                 \
		r->fills++;                                                    \
		r->valid = r->open;                                            \
		r->open = r->valid;                                            \
		pthread_rwlock_unlock(&r->lock);                               \
		STAGE(first + 2);                                              \
	}

/* Others may fill it in now. */
#define OTHERS(first)               \
	do {                        \
		STAGE(first);       \
		STAGE((first) + 3); \
	} while (0)

ROUTE(plain, 0)
ROUTE(both, 4)
ROUTE(limited, 8)
ROUTE(half, 12)
ROUTE(another, 16)
ROUTE(blind, 20)
ROUTE(kept, 24)
ROUTE(noted, 28)

/* ---- meant ---- */

static long plain_get(struct plain *r)
{
	long value;

	pthread_rwlock_rdlock(&r->lock);
	if (r->valid) {
		value = r->value;
		pthread_rwlock_unlock(&r->lock);
		return value;
	}
	pthread_rwlock_unlock(&r->lock);
	OTHERS(0);
	pthread_rwlock_wrlock(&r->lock);
	if (!r->valid) {
		r->value = 1;
		r->valid = 1;
	}
	value = r->value;
	pthread_rwlock_unlock(&r->lock);
	return value;
}

static void both_get(struct both *r)
{
	pthread_rwlock_rdlock(&r->lock);
	if (!r->open || r->valid) {
		pthread_rwlock_unlock(&r->lock);
		return;
	}
	pthread_rwlock_unlock(&r->lock);
	OTHERS(4);
	pthread_rwlock_wrlock(&r->lock);
	if (r->open && !r->valid) {
		r->value = 1;
		r->valid = 1;
	}
	pthread_rwlock_unlock(&r->lock);
}

static int limited_get(struct limited *r)
{
	pthread_rwlock_rdlock(&r->lock);
	if (r->fills >= r->most) {
		pthread_rwlock_unlock(&r->lock);
		return 0;
	}
	pthread_rwlock_unlock(&r->lock);
	OTHERS(8);
	pthread_rwlock_wrlock(&r->lock);
	if (r->fills < r->most) {
		r->value = 1;
		r->fills++;
	}
	pthread_rwlock_unlock(&r->lock);
	return 1;
}

/* ---- not meant ---- */

/* It may have been closed. */
static void half_get(struct half *r)
{
	pthread_rwlock_rdlock(&r->lock);
	if (!r->open || r->valid) {
		pthread_rwlock_unlock(&r->lock);
		return;
	}
	pthread_rwlock_unlock(&r->lock);
	OTHERS(12);
	pthread_rwlock_wrlock(&r->lock);
	if (!r->valid) {
		r->value = 1;
		r->valid = 1;
	}
	pthread_rwlock_unlock(&r->lock);
}

static void another_get(struct another *r)
{
	pthread_rwlock_rdlock(&r->lock);
	if (r->value > 0) {
		pthread_rwlock_unlock(&r->lock);
		return;
	}
	pthread_rwlock_unlock(&r->lock);
	OTHERS(16);
	pthread_rwlock_wrlock(&r->lock);
	if (r->value <= 9)
		r->value = 1;
	pthread_rwlock_unlock(&r->lock);
}

/* What it sees then makes no difference. */
static void blind_get(struct blind *r)
{
	int late = 0;

	pthread_rwlock_rdlock(&r->lock);
	if (r->valid) {
		pthread_rwlock_unlock(&r->lock);
		return;
	}
	pthread_rwlock_unlock(&r->lock);
	OTHERS(20);
	pthread_rwlock_wrlock(&r->lock);
	if (r->valid)
		late = 1;
	r->value = 1;
	r->valid = 1;
	pthread_rwlock_unlock(&r->lock);
	use(late);
}

static void kept_get(struct kept *r)
{
	long next;

	pthread_rwlock_rdlock(&r->lock);
	if (r->fills >= r->most) {
		pthread_rwlock_unlock(&r->lock);
		return;
	}
	next = r->value + 1;
	pthread_rwlock_unlock(&r->lock);
	OTHERS(24);
	pthread_rwlock_wrlock(&r->lock);
	if (r->fills < r->most)
		r->value = next;
	pthread_rwlock_unlock(&r->lock);
}

/* Others may have gone by what it noted. */
static void noted_get(struct noted *r)
{
	pthread_rwlock_wrlock(&r->lock);
	if (r->fills >= r->most) {
		pthread_rwlock_unlock(&r->lock);
		return;
	}
	r->value = 5;
	pthread_rwlock_unlock(&r->lock);
	OTHERS(28);
	pthread_rwlock_wrlock(&r->lock);
	if (r->fills < r->most)
		r->value = 1;
	pthread_rwlock_unlock(&r->lock);
}

static void *one(void *unused)
{
	use((int)plain_get(&plain));
	both_get(&both);
	use(limited_get(&limited));
	half_get(&half);
	another_get(&another);
	blind_get(&blind);
	kept_get(&kept);
	noted_get(&noted);
	return unused;
}

static void *other(void *unused)
{
	plain_fill(&plain);
	both_fill(&both);
	limited_fill(&limited);
	half_fill(&half);
	another_fill(&another);
	blind_fill(&blind);
	kept_fill(&kept);
	noted_fill(&noted);
	return unused;
}

int main(void)
{
	TOGETHER(one, other);
	return 0;
}
