/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which lock guards a variable: every access is made with it, and every write
 * with it for writing. Between two accesses of a thread that keeps this lock
 * all the while no other thread has an access that conflicts, so there is no
 * need to look. In a program that locks as it should that is most of them.
 */
#ifndef ATOMSAN_PREDICT_GUARD_H
#define ATOMSAN_PREDICT_GUARD_H

#include "predict/lockset.h"
#include "predict/order.h"

struct guards {
	uint32_t *locks; /* by variable: its guard, plus one; 0: none */
};

/* Accesses that are made when there are no other threads are not looked at. */
void guards_find(struct guards *g, const struct locksets *locks, const struct order *order);
void guards_release(struct guards *g);

/* Does the thread keep the variable's guard from the access `from` up to its event `to`? */
bool guard_kept(const struct guards *g, const struct locksets *locks, uint32_t variable, uint32_t from,
		uint32_t to);

#endif
