/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * When threads took and gave up locks lately, so that a report can show where
 * the critical sections around its accesses begin and end. What lies too far
 * back is forgotten.
 */
#ifndef ATOMSAN_ANALYSIS_LOCKING_H
#define ATOMSAN_ANALYSIS_LOCKING_H

#include "trace/cursor.h"

#define LOCKING_KEPT 64

struct locking_op {
	uint64_t time; /* number of the event */
	uint64_t address;
	uint32_t site;
	bool taken;
};

struct locking_thread {
	uint32_t count; /* of operations so far; the latest LOCKING_KEPT are there */
	struct locking_op ops[LOCKING_KEPT];
};

struct locking {
	struct locking_thread **threads; /* NULL: has taken none */
	uint32_t count;
};

void locking_event(struct locking *locking, const struct trace_event *event, uint64_t time);
void locking_release(struct locking *locking);

/* Where the thread took the lock last before the time, gave it up first after it; NULL: not known. */
const struct locking_op *locking_taken(const struct locking *locking, uint32_t thread, uint64_t lock,
				       uint64_t before);
const struct locking_op *locking_given_up(const struct locking *locking, uint32_t thread, uint64_t lock,
					  uint64_t after);

#endif
