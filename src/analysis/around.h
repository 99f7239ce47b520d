/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The critical sections around the accesses of a prediction, as steps of its
 * interleaving: a lock is taken right before the first access that its section
 * holds, and given up right behind the last. No run had this order, but threads
 * that share a lock leave no other one, and for those that do not it says as
 * much as any.
 */
#ifndef ATOMSAN_ANALYSIS_AROUND_H
#define ATOMSAN_ANALYSIS_AROUND_H

#include "analysis/named.h"

struct around_step {
	uint32_t access; /* of the prediction that it stands before, or, of a lock that is given up, behind */
	uint32_t event;  /* of the history: the operation */
	bool taken;
	const char *lock; /* its name */
};

struct around {
	struct around_step *steps; /* in the order of the interleaving */
	uint32_t count, room;
};

/* An access whose locks are not all known has no steps. */
void around_find(struct around *around, const struct named *named, const struct prediction *prediction);
void around_release(struct around *around);

#endif
