/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/dead_end.h"

/* Whether the thread comes further does not depend on anything but the other threads. */
static bool is_certain(const struct sched_report *report)
{
	switch ((enum sched_wait)report->lost_waits) {
	case SCHED_WAIT_NONE:
	case SCHED_WAIT_KERNEL:
	case SCHED_WAIT_REPEATING: /* who is given time may yet see the value change */
	case SCHED_WAIT_COUNT:
		return false;
	default:
		return true;
	}
}

/* The end of steps, whatever is counted: 0 stands for "as far as it gets", which no step says. */
static uint64_t key_of(uint64_t steps, const char *thread)
{
	return schedule_hash_step(steps, thread, 0) | 1;
}

void dead_end_note(struct dead_ends *d, const struct schedule *s, const struct sched_report *report)
{
	uint64_t hash = s->every, key, far = report->lost_thread ? report->lost_events : 0;
	uint64_t known;

	if (!report->diverged || !report->lost_step || report->lost_step > s->step_count ||
	    far >= UINT32_MAX - 1 || (report->lost_thread && !is_certain(report)))
		return;
	for (uint64_t i = 0; i + 1 < report->lost_step; i++)
		hash = schedule_hash_step(hash, s->steps[i].thread, s->steps[i].events);
	key = key_of(hash, s->steps[report->lost_step - 1].thread);
	known = map_get(&d->ends, key);
	if (!known || far + 1 < known)
		map_set(&d->ends, key, (uint32_t)far + 1);
}

bool dead_end_ahead(const struct dead_ends *d, const struct schedule *s)
{
	uint64_t hash = s->every;

	for (uint32_t i = 0; i < s->step_count; i++) {
		uint64_t end = map_get(&d->ends, key_of(hash, s->steps[i].thread));

		if (end && s->steps[i].events >= end)
			return true;
		hash = schedule_hash_step(hash, s->steps[i].thread, s->steps[i].events);
	}
	return false;
}

void dead_ends_release(struct dead_ends *d)
{
	map_release(&d->ends);
}
