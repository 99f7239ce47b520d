/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Failures that an exploration met, as findings. */
#ifndef ATOMSAN_CLI_EXPLORING_H
#define ATOMSAN_CLI_EXPLORING_H

#include "cli/checking.h"
#include "cli/target.h"
#include "finding/finding.h"
#include "predict/explore.h"

struct exploring {
	const struct target *target;
	struct checking *checking;
	const char *folder; /* where schedules go */
	/* What was predicted, and which of it each of the given schedules from this one on is for. */
	uint32_t first_predicted;
	const struct finding_list *predicted;
	const uint32_t *predicted_by_schedule;
	uint32_t predicted_count;
	const volatile int *stop; /* not 0: no more runs than needed; NULL */
};

/*
 * Runs the failure's schedule once more, recorded with values, and adds what that run
 * violates, reproduced: of a schedule that was predicted only what was
 * predicted, if that is among it. Or, where it violates nothing that the checker knows,
 * the accesses between which threads were switched. The schedule is written
 * to the folder under the finding's id, and played some more times to see how
 * often it fails. Once it is told to stop there is one run at most, and if that is
 * interrupted, too, the failure is told as it was seen. -1 with err set if it cannot be.
 */
int exploring_add(struct finding_list *list, const struct exploring *exploring,
		  const struct explore_failure *failure, struct err *err);

/* A run that ended in a deadlock: adds that, and nothing of what else the run did, which is not what stopped
 * it. The trace may be NULL. -1 with err set. */
int exploring_deadlock(struct finding_list *list, struct trace *trace, struct checking *checking,
		       const struct sched_report *report, struct err *err);

#endif
