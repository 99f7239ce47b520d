/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* `inside` is counted within one critical section, `across` is read in one and written in the next. */
#include <pthread.h>
#include <stdio.h>

enum { ROUNDS = 100 };

struct shared {
	pthread_mutex_t lock;
	long inside;
	long across;
};
static struct shared shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void count_inside(struct shared *s)
{
	pthread_mutex_lock(&s->lock);
	long seen = s->inside;
	s->inside = seen + 1;
	pthread_mutex_unlock(&s->lock);
}

static void count_across(struct shared *s)
{
	pthread_mutex_lock(&s->lock);
	long seen = s->across;
	pthread_mutex_unlock(&s->lock);
	pthread_mutex_lock(&s->lock);
	s->across = seen + 1;
	pthread_mutex_unlock(&s->lock);
}

static long look(struct shared *s)
{
	pthread_mutex_lock(&s->lock);
	long seen = s->across;
	pthread_mutex_unlock(&s->lock);
	return seen;
}

static void *other(void *argument)
{
	long sum = 0;

	for (int i = 0; i < ROUNDS; i++) {
		count_inside(argument);
		sum += look(argument);
	}
	return sum < 0 ? argument : NULL;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, other, &shared))
		return 2;
	for (int i = 0; i < ROUNDS; i++) {
		count_inside(&shared);
		count_across(&shared);
	}
	pthread_join(thread, NULL);
	printf("%ld %ld\n", shared.inside, shared.across);
	return shared.inside != 2 * ROUNDS || shared.across != ROUNDS;
}
