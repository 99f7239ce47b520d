/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Shortening schedules, against a model: threads that never wait, a scheduler
 * that follows steps and then runs whoever runs, and a bug that needs events of
 * different threads in an order. What comes out must fail, must be what the
 * model really does, and no step of it may be left out; and where every shorter
 * schedule can be tried, there is none much shorter.
 */
#include "helper.h"

#include "predict/minimise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, EVENTS = 6, ORDERS = 3 };

/* The bug: event `after` of one thread comes after event `before` of another and before its next one. */
struct model {
	struct {
		int thread, event, other, other_event;
	} orders[ORDERS];
	int order_count;
	uint32_t runs;
};

/* Positions of all events in the run that a schedule gives; and its turns. */
static void run(const struct schedule *s, int position[THREADS][EVENTS + 2], struct schedule *actual)
{
	int done[THREADS] = {0}, now = 0, thread = 0;

	for (uint32_t i = 0; i < s->step_count; i++) {
		int t = atoi(s->steps[i].thread + 1);

		if (done[t] < (int)s->steps[i].events && done[t] < EVENTS)
			thread = t;
		while (done[t] < (int)s->steps[i].events && done[t] < EVENTS)
			position[t][++done[t]] = ++now;
		if (actual && done[t])
			schedule_add(actual, s->steps[i].thread, (uint64_t)done[t], NULL);
	}
	for (int k = 0; k < THREADS; k++) {
		int t = (thread + k) % THREADS;
		char name[16];

		while (done[t] < EVENTS)
			position[t][++done[t]] = ++now;
		snprintf(name, sizeof name, "T%d", t);
		if (actual)
			schedule_add(actual, name, (uint64_t)done[t], NULL);
	}
}

static bool is_bad(const struct model *m, const struct schedule *s, struct schedule *actual)
{
	int position[THREADS][EVENTS + 2] = {{0}};

	run(s, position, actual);
	for (int i = 0; i < m->order_count; i++) {
		int t = m->orders[i].thread, e = m->orders[i].event;
		int there = position[m->orders[i].other][m->orders[i].other_event];

		if (there < position[t][e] || there > position[t][e + 1])
			return false;
	}
	return true;
}

static bool fails(void *context, const struct schedule *candidate, struct schedule *actual)
{
	struct model *m = context;

	m->runs++;
	return is_bad(m, candidate, actual);
}

static struct schedule *random_schedule(uint64_t *random)
{
	struct schedule *s = schedule_new();
	int done[THREADS] = {0};

	for (int i = 0; i < THREADS * EVENTS; i++) {
		int t = (int)(helper_random(random) % THREADS);
		char name[16];

		if (done[t] == EVENTS)
			continue;
		snprintf(name, sizeof name, "T%d", t);
		schedule_add(s, name, (uint64_t)++done[t], NULL);
	}
	return s;
}

/* Is there a schedule of at most so many steps that fails? */
static bool shorter_exists(const struct model *m, struct schedule *s, uint32_t left)
{
	if (is_bad(m, s, NULL))
		return true;
	for (int t = 0; left && t < THREADS; t++)
		for (uint64_t e = 1; e <= EVENTS; e++) {
			struct schedule *longer;
			char name[16];
			bool found;

			snprintf(name, sizeof name, "T%d", t);
			if (s->step_count && !strcmp(s->steps[s->step_count - 1].thread, name))
				continue;
			longer = schedule_copy(s);
			schedule_add(longer, name, e, NULL);
			found = shorter_exists(m, longer, left - 1);
			schedule_free(longer);
			if (found)
				return true;
		}
	return false;
}

static void against_model(void **state)
{
	uint64_t random = 7;
	int tried = 0, shortest = 0;

	while (tried < 300) {
		struct model m = {.order_count = 1 + (int)(helper_random(&random) % ORDERS)};
		struct schedule *s = random_schedule(&random), *best, *none = schedule_new();
		uint32_t used;

		for (int i = 0; i < m.order_count; i++) {
			m.orders[i].thread = (int)(helper_random(&random) % THREADS);
			m.orders[i].event = 1 + (int)(helper_random(&random) % (EVENTS - 1));
			m.orders[i].other =
				(m.orders[i].thread + 1 + (int)(helper_random(&random) % (THREADS - 1))) %
				THREADS;
			m.orders[i].other_event = 1 + (int)(helper_random(&random) % EVENTS);
		}
		if (!is_bad(&m, s, NULL) || is_bad(&m, none, NULL)) {
			schedule_free(s);
			schedule_free(none);
			continue;
		}
		tried++;
		best = minimise(s, fails, &m, 1000, &used);
		assert_int_equal(used, m.runs);
		assert_true(is_bad(&m, best, NULL));
		assert_true(best->step_count <= s->step_count);
		for (uint32_t i = 0; i < best->step_count; i++) {
			struct schedule *less = schedule_copy(best);

			schedule_clear(less);
			for (uint32_t k = 0; k < i; k++)
				schedule_add(less, best->steps[k].thread, best->steps[k].events, NULL);
			/* No beginning of it is enough. */
			assert_false(is_bad(&m, less, NULL));
			schedule_free(less);
		}
		shortest += best->step_count <= 2 ||
			    !shorter_exists(&m, none, best->step_count < 4 ? best->step_count - 1 : 2);
		schedule_free(best);
		schedule_free(s);
		schedule_free(none);
	}
	/* Delta debugging finds a minimum that is local; nearly always it is the shortest there is. */
	assert_true(shortest >= 270);
}

/* With few runs to spend it stops in time, with something that fails. */
static void few_runs(void **state)
{
	uint64_t random = 3;
	struct model m = {.order_count = 1, .orders = {{0, 2, 1, 3}}};

	for (uint32_t runs = 0; runs < 20; runs++) {
		struct schedule *s, *best;
		uint32_t used;

		do
			s = random_schedule(&random);
		while (!is_bad(&m, s, NULL) && (schedule_free(s), 1));
		best = minimise(s, fails, &m, runs, &used);
		assert_true(is_bad(&m, best, NULL));
		assert_true(used <= runs + 17);
		schedule_free(best);
		schedule_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(against_model), cmocka_unit_test(few_runs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
