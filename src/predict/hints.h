/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a recorded run tells the strategies: at which places nothing was ever
 * shared, so that switching there changes nothing; how many events that matter
 * each thread had; and how many there were in all. Places that the run did not
 * come to are not among the first.
 */
#ifndef ATOMSAN_PREDICT_HINTS_H
#define ATOMSAN_PREDICT_HINTS_H

#include "trace/cursor.h"

struct hints {
	char *text; /* for the runtime */
	uint64_t places, shared_places;
	uint64_t locations, shared_locations; /* granules of eight bytes */
	uint64_t points;                      /* accesses to what is shared, and operations */
};

/* -1 with err set if the trace is damaged. Release it after success. */
int hints_make(struct hints *hints, struct trace *trace, struct err *err);
/* The same, if one thing alone is looked for: of the places that the run came to only those matter that this
 * says are about it. */
typedef bool hints_about(void *user, uint32_t site);
int hints_make_about(struct hints *hints, struct trace *trace, hints_about *about, void *user,
		     struct err *err);
void hints_release(struct hints *hints);

#endif
