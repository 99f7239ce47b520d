/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Is a cycle of the conflict graph a violation that somebody would mend? Every
 * lenient rule about cycles is here, on its own, so that each can be looked at
 * and switched off (serial_options.every_cycle).
 *
 * A cycle enters a unit at one access and leaves it at another. Where it leaves
 * before it enters, the unit was torn apart, unless
 *
 *   - it is one attempt of a loop that looks again and tries again (retry);
 *   - it took something and gave it back later: under one lock it looked whether
 *     it may and marked it as taken, and others, who wanted to take it as well,
 *     looked there in vain until it was marked as free again;
 *   - it counted itself in and, later, out: it is left where it did the one, or
 *     entered where it did the other, and others look at the number or count, too;
 *   - it made the object, and looks at it after it was given away;
 *   - it wrote something, and reads it in a later critical section of the same
 *     lock to see where to go on: it goes by what others made of it;
 *   - the two accesses, in two critical sections of one lock, are of members
 *     that have nothing to do with each other: no critical section of the run
 *     accesses both (together.c of the model has the exact words). What a run
 *     has not shown yet it may still show, so such a cycle waits.
 *
 * Two units may conflict on several locations, and a cycle is one if it is for
 * any choice of them.
 */
#ifndef ATOMSAN_ANALYSIS_JUDGE_H
#define ATOMSAN_ANALYSIS_JUDGE_H

#include "check/engine.h"
#include "model/model.h"

enum judge_verdict {
	JUDGE_VIOLATION,
	JUDGE_RETRY,
	JUDGE_TAKEN, /* and given back; or looked at again */
	JUDGE_APART, /* until the run shows that what it is about belongs together */
};

/*
 * `chosen` has room for each edge and gets the number of the pair of accesses for
 * which it is a violation, or would be if everything belonged together. A cycle
 * that tells only its closing edge is a violation.
 */
enum judge_verdict judge_cycle(struct model *model, const struct check_edge *edges, uint32_t length,
			       uint32_t *chosen);
/* Makes these pairs the edges' own. */
void judge_choose(struct check_edge *edges, uint32_t length, const uint32_t *chosen);

#endif
