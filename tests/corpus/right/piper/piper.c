/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The correct twin of wrong/piper: a thread that was woken up looks again.
 *
 * Exit status 1 if someone did not leave the plane once.
 *
 * usage: piper [PAIRS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEATS = 2 };

struct plane {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int count, first, last;
	int seat[SEATS];
};

static struct plane plane = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void fill(struct plane *p, int passenger)
{
	pthread_mutex_lock(&p->lock);
	while (p->count == SEATS)
		pthread_cond_wait(&p->changed, &p->lock);
	p->seat[p->last] = passenger;
	p->last = (p->last + 1) % SEATS;
	p->count++;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

static int empty(struct plane *p)
{
	int passenger;

	pthread_mutex_lock(&p->lock);
	while (p->count == 0)
		pthread_cond_wait(&p->changed, &p->lock);
	passenger = p->seat[p->first];
	p->first = (p->first + 1) % SEATS;
	p->count--;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	return passenger;
}

static void *boarding(void *passenger)
{
	fill(&plane, *(int *)passenger);
	return NULL;
}

static void *leaving(void *passenger)
{
	*(int *)passenger = empty(&plane);
	return NULL;
}

int main(int argc, char **argv)
{
	int pairs = argc > 1 ? atoi(argv[1]) : 20;
	pthread_t *threads = calloc(2 * pairs, sizeof(*threads));
	int *in = calloc(pairs, sizeof(*in)), *out = calloc(pairs, sizeof(*out)),
	    *seen = calloc(pairs, sizeof(*seen));
	int wrong = 0;

	if (!threads || !in || !out || !seen)
		return 2;
	for (int i = 0; i < pairs; i++) {
		in[i] = i;
		if (pthread_create(&threads[2 * i], NULL, boarding, &in[i]) ||
		    pthread_create(&threads[2 * i + 1], NULL, leaving, &out[i]))
			return 2;
	}
	for (int i = 0; i < 2 * pairs; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < pairs; i++)
		seen[out[i]]++;
	for (int i = 0; i < pairs; i++)
		wrong += seen[i] != 1;
	printf("%d of %d passengers did not leave once\n", wrong, pairs);
	free(seen);
	free(out);
	free(in);
	free(threads);
	return wrong != 0;
}
