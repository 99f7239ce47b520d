/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What `atomsan explore` is asked to do (exploration.c reads it), and what it knows while it does it. */
#ifndef ATOMSAN_CLI_EXPLORATION_H
#define ATOMSAN_CLI_EXPLORATION_H

#include "analysis/foretell.h"
#include "base/map.h"
#include "cli/checking.h"
#include "cli/cost.h"
#include "cli/publish.h"
#include "cli/target.h"
#include "predict/explore.h"
#include "predict/hints.h"

struct exploration {
	struct target target;
	struct publish publish;
	struct checking checking;
	struct cost cost;
	double cpu_seconds; /* of the runs */
	const char *budget, *jobs, *strategies, *seed, *depth, *folder, *given, *events;
	int stop_at_first, keep_long, no_predict;
	struct explore_setup setup;
	struct schedule *header;
	struct hints hints;
	char *names[16]; /* of strategies */
	struct finding_list *predicted;
	struct foretell_stats foretold;
	uint32_t *predicted_by_schedule; /* its finding */
	uint32_t predicted_count;
	uint32_t predicted_from; /* runs that were recorded */
	struct queue queue;      /* of predicted schedules */
	struct map known;        /* hashes of these */
	bool terminal;
};

/* "200" runs or "60s" of time; sets one of the two. -1 with err set. */
int exploration_budget(const char *text, uint64_t *runs, double *seconds, struct err *err);
/* Of --NAME=TEXT; a text of NULL changes nothing. -1 with err set. */
int exploration_number(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value,
		       struct err *err);

/* From the texts that were given, and the target. -1 with err set. */
int exploration_options(struct exploration *x, struct err *err);
/* Reads the schedules that were given. */
int exploration_given(struct exploration *x, struct err *err);
/* A schedule to be tried before chance is; it is the exploration's from here on. */
void exploration_try(struct exploration *x, struct schedule *schedule);
void exploration_release(struct exploration *x);

#endif
