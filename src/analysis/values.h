/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The values that a run's accesses read and wrote, if its trace has them: each
 * access found one at its place, and what a write left there is what the next
 * access of the place finds. Findings are told before that, so their accesses are
 * put on a list and get their values in the end.
 */
#ifndef ATOMSAN_ANALYSIS_VALUES_H
#define ATOMSAN_ANALYSIS_VALUES_H

#include "base/map.h"
#include "finding/finding.h"
#include "trace/cursor.h"

struct value_found {
	uint64_t time; /* number of the event */
	int64_t value;
	uint32_t next; /* access of the same bytes, plus one */
	uint8_t size;
};

struct value_wanted {
	struct finding_access *access;
	uint64_t time;
};

struct values {
	struct value_found *found; /* by time */
	uint32_t count, room;
	struct map latest; /* address and size to the latest access there, plus one */
	struct value_wanted *wanted;
	uint32_t wanted_count, wanted_room;
};

void values_event(struct values *values, const struct trace_event *event, uint64_t time);
/* The access, whose place in memory does not change, is the event of that time. */
void values_want(struct values *values, struct finding_access *access, uint64_t time);
/* No more events. */
void values_tell(struct values *values, struct finding_list *list);
void values_release(struct values *values);

#endif
