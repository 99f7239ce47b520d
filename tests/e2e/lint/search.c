/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loops over things with a lock each. A search that claims the first that fits
 * has seen that those before it did not, which may be old (MoTH's Elevator). To try
 * one thing again and again is no search, nor is it to claim all that fit, or to
 * hold one lock over all of it.
 *
 * expect: first_free stale-value slot.used
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { SLOTS = 8 };

struct slot {
	pthread_mutex_t lock;
	bool used;
};

struct table {
	pthread_mutex_t lock;
	bool used[SLOTS];
};

static struct slot slots[SLOTS], only = {PTHREAD_MUTEX_INITIALIZER, false};
static struct table table = {PTHREAD_MUTEX_INITIALIZER, {false}};

static bool claim(struct slot *slot)
{
	bool free;

	pthread_mutex_lock(&slot->lock);
	free = !slot->used;
	if (free)
		slot->used = true;
	pthread_mutex_unlock(&slot->lock);
	return free;
}

static void release(struct slot *slot)
{
	pthread_mutex_lock(&slot->lock);
	slot->used = false;
	pthread_mutex_unlock(&slot->lock);
}

static int first_free(void)
{
	for (int i = 0; i < SLOTS; i++)
		if (claim(&slots[i]))
			return i;
	return -1;
}

static void only_one(void)
{
	for (int i = 0; i < SLOTS; i++)
		if (claim(&only))
			return;
}

static int all_free(void)
{
	int sum = 0;

	for (int i = 0; i < SLOTS; i++)
		sum += claim(&slots[i]);
	return sum;
}

static int first_in_table(struct table *t)
{
	int found = -1;

	pthread_mutex_lock(&t->lock);
	for (int i = 0; i < SLOTS && found < 0; i++)
		if (!t->used[i]) {
			t->used[i] = true;
			found = i;
		}
	pthread_mutex_unlock(&t->lock);
	return found;
}

static void *worker(void *unused)
{
	int sum = first_free() + all_free();

	only_one();
	release(&slots[sum % SLOTS]);
	release(&only);
	first_in_table(&table);
	pthread_mutex_lock(&table.lock);
	table.used[0] = false;
	pthread_mutex_unlock(&table.lock);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < SLOTS; i++)
		pthread_mutex_init(&slots[i].lock, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
