/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Names of the accesses that predictions are made of, and predictions told as findings. */
#ifndef ATOMSAN_ANALYSIS_NAMED_H
#define ATOMSAN_ANALYSIS_NAMED_H

#include "base/map.h"
#include "finding/finding.h"
#include "model/model.h"
#include "predict/load.h"
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
	uint32_t *times; /* of the events that are wanted */
	uint32_t time_count, time_room;
	struct map wanted; /* named_key of an access to its event, plus one */
};

/* An access as both passes over the trace know it: by time, variable and kind. */
uint64_t named_key(const struct history_event *event);
/* The names of this prediction's accesses are wanted. */
void named_want(struct named *named, uint32_t prediction);
void named_seen(struct named *named, const struct load_access *access);
void named_release(struct named *named);
const struct named_access *named_access(const struct named *named, uint32_t event, uint32_t variable);

/* Fills the finding, id included; all but its schedule. */
void named_tell(const struct named *named, const struct prediction *prediction, struct finding *finding);

/* What an access of the prediction is to; "?" if it has no name. */
const char *named_variable(const struct named *named, const struct prediction *prediction, uint32_t access);
/* "deposit FILE:LINE reads account.balance": a note for the step of a schedule; the caller frees it. */
char *named_note(const struct named *named, uint32_t event, const char *variable);

#endif
