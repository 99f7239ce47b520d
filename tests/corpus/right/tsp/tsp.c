/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Tsp, in MoTH's Table 2, PENELOPE's Table 1 and von Praun and Gross; a small
 * reconstruction. Workers solve a travelling salesman's problem by branch and
 * bound, from a stack of partial tours.
 *
 * Why it looks wrong: a worker compares a tour with the shortest one so far
 * without the lock, and again under the lock before it stores; the stack's
 * lock is taken again by functions that are called under it; the stack is
 * filled before there are threads. Why it is right: the length is atomic and
 * only falls, so an old one costs nothing but work; the lock is a recursive
 * one.
 *
 * Exit status 1 if the tour found is not the shortest.
 *
 * usage: tsp [THREADS]
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { CITIES = 7, MOST = 4096, SPLIT = 3 };

struct tour {
	int count, length;
	int city[CITIES];
};

struct stack {
	pthread_mutex_t lock;
	int top, busy;
	struct tour tour[MOST];
};

struct shortest {
	pthread_mutex_t lock;
	atomic_int length;
	struct tour tour;
};

static struct stack stack = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};
static struct shortest shortest = {.lock = PTHREAD_MUTEX_INITIALIZER, .length = 100000};

static int distance(int a, int b)
{
	return a == b ? 0 : (a * 7 + b * 7 + a * b * 13) % 50 + 1;
}

static void push(struct stack *s, const struct tour *tour)
{
	pthread_mutex_lock(&s->lock);
	s->tour[s->top++] = *tour;
	pthread_mutex_unlock(&s->lock);
}

static bool contains(const struct tour *tour, int city)
{
	for (int i = 0; i < tour->count; i++)
		if (tour->city[i] == city)
			return true;
	return false;
}

static struct tour extend(const struct tour *tour, int city)
{
	struct tour longer = *tour;

	longer.length += distance(tour->city[tour->count - 1], city);
	longer.city[longer.count++] = city;
	return longer;
}

/* Replaces a short tour by those that are one city longer. */
static void split(struct stack *s, const struct tour *tour)
{
	struct tour longer;

	pthread_mutex_lock(&s->lock);
	for (int city = 1; city < CITIES; city++)
		if (!contains(tour, city)) {
			longer = extend(tour, city);
			push(s, &longer);
		}
	pthread_mutex_unlock(&s->lock);
}

/* A tour that is long enough to be worked on; false if there will be none. */
static bool get_tour(struct stack *s, struct tour *tour)
{
	bool found = false, over = false;

	while (!found && !over) {
		pthread_mutex_lock(&s->lock);
		if (s->top > 0) {
			*tour = s->tour[--s->top];
			found = tour->count >= SPLIT;
			if (!found)
				split(s, tour);
		} else {
			over = true;
		}
		pthread_mutex_unlock(&s->lock);
	}
	return found;
}

static void set_best(struct shortest *best, const struct tour *tour, int length)
{
	if (length >= best->length)
		return;
	pthread_mutex_lock(&best->lock);
	if (length < best->length) {
		best->tour = *tour;
		best->length = length;
	}
	pthread_mutex_unlock(&best->lock);
}

static void visit(const struct tour *tour)
{
	struct tour longer;

	if (tour->length >= shortest.length)
		return;
	if (tour->count == CITIES) {
		set_best(&shortest, tour, tour->length + distance(tour->city[CITIES - 1], 0));
		return;
	}
	for (int city = 1; city < CITIES; city++)
		if (!contains(tour, city)) {
			longer = extend(tour, city);
			visit(&longer);
		}
}

static void *worker(void *unused)
{
	struct tour tour;

	while (get_tour(&stack, &tour)) {
		visit(&tour);
		sched_yield(); /* there is so little to do that the first would do it all */
	}
	return unused;
}

/* The shortest length, by trying everything. */
static int try_all(const struct tour *tour)
{
	int best = 100000, length;
	struct tour longer;

	if (tour->count == CITIES)
		return tour->length + distance(tour->city[CITIES - 1], 0);
	for (int city = 1; city < CITIES; city++)
		if (!contains(tour, city)) {
			longer = extend(tour, city);
			length = try_all(&longer);
			best = length < best ? length : best;
		}
	return best;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 2;
	struct tour start = {.count = 1};
	pthread_t *threads = calloc(count, sizeof(*threads));
	int expected = try_all(&start);

	if (!threads)
		return 2;
	push(&stack, &start);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, worker, NULL))
			return 2;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("found %d, the shortest is %d\n", shortest.length, expected);
	free(threads);
	return shortest.length != expected;
}
