/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Something is looked up under the table's lock, and used after it. Who is counted
 * as a user of it keeps it; who is not acts on what may be gone.
 * expect: close_found stale-value slot.*
 */
#include <pthread.h>
#include <stdlib.h>

enum { SLOTS = 8 };

struct thing {
	int users, closed;
};

struct slot {
	struct thing *thing;
	int used;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot slots[SLOTS];

static struct thing *find(int id)
{
	struct thing *thing = NULL;

	pthread_mutex_lock(&lock);
	if (slots[id].used)
		thing = slots[id].thing;
	pthread_mutex_unlock(&lock);
	return thing;
}

static struct thing *hold(int id)
{
	struct thing *thing = NULL;

	pthread_mutex_lock(&lock);
	if (slots[id].used) {
		thing = slots[id].thing;
		thing->users++;
	}
	pthread_mutex_unlock(&lock);
	return thing;
}

static void drop(int id, struct thing *thing)
{
	pthread_mutex_lock(&lock);
	if (--thing->users == 0 && thing->closed)
		slots[id].used = 0;
	pthread_mutex_unlock(&lock);
}

static void forget(int id)
{
	pthread_mutex_lock(&lock);
	slots[id].used = 0;
	pthread_mutex_unlock(&lock);
}

static void add(int id)
{
	struct thing *thing = calloc(1, sizeof(*thing));

	pthread_mutex_lock(&lock);
	slots[id].thing = thing;
	slots[id].used = 1;
	pthread_mutex_unlock(&lock);
}

static int close_held(int id)
{
	struct thing *thing = hold(id);

	if (!thing)
		return -1;
	drop(id, thing);
	return 0;
}

static int close_found(int id)
{
	struct thing *thing = find(id);

	if (!thing)
		return -1;
	forget(id);
	return 0;
}

static void *work(void *unused)
{
	add(1);
	close_held(1);
	close_found(1);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	work(NULL);
	pthread_join(thread, NULL);
	return 0;
}
