/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Cycles that wait: told as findings while the names of what they are about are
 * still known, and kept back until the run shows that they are violations, which
 * may be never. Of the same places and accesses one waits, however often it is
 * seen; there is an upper bound to how many wait, and what is beyond is told
 * at once.
 */
#ifndef ATOMSAN_ANALYSIS_WAITING_H
#define ATOMSAN_ANALYSIS_WAITING_H

#include "analysis/judge.h"
#include "base/map.h"
#include "finding/finding.h"

struct waiting_cycle {
	uint64_t key; /* of the finding, see cycle_key */
	uint64_t seen;
	struct check_edge *edges; /* as the engine told them; NULL: waits no more */
	struct check_pair *pairs;
	uint32_t length;
	struct finding told;
};

struct waiting {
	struct waiting_cycle *items;
	uint32_t count, room;
	struct map known; /* by places and accesses to number, plus one */
};

/* The one that waits for the same, NULL if there is none yet. */
struct waiting_cycle *waiting_find(struct waiting *waiting, uint64_t key, const struct check_cycle *cycle);
/* The caller tells it; NULL if too many wait. */
struct waiting_cycle *waiting_add(struct waiting *waiting, uint64_t key, const struct check_cycle *cycle);
/* It waits no more. */
void waiting_let_go(struct waiting_cycle *cycle);
void waiting_release(struct waiting *waiting);

#endif
