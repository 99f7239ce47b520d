/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Marathon: is a run atomic-set serializable? Events go in, in total order, and
 * violations come out as findings. The same code looks at a trace afterwards
 * (`atomsan check`) and at a program while it runs (`atomsan run`).
 *
 * A violation is a cycle of units; cycles through the same functions over the
 * same atomic set are one finding, which counts how often it was seen.
 */
#ifndef ATOMSAN_ANALYSIS_SERIAL_H
#define ATOMSAN_ANALYSIS_SERIAL_H

#include "analysis/locking.h"
#include "check/engine.h"
#include "finding/finding.h"
#include "model/model.h"

struct serial_options {
	struct model_options model;
	enum check_kind engine;
	bool conflicts_only; /* the paper's definition: units of a thread are not ordered */
	bool all_units;      /* the engine hears of all units; what is found is the same */
	bool every_cycle;    /* is told: the rules of judge.h do not count */
	/* Called with each new finding, when it is found; may be NULL. */
	void (*found)(void *user, const struct finding_list *list, const struct finding *finding);
	void *user;
};

struct serial;

/* Findings are added to the list, which outlives it, as does the trace. */
struct serial *serial_new(struct trace *trace, const struct serial_options *options,
			  struct finding_list *list);
void serial_event(struct serial *serial, const struct trace_event *event);
/* The same for all that a cursor has, at once: much faster. 0, or -1 if the cursor came to damage. */
int serial_all(struct serial *serial, struct trace_cursor *cursor);
/* Ends what is open, and adds counts and blind spots to the list. */
void serial_finish(struct serial *serial);
void serial_free(struct serial *serial);

/* What it knows of the run so far, before it is finished. */
const struct model *serial_model(const struct serial *serial);
const struct locking *serial_locking(const struct serial *serial);

/* What the list says of the run itself: program, arguments, seed, build-id. */
void serial_describe_run(const struct trace *trace, struct finding_list *list);

#endif
