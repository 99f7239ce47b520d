/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What cannot be followed (predict/dead_end.h), against the rule put down the slow way. */
#include "helper.h"
#include "predict/dead_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEDULES = 60, STEPS = 4, THREADS = 3, EVENTS = 4 };

struct lost {
	const struct schedule *schedule;
	uint32_t step; /* from 0 */
	uint64_t far;
};

static struct schedule *make(uint64_t *random)
{
	struct schedule *s = schedule_new();
	uint64_t count = 1 + helper_random(random) % STEPS, done[THREADS] = {0}, last = THREADS;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t t = helper_random(random) % THREADS;
		char name[8];

		if (t == last)
			t = (t + 1) % THREADS;
		last = t;
		done[t] += 1 + helper_random(random) % EVENTS;
		snprintf(name, sizeof name, "T%u", (unsigned)t);
		schedule_add(s, name, done[t], NULL);
	}
	s->every = helper_random(random) % 2;
	return s;
}

static bool comes_to(const struct schedule *s, const struct lost *l)
{
	if (s->every != l->schedule->every || s->step_count <= l->step)
		return false;
	for (uint32_t i = 0; i < l->step; i++)
		if (strcmp(s->steps[i].thread, l->schedule->steps[i].thread) ||
		    s->steps[i].events != l->schedule->steps[i].events)
			return false;
	return !strcmp(s->steps[l->step].thread, l->schedule->steps[l->step].thread) &&
	       s->steps[l->step].events > l->far;
}

static void as_it_was(void **state)
{
	uint64_t random = 11;
	uint32_t ahead = 0, free_way = 0;
	struct sched_report *report = mem_zalloc(1, sizeof *report);

	for (int round = 0; round < 200; round++) {
		struct schedule *all[SCHEDULES];
		struct lost lost[SCHEDULES];
		uint32_t count = 0;
		struct dead_ends d = {{0}};

		for (uint32_t i = 0; i < SCHEDULES; i++)
			all[i] = make(&random);
		for (uint32_t i = 0; i < SCHEDULES; i++) {
			bool expected = false;

			for (uint32_t k = 0; k < count; k++)
				expected |= comes_to(all[i], &lost[k]);
			assert_int_equal(dead_end_ahead(&d, all[i]), expected);
			ahead += expected;
			free_way += !expected;
			if (helper_random(&random) % 4)
				continue;
			uint32_t step = (uint32_t)(helper_random(&random) % all[i]->step_count);

			report->diverged = 1;
			report->lost_step = step + 1;
			report->lost_wanted = all[i]->steps[step].events;
			report->lost_events = helper_random(&random) % report->lost_wanted;
			report->lost_thread = helper_random(&random) % 4 != 0;
			/* What the kernel or time may change is nothing to go by. */
			report->lost_waits = (uint32_t[]){SCHED_WAIT_MUTEX, SCHED_WAIT_JOIN, SCHED_WAIT_ENDED,
							  SCHED_WAIT_KERNEL,
							  SCHED_WAIT_REPEATING}[helper_random(&random) % 5];
			dead_end_note(&d, all[i], report);
			if (!report->lost_thread)
				lost[count++] = (struct lost){all[i], step, 0};
			else if (report->lost_waits != SCHED_WAIT_KERNEL &&
				 report->lost_waits != SCHED_WAIT_REPEATING)
				lost[count++] = (struct lost){all[i], step, report->lost_events};
		}
		for (uint32_t i = 0; i < SCHEDULES; i++)
			schedule_free(all[i]);
		dead_ends_release(&d);
	}
	free(report);
	assert_true(ahead > 1000 && free_way > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(as_it_was)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
