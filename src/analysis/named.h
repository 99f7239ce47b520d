/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of the accesses that predictions are made of, and predictions told as findings. */
#ifndef ATOMSAN_ANALYSIS_NAMED_H
#define ATOMSAN_ANALYSIS_NAMED_H

#include "base/map.h"
#include "finding/finding.h"
#include "model/model.h"
#include "predict/predict.h"

struct named_access {
	const char *variable, *set;
	uint32_t context, unit_context, rule; /* the contexts' functions are in `functions` */
	const char **locks;
	uint32_t lock_count;
	uint32_t *functions; /* of the calling context, innermost first */
	uint32_t depth;
	uint32_t unit_function;
	uint32_t site;
};

struct named {
	struct trace *trace;
	const struct predict *predict;
	struct finding_list *list; /* owns the names */
	struct map index;          /* event of the history to its name, plus one */
	struct named_access *accesses;
	uint32_t count, room;
	/* While names are looked for: */
	uint32_t *times, time_count;
	struct map wanted; /* time and variable and kind to event, plus one */
};

/* Finds the names of the accesses of these predictions (indexes). -1 with err set. */
int named_find(struct named *named, const struct model_options *options, const uint32_t *predictions,
	       uint32_t count, struct err *err);
void named_release(struct named *named);
const struct named_access *named_access(const struct named *named, uint32_t event, uint32_t variable);

/* Fills the finding, id included; all but its schedule. */
void named_tell(const struct named *named, const struct prediction *prediction, struct finding *finding);

/* "deposit reads account.balance": a note for the step of a schedule; the caller frees it. */
char *named_note(const struct named *named, uint32_t event, uint32_t variable);

#endif
