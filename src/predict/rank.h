/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * In which order schedules of predictions are worth a try. Nobody tries all:
 * an early one should differ as much as can be from those before it.
 *
 *   - What the observed run already had comes last.
 *   - Groups (findings: the same units on the same data) take turns; in a group
 *     places take turns; and of one place those that are looked at least
 *     afterwards, those that are moved farthest, and those that are farthest from
 *     each other, for neighbours are alike: the same threads, the next element.
 *   - Where the trace has values, what leaves the same ones everywhere comes late.
 *   - Two predictions with the same cut-points have the same schedule, which
 *     is tried once.
 *   - What happens after the pattern matters: does who was disturbed go on at once
 *     with what it had read, or does who came in between first do more harm? Every
 *     other schedule of a place is of the second kind.
 */
#ifndef ATOMSAN_PREDICT_RANK_H
#define ATOMSAN_PREDICT_RANK_H

#include "predict/predict.h"

struct rank_turn {
	uint32_t prediction;
	uint32_t sort;  /* the same for the same places and round (the last one, or not), in whatever run */
	uint8_t weight; /* of what moves who comes in between does: 0 to 3, the more the better */
	uint8_t moved;  /* how much of the run lies between the two accesses that change places, in hundredths
			 */
	bool disturber; /* who came in between goes on after the pattern, not who was disturbed */
};

struct ranking {
	struct rank_turn *turns;
	uint32_t count;
};

#define RANK_LEFT_OUT UINT32_MAX

/* groups: by prediction; RANK_LEFT_OUT: none of it. With `both` each prediction comes twice, once for each
 * who may go on. round: of several runs of a program, which one it is; the first, 0, had its threads one
 * after the other. */
void ranking_make(struct ranking *r, const struct predict *p, const uint32_t *groups, bool both,
		  uint32_t round);
void ranking_release(struct ranking *r);

#endif
