/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Irreducible flow and computed gotos around regions.
 * expect: wander stale-value place.at
 */
#include <pthread.h>

struct place {
	pthread_mutex_t lock;
	int at;
};

static struct place place = {PTHREAD_MUTEX_INITIALIZER, 0};

static int wander(struct place *p, int way)
{
	static void *const to[] = {&&first, &&second, &&out};
	int seen = 0;

	if (way > 3)
		goto second;
first:
	pthread_mutex_lock(&p->lock);
	seen = p->at;
	pthread_mutex_unlock(&p->lock);
	if (--way > 5)
		goto *to[way % 3];
second:
	pthread_mutex_lock(&p->lock);
	p->at = seen + way;
	pthread_mutex_unlock(&p->lock);
	if (--way > 0)
		goto first;
out:
	return seen;
}

static void *run(void *way)
{
	wander(&place, *(int *)way);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	int way = argc + (argv[0] != NULL);

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, run, &way);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
