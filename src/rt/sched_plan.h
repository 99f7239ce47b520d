/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A schedule, or hints, as the runtime keeps them; sched_plan.c reads them, sched_follow.c follows. */
#ifndef ATOMSAN_RT_SCHED_PLAN_H
#define ATOMSAN_RT_SCHED_PLAN_H

#include "rt/scheduler.h"

#pragma GCC visibility push(hidden)

/* Of a thread. */
struct sched_name {
	const char *text;
	uint32_t length;
	uint32_t thread; /* index + 1, once created */
	uint64_t weight;
};

struct sched_step {
	uint32_t name;
	uint64_t events;
};

extern struct sched_plan {
	struct sched_name *names; /* from 1 on */
	uint32_t name_count;
	struct sched_step *steps;
	uint64_t step_count, next;
	uint64_t *sites; /* a bit for each that strategies need not look at */
	uint64_t site_limit;
	uint64_t total;
	enum sched_mode lost; /* takes over where the schedule cannot be followed; SCHED_OFF: nothing does */
	uint32_t first;       /* name of who goes on whenever it can, after the last step; 0: nobody */
	bool has_sites;
	bool over;
} sched_plan;

#pragma GCC visibility pop

#endif
