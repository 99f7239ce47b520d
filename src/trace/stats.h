/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Counts over the events of a trace, and what the trace says it did not see. */
#ifndef ATOMSAN_TRACE_STATS_H
#define ATOMSAN_TRACE_STATS_H

#include "trace/cursor.h"

#include <stdio.h>

struct trace_stats {
	uint64_t events, stamped, enters, exits;
	uint64_t bytes; /* of the events, not packed */
	uint64_t accesses[ATOMSAN_UPDATE + 1];
	uint64_t ops[1 << TRACE_OP_BITS];
	uint64_t *by_thread; /* events, by index */
};

void stats_init(struct trace_stats *stats, const struct trace *trace);
void stats_release(struct trace_stats *stats);
void stats_count(struct trace_stats *stats, const struct trace_event *event);

/* Counters that are not zero, one a line. */
void stats_blind_spots(const struct trace *trace, const char *start, FILE *out);
/* The same as a JSON array. */
void stats_blind_spots_json(const struct trace *trace, FILE *out);

void stats_print(const struct trace_stats *stats, const struct trace *trace, FILE *out);
/* The members "counts" and "threads", with a comma between. */
void stats_print_json(const struct trace_stats *stats, const struct trace *trace, FILE *out);

#endif
