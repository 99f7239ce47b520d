/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A section that is none: in the middle of it a thread waits for the other one,
 * in a way that healing cannot see, and the other one comes to the section's
 * gate first. Each round costs a wait, until it has been in vain too often.
 *
 * usage: vain ROUNDS
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static struct shared {
	pthread_mutex_t lock;
	long value;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_long asked, answered;

static void unit(struct shared *s, long round)
{
	pthread_mutex_lock(&s->lock);
	s->value++; /* entry */
	pthread_mutex_unlock(&s->lock);
	atomic_store(&asked, round);
	while (atomic_load(&answered) != round)
		sched_yield();
	pthread_mutex_lock(&s->lock);
	s->value++; /* end */
	pthread_mutex_unlock(&s->lock);
}

static void *answers(void *rounds)
{
	for (long round = 1; round <= *(long *)rounds; round++) {
		while (atomic_load(&asked) != round)
			sched_yield();
		pthread_mutex_lock(&shared.lock);
		shared.value++;
		pthread_mutex_unlock(&shared.lock);
		atomic_store(&answered, round);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, answers, &rounds))
		return 2;
	for (long round = 1; round <= rounds; round++)
		unit(&shared, round);
	pthread_join(thread, NULL);
	printf("%ld of %ld\n", shared.value, 3 * rounds);
	return shared.value != 3 * rounds;
}
