/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A cycle of the conflict graph, told as a finding. */
#ifndef ATOMSAN_ANALYSIS_CYCLE_H
#define ATOMSAN_ANALYSIS_CYCLE_H

#include "analysis/locking.h"
#include "analysis/values.h"
#include "check/engine.h"
#include "finding/finding.h"
#include "model/model.h"

/* The same for cycles through the same program places over the same kind of set: one finding. */
uint64_t cycle_key(const struct model *model, const struct check_cycle *cycle);
/* The same only if each place takes part equally often, too: what Marathon counts. */
uint64_t cycle_shape(const struct model *model, const struct check_cycle *cycle);
/* Leaves out units between two of the same thread; edges has room for the cycle. Only if program order
 * counts. */
uint32_t cycle_shorten(const struct check_cycle *cycle, struct check_edge *edges);
void cycle_tell(const struct trace *trace, const struct model *model, const struct locking *locking,
		struct values *values, const struct check_cycle *cycle, struct finding_list *list,
		struct finding *finding);

#endif
