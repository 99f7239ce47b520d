/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A cycle of the conflict graph, told as a finding. */
#ifndef ATOMSAN_ANALYSIS_CYCLE_H
#define ATOMSAN_ANALYSIS_CYCLE_H

#include "check/engine.h"
#include "finding/finding.h"
#include "model/model.h"

/* The same for cycles through the same program places over the same kind of set. */
uint64_t cycle_key(const struct model *model, const struct check_cycle *cycle);
void cycle_tell(const struct trace *trace, const struct model *model, const struct check_cycle *cycle,
		struct finding_list *list, struct finding *finding);

#endif
