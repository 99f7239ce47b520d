/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The shortest schedule that still fails, by delta debugging over its steps
 * (Zeller and Hildebrandt, TSE 2002). Leaving a step out lets the threads before
 * and after it run on as if that context switch had not been; since every list
 * of steps is followed as far as it can be, each is a run of its own. What the
 * run really did then takes the list's place, so that what is left in the end
 * can be followed exactly.
 */
#ifndef ATOMSAN_PREDICT_MINIMISE_H
#define ATOMSAN_PREDICT_MINIMISE_H

#include "predict/schedule.h"

/* Runs the program through the candidate. True if it fails in the same way; then the steps of `actual` are
 * to be those that it really took. */
typedef bool minimise_fails(void *context, const struct schedule *candidate, struct schedule *actual);

/*
 * Takes a schedule that fails and returns one that is not longer, with the same
 * header; no step of it can be left out, unless there were not enough runs to
 * find that out. Uses up at most `runs`, and says how many it used.
 */
struct schedule *minimise(const struct schedule *schedule, minimise_fails *fails, void *context,
			  uint32_t runs, uint32_t *used);

#endif
