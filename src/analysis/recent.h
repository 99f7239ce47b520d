/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The cycles that were found to be no violations most recently. While their
 * units are open, these may conflict on further locations, and then the same
 * cycle may be a violation after all. Units that are open are few, so a few
 * cycles are enough; memory is used again.
 */
#ifndef ATOMSAN_ANALYSIS_RECENT_H
#define ATOMSAN_ANALYSIS_RECENT_H

#include "check/engine.h"

#define RECENT_CYCLES 64

struct recent_cycle {
	struct check_edge *edges; /* with room for all pairs that they may have */
	struct check_pair *pairs;
	uint32_t length, room;
};

struct recent {
	struct recent_cycle cycles[RECENT_CYCLES];
	uint32_t next;
};

void recent_add(struct recent *recent, const struct check_cycle *cycle);
/* Adds the pair to the cycle if it has an edge between these units. */
bool recent_more(struct recent_cycle *cycle, const struct check_unit_tag *from,
		 const struct check_unit_tag *to, const struct check_pair *pair);
void recent_release(struct recent *recent);

#endif
