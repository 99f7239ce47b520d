/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A deadlock as a finding: who took which of the locks that others wait for,
 * in the order of the run, and then who waits for what.
 */
#ifndef ATOMSAN_ANALYSIS_DEADLOCK_H
#define ATOMSAN_ANALYSIS_DEADLOCK_H

#include "analysis/locking.h"
#include "finding/finding.h"
#include "model/model.h"

struct deadlock_wait {
	const char *thread;
	struct finding_place place; /* where it waits */
	const char *what;           /* "a mutex", "the end" */
	uint64_t lock;              /* its address; 0: it waits for something else */
};

/* The run's events so far made the model and the locking; without a trace, a NULL, locks have no names. Texts
 * of the waits are copied. */
void deadlock_tell(const struct trace *trace, const struct model *model, const struct locking *locking,
		   const struct deadlock_wait *waits, uint32_t count, struct finding_list *list,
		   struct finding *finding);

#endif
