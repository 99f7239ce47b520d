/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Three units, each two of which share one variable: u1 writes x and reads z,
 * u2 reads x and writes y, u3 reads y and writes z (after Wang and Stoller). No
 * two of them can break each other, all three can: x, y, z hand on what u1 wrote
 * until it comes back to u1 itself.
 */
#include <pthread.h>

struct state {
	pthread_mutex_t lock;
	int x, y, z;
};

static struct state state = {PTHREAD_MUTEX_INITIALIZER, 0, 0, 0};
static int came_back;

static void put(struct state *s, int *to, int value)
{
	pthread_mutex_lock(&s->lock);
	*to = value;
	pthread_mutex_unlock(&s->lock);
}

static int get(struct state *s, int *from)
{
	pthread_mutex_lock(&s->lock);
	int value = *from;
	pthread_mutex_unlock(&s->lock);
	return value;
}

static void u1(struct state *s)
{
	put(s, &s->x, 1);
	came_back = get(s, &s->z);
}

static void u2(struct state *s)
{
	put(s, &s->y, get(s, &s->x));
}

static void u3(struct state *s)
{
	put(s, &s->z, get(s, &s->y));
}

static void *one(void *unused)
{
	u1(&state);
	return unused;
}

static void *two(void *unused)
{
	u2(&state);
	return unused;
}

static void *three(void *unused)
{
	u3(&state);
	return unused;
}

int main(void)
{
	void *(*const work[3])(void *) = {one, two, three};
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, work[i], NULL))
			return 2;
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return came_back;
}
