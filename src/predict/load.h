/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * From a trace to a history: the model (model/model.h) says which unit and
 * variable each access belongs to, and the synchronisation operations are
 * brought down to the few kinds that prediction knows.
 */
#ifndef ATOMSAN_PREDICT_LOAD_H
#define ATOMSAN_PREDICT_LOAD_H

#include "model/model.h"
#include "predict/history.h"

struct load_stats {
	uint64_t events;  /* of the trace */
	uint32_t threads; /* that did something */
	uint64_t cut;     /* long accesses of which only the beginning was looked at */
	struct model_stats model;
};

/* Fills a history and finishes it. -1 with err set if the trace is damaged. */
int load_history(struct trace *trace, const struct model_options *options, struct history *history,
		 struct load_stats *stats, struct err *err);

/*
 * Goes through the trace once more for the names of things, which are known
 * only while they are there. `wanted` are times, ascending and each once; `seen`
 * is called for every access that is part of one of these events, and `unit` is
 * the history's number of its unit, 0 if it has none. `ended`, if not NULL, is
 * called when the whole run was gone through, with the model that knows it all.
 */
struct load_access {
	const struct model *model;
	const struct model_access *access;
	uint32_t unit;    /* 0: none */
	uint32_t set;     /* as the model numbers them */
	uint32_t context; /* of the unit */
	uint32_t rule;
	uint32_t begin; /* of the unit; 0: none */
	uint32_t variable;
	bool write;
};

int load_names(struct trace *trace, const struct model_options *options, const uint32_t *wanted,
	       uint32_t count, void (*seen)(void *user, const struct load_access *access),
	       void (*ended)(void *user, struct model *model), void *user, struct err *err);

#endif
