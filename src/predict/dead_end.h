/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where schedules could not be followed, so that nobody tries the same in vain
 * again. Under one schedule a program does the same every time. So if, after some
 * steps, a thread could not come beyond its n-th event, then it cannot under any
 * schedule that begins with these steps and then wants more of it than n.
 */
#ifndef ATOMSAN_PREDICT_DEAD_END_H
#define ATOMSAN_PREDICT_DEAD_END_H

#include "abi/sched.h"
#include "base/map.h"
#include "predict/schedule.h"

struct dead_ends {
	struct map ends; /* steps and the thread that was to go on: how far it came, plus one */
};

/* The schedule was not followed, as the report says. */
void dead_end_note(struct dead_ends *d, const struct schedule *schedule, const struct sched_report *report);
/* Would the schedule come to where another could not be followed? */
bool dead_end_ahead(const struct dead_ends *d, const struct schedule *schedule);
void dead_ends_release(struct dead_ends *d);

#endif
