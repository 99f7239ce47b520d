/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How far a schedule strays from the run that it was predicted from before it comes to
 * the pattern: how many reads find what another write left than in that run. A
 * program may go another way from there on, and the pattern may never come up. A schedule
 * without any such read is feasible for certain, as far as the trace knows
 * what threads tell each other.
 */
#ifndef ATOMSAN_PREDICT_STRAY_H
#define ATOMSAN_PREDICT_STRAY_H

#include "predict/machine.h"

struct synth_schedule;

struct stray {
	const struct history *history;
	const struct machine_index *index;
	uint32_t *source; /* by event: the write that it read in the run, plus one; 0: none before it */
	uint32_t *latest; /* by variable: the last write, plus one */
	uint32_t *next;   /* by thread: position in index->events */
};

void stray_init(struct stray *s, const struct history *history, const struct machine_index *index);
void stray_release(struct stray *s);

uint32_t stray_count(struct stray *s, const struct synth_schedule *schedule);

#endif
