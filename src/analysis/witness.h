/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Did it happen in this run? A finding of the static side names three places or
 * more: two of one function, and what another thread does in between. A run
 * is a witness of it if one thread came to the first place, then another one to
 * a place in between, and then the first one to the last place, and memory
 * of the first or the last place is what was accessed in between.
 *
 * Places are compared by function, file and line, as the optimiser moves columns.
 */
#ifndef ATOMSAN_ANALYSIS_WITNESS_H
#define ATOMSAN_ANALYSIS_WITNESS_H

#include "finding/finding.h"
#include "trace/cursor.h"

struct witness;

/* The trace and the finding outlive it. */
struct witness *witness_new(const struct trace *trace, const struct finding *finding);
void witness_event(struct witness *witness, const struct trace_event *event);
/* It happened; or at least the run came to all of the places. */
bool witness_happened(const struct witness *witness);
bool witness_reached(const struct witness *witness);
void witness_free(struct witness *witness);

/* Is the place in a function that the finding speaks of? */
bool witness_concerns(const struct finding *finding, const struct trace *trace, uint32_t site);

#endif
