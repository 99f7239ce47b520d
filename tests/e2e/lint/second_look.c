/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A room is asked for in one critical section, asked for again and taken in the
 * next, and entered in a third: what the third relies on is the second look, and
 * by then the room is the asker's. Who enters by the first look alone is wrong.
 *
 * expect: hasty stale-value room.guests
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct room {
	pthread_mutex_t lock;
	int guests;
	bool taken;
};

static struct room room = {PTHREAD_MUTEX_INITIALIZER, 0, false};

static bool looks_free(struct room *r)
{
	bool free;

	pthread_mutex_lock(&r->lock);
	free = !r->guests && !r->taken;
	pthread_mutex_unlock(&r->lock);
	return free;
}

static bool take(struct room *r)
{
	bool free;

	if (!looks_free(r))
		return false;
	pthread_mutex_lock(&r->lock);
	free = !r->guests && !r->taken;
	if (free)
		r->taken = true;
	pthread_mutex_unlock(&r->lock);
	return free;
}

static void enter(struct room *r)
{
	pthread_mutex_lock(&r->lock);
	r->guests++;
	pthread_mutex_unlock(&r->lock);
}

static void leave(struct room *r)
{
	pthread_mutex_lock(&r->lock);
	r->guests--;
	r->taken = false;
	pthread_mutex_unlock(&r->lock);
}

static void careful(struct room *r)
{
	if (take(r))
		enter(r);
}

static void hasty(struct room *r)
{
	if (looks_free(r))
		enter(r);
}

static void *guest(void *unused)
{
	careful(&room);
	hasty(&room);
	leave(&room);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, guest, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
