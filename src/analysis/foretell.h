/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * PENELOPE: which violations does a recorded run make possible? A trace goes in;
 * findings and, where they are wanted, schedules that lead to them come out.
 *
 * Predictions at the same program places are one finding, and a finding has the
 * schedule of the first of them. All predictions can be scheduled, in the order
 * of predict/rank.h, so that whoever tries only a few has tried as much as possible.
 */
#ifndef ATOMSAN_ANALYSIS_FORETELL_H
#define ATOMSAN_ANALYSIS_FORETELL_H

#include "finding/finding.h"
#include "model/model.h"
#include "predict/predict.h"
#include "predict/schedule.h"

struct foretell_options {
	struct model_options model;
	struct predict_options predict;
	const char *folder; /* schedules are written here; NULL: nowhere */
	uint32_t schedules; /* at most */
	bool every_pattern; /* those that do no harm (harmless.h), too */
	uint32_t round;     /* which of several runs of the program it is, from 0 (rank.h) */
	bool both; /* one more for each prediction: who came in between goes on, not who was disturbed */
	/* Called with each schedule and the index of its finding in the list; may be NULL. */
	void (*made)(void *user, const struct schedule *schedule, uint32_t finding);
	void *user;
};

/* What PENELOPE's table has to say of a run. */
struct foretell_stats {
	uint64_t events, switches, cut;
	uint32_t threads, variables, shared, contended, locks;
	uint64_t predicted, seen, harmless, schedules, schedule_switches;
	struct predict_counts counts;
};

/* Adds findings and counts to the list. -1 with err set if the trace is damaged or a schedule cannot be
 * written. */
int foretell(struct trace *trace, const struct foretell_options *options, struct finding_list *list,
	     struct foretell_stats *stats, struct err *err);

#endif
