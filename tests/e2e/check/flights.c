/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who counts itself in, works without the lock, and counts itself out: requests in
 * flight with a limit, and references. Others come in between and are meant to. In
 * `checked`, `reset`, `kept` and `twice` they must not: the limit is looked at in a
 * critical section of its own, the number is set to what it was, something that was
 * read first is used at last, and nothing is counted back.
 */
#include "stage.h"

#define SERVER(name)                         \
	struct name {                        \
		pthread_mutex_t lock;        \
		int in_flight, most;         \
		long served, rejected, load; \
	};                                   \
	static struct name name = {PTHREAD_MUTEX_INITIALIZER, 0, 3, 0, 0, 0}

SERVER(plain);
SERVER(late);
SERVER(held);
SERVER(checked);
SERVER(reset);
SERVER(kept);
SERVER(twice);

/* Another one comes between stages `first` + 1 and `first` + 2. */
#define OTHERS(first)               \
	do {                        \
		STAGE(first);       \
		STAGE((first) + 3); \
	} while (0)
#define BETWEEN(first, call)        \
	do {                        \
		STAGE((first) + 1); \
		call;               \
		STAGE((first) + 2); \
	} while (0)

/* ---- meant ---- */

__attribute__((noinline)) static int plain_handle(struct plain *s, int first)
{
	pthread_mutex_lock(&s->lock);
	if (s->in_flight >= s->most) {
		s->rejected++;
		pthread_mutex_unlock(&s->lock);
		return -1;
	}
	s->in_flight++;
	pthread_mutex_unlock(&s->lock);
	if (first)
		OTHERS(0);
	pthread_mutex_lock(&s->lock);
	s->in_flight--;
	s->served++;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/* The other number first. */
__attribute__((noinline)) static void late_handle(struct late *s, int first)
{
	pthread_mutex_lock(&s->lock);
	s->in_flight++;
	pthread_mutex_unlock(&s->lock);
	if (first)
		OTHERS(4);
	pthread_mutex_lock(&s->lock);
	s->served++;
	s->in_flight--;
	pthread_mutex_unlock(&s->lock);
}

static void held_get(struct held *s)
{
	pthread_mutex_lock(&s->lock);
	s->in_flight++;
	pthread_mutex_unlock(&s->lock);
}

static int held_put(struct held *s)
{
	int last;

	pthread_mutex_lock(&s->lock);
	last = --s->in_flight == 0;
	pthread_mutex_unlock(&s->lock);
	return last;
}

__attribute__((noinline)) static int held_handle(struct held *s, int first)
{
	held_get(s);
	if (first)
		OTHERS(8);
	return held_put(s);
}

/* ---- not meant ---- */

__attribute__((noinline)) static int checked_handle(struct checked *s, int first)
{
	int room;

	pthread_mutex_lock(&s->lock);
	room = s->in_flight < s->most;
	pthread_mutex_unlock(&s->lock);
	if (first)
		OTHERS(12);
	if (!room)
		return -1;
	pthread_mutex_lock(&s->lock);
	s->in_flight++;
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_lock(&s->lock);
	s->in_flight--;
	s->served++;
	pthread_mutex_unlock(&s->lock);
	return 0;
}

__attribute__((noinline)) static void reset_handle(struct reset *s, int first)
{
	int before;

	pthread_mutex_lock(&s->lock);
	before = s->in_flight++;
	pthread_mutex_unlock(&s->lock);
	if (first)
		OTHERS(16);
	pthread_mutex_lock(&s->lock);
	s->in_flight = before;
	pthread_mutex_unlock(&s->lock);
}

__attribute__((noinline)) static void kept_handle(struct kept *s, int first)
{
	long load;

	pthread_mutex_lock(&s->lock);
	s->in_flight++;
	load = s->load;
	pthread_mutex_unlock(&s->lock);
	if (first)
		OTHERS(20);
	pthread_mutex_lock(&s->lock);
	s->in_flight--;
	s->load = load + 3;
	pthread_mutex_unlock(&s->lock);
}

__attribute__((noinline)) static void twice_handle(struct twice *s, int first)
{
	pthread_mutex_lock(&s->lock);
	s->served++;
	pthread_mutex_unlock(&s->lock);
	if (first)
		OTHERS(24);
	pthread_mutex_lock(&s->lock);
	s->served++;
	pthread_mutex_unlock(&s->lock);
}

static void *one(void *unused)
{
	use(plain_handle(&plain, 1));
	late_handle(&late, 1);
	use(held_handle(&held, 1));
	use(checked_handle(&checked, 1));
	reset_handle(&reset, 1);
	kept_handle(&kept, 1);
	twice_handle(&twice, 1);
	return unused;
}

static void *other(void *unused)
{
	BETWEEN(0, use(plain_handle(&plain, 0)));
	BETWEEN(4, late_handle(&late, 0));
	BETWEEN(8, use(held_handle(&held, 0)));
	BETWEEN(12, use(checked_handle(&checked, 0)));
	BETWEEN(16, reset_handle(&reset, 0));
	BETWEEN(20, kept_handle(&kept, 0));
	BETWEEN(24, twice_handle(&twice, 0));
	return unused;
}

int main(void)
{
	TOGETHER(one, other);
	return 0;
}
