/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/three_threads: each of the three holds the lock
 * from beginning to end.
 *
 * Exit status 1 if the three have seen what no order of theirs explains.
 *
 * usage: three_threads
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

struct state {
	pthread_mutex_t lock;
	bool x, y, z;
};

static struct state state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool first(struct state *s)
{
	bool z;

	pthread_mutex_lock(&s->lock);
	s->x = true;
	z = s->z;
	pthread_mutex_unlock(&s->lock);
	return z;
}

static bool second(struct state *s)
{
	bool x;

	pthread_mutex_lock(&s->lock);
	x = s->x;
	s->y = true;
	pthread_mutex_unlock(&s->lock);
	return x;
}

static bool third(struct state *s)
{
	bool y;

	pthread_mutex_lock(&s->lock);
	y = s->y;
	s->z = true;
	pthread_mutex_unlock(&s->lock);
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
