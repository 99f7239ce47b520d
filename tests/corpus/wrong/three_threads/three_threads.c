/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Marathon's Fig. 2 and 3, after Wang and Stoller; the bodies are a
 * reconstruction. Three threads, three variables of one struct, and every
 * access under the lock.
 *
 * What breaks: first before second on x, second before third on y, third
 * before first on z: a cycle of three units, which no two of them show.
 *
 * How it shows: z must not be set when first looks at it, unless x was not set
 * when second looked; exit status 1 if the three have seen what no order of
 * theirs explains.
 *
 * usage: three_threads
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

struct state {
	pthread_mutex_t lock;
	bool x, y, z;
};

static struct state state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void set(struct state *s, bool *flag)
{
	pthread_mutex_lock(&s->lock);
	*flag = true;
	pthread_mutex_unlock(&s->lock);
}

static bool get(struct state *s, bool *flag)
{
	bool value;

	pthread_mutex_lock(&s->lock);
	value = *flag;
	pthread_mutex_unlock(&s->lock);
	return value;
}

static bool first(struct state *s)
{
	bool z;

	set(s, &s->x);
	STAGE(1);
	STAGE(6);
	z = get(s, &s->z);
	return z;
}

static bool second(struct state *s)
{
	bool x;

	STAGE(2);
	x = get(s, &s->x);
	set(s, &s->y);
	STAGE(3);
	return x;
}

static bool third(struct state *s)
{
	bool y;

	STAGE(4);
	y = get(s, &s->y);
	set(s, &s->z);
	STAGE(5);
	return y;
}

static void *first_thread(void *z)
{
	*(bool *)z = first(&state);
	return NULL;
}

static void *second_thread(void *x)
{
	*(bool *)x = second(&state);
	return NULL;
}

static void *third_thread(void *y)
{
	*(bool *)y = third(&state);
	return NULL;
}

int main(void)
{
	pthread_t threads[3];
	bool x, y, z;

	if (pthread_create(&threads[0], NULL, first_thread, &z) ||
	    pthread_create(&threads[1], NULL, second_thread, &x) ||
	    pthread_create(&threads[2], NULL, third_thread, &y))
		return 2;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("seen: x %d, y %d, z %d\n", x, y, z);
	/* second after first, third after second, first after third */
	return x && y && z;
}
