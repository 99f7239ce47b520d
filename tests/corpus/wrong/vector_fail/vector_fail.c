/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * VectorFail, which MoTH's author gives as an example of what his tool misses.
 * A pair is set in one critical section so that one half is twice the other;
 * which half is the greater one changes.
 *
 * What breaks: is_double reads the maximum in one critical section and the
 * minimum in another. Each of these reads either half, depending on a
 * condition, so that the two have the same variables, taken over all paths.
 *
 * How it shows: exit status 1 if the maximum is not twice the minimum.
 *
 * usage: vector_fail
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

#include "../../stage.h"

enum { ROUNDS = 10 };

struct pair {
	pthread_mutex_t lock;
	int first, second;
	bool first_is_greater;
};

static struct pair pair = {PTHREAD_MUTEX_INITIALIZER, 1, 2, false};

static void set_elements(struct pair *p, int value)
{
	pthread_mutex_lock(&p->lock);
	p->first = p->first_is_greater ? value : 2 * value;
	p->second = p->first_is_greater ? 2 * value : value;
	p->first_is_greater = !p->first_is_greater;
	pthread_mutex_unlock(&p->lock);
}

static int get_max(struct pair *p)
{
	int max;

	pthread_mutex_lock(&p->lock);
	max = p->first_is_greater ? p->first : p->second;
	pthread_mutex_unlock(&p->lock);
	return max;
}

static int get_min(struct pair *p)
{
	int min;

	pthread_mutex_lock(&p->lock);
	min = p->first_is_greater ? p->second : p->first;
	pthread_mutex_unlock(&p->lock);
	return min;
}

static bool is_double(struct pair *p)
{
	int max = get_max(p);

	STAGE(1);
	STAGE(4);
	return max == 2 * get_min(p);
}

static void *setter(void *unused)
{
	for (int i = 1; i <= ROUNDS; i++) {
		STAGE(2);
		set_elements(&pair, 10 * i);
		STAGE(3);
	}
	return unused;
}

static void *reader(void *wrong)
{
	for (int i = 0; i < ROUNDS; i++)
		*(int *)wrong += !is_double(&pair);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];
	int wrong = 0;

	if (pthread_create(&threads[0], NULL, setter, NULL) ||
	    pthread_create(&threads[1], NULL, reader, &wrong))
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%d pairs were not double\n", wrong);
	return wrong != 0;
}
