/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A correct program that looks wrong: double-checked initialisation with an
 * atomic variable. (wrong/dcl has it without.)
 *
 * Why it looks wrong: the test outside the lock is repeated inside, and the
 * table is used without a lock. Why it is right: the atomic store comes last
 * and the atomic load first, so who sees the table as made sees all of it; and
 * it never changes again.
 *
 * Exit status 1 if a client gets a limit other than 42.
 *
 * usage: double_checked
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { CLIENTS = 8 };

struct table {
	atomic_bool made;
	int limit, step;
};

static struct table table;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int limit_of(struct table *t)
{
	if (!atomic_load_explicit(&t->made, memory_order_acquire)) {
		MEET(CLIENTS);
		pthread_mutex_lock(&lock);
		if (!atomic_load_explicit(&t->made, memory_order_relaxed)) {
			t->limit = 40;
			t->step = 2;
			atomic_store_explicit(&t->made, true, memory_order_release);
		}
		pthread_mutex_unlock(&lock);
	}
	return t->limit + t->step;
}

static void *client(void *limit)
{
	*(int *)limit = limit_of(&table);
	return NULL;
}

int main(void)
{
	pthread_t threads[CLIENTS];
	int limits[CLIENTS] = {0}, wrong = 0;

	for (int i = 0; i < CLIENTS; i++)
		if (pthread_create(&threads[i], NULL, client, &limits[i]))
			return 2;
	for (int i = 0; i < CLIENTS; i++) {
		pthread_join(threads[i], NULL);
		wrong += limits[i] != 42;
	}
	printf("%d clients used half a table\n", wrong);
	return wrong != 0;
}
