/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * DoubleCheck, in MoTH's Table 1, after Artho, Havelund and Biere; a
 * reconstruction. A value is read in one critical section; after some
 * computation a second one reads it again, and writes only if it is unchanged;
 * otherwise the work begins anew.
 *
 * Why it looks wrong: the value is old when it enters the second critical
 * section. Why it is right: that is found out. MoTH has a false alarm here.
 *
 * Exit status 1 if an update is lost.
 *
 * usage: double_check
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { THREADS = 2, ROUNDS = 5 };

struct shared {
	pthread_mutex_t lock;
	int field;
};

static struct shared shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void advance(struct shared *s)
{
	int value;
	bool done;

	do {
		pthread_mutex_lock(&s->lock);
		value = s->field;
		pthread_mutex_unlock(&s->lock);
		MEET(THREADS);
		pthread_mutex_lock(&s->lock);
		done = s->field == value;
		if (done)
			s->field = value + 1;
		pthread_mutex_unlock(&s->lock);
	} while (!done);
}

static void *worker(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		advance(&shared);
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, worker, NULL))
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("expected %d, got %d\n", THREADS * ROUNDS, shared.field);
	return shared.field != THREADS * ROUNDS;
}
