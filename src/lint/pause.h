/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where a function lets others work in between, and means to: at a wait for a
 * condition, in front of a loop that waits (also if there may be nothing to wait
 * for), at a barrier, a join, and where it makes a thread. These are the places at
 * which a run's units of work are split (docs/units.md), so what lies on both
 * sides of one was not meant to be one step.
 */
#ifndef ATOMSAN_LINT_PAUSE_H
#define ATOMSAN_LINT_PAUSE_H

#include "lint/verdict.h"

void pause_build(struct lint *lint);
void pause_release(struct lint *lint);

/* Is there such a place in the function, or in what it surely comes to in what it calls? */
bool pause_any(const struct lint *lint, uint32_t function);
/* Does every way from one instruction to another of the same function pass such a place? */
bool pause_between(const struct lint *lint, uint32_t from, uint32_t to);
/* The same, and is there a way at all, in either direction? */
bool pause_parts(const struct lint *lint, uint32_t a, uint32_t b);
/* Does it lie in a loop that waits? Whoever looks there looks again. */
bool pause_is_waiting(const struct lint *lint, uint32_t inst);
/* Does every way from the verdict's first access to its second one? */
bool pause_splits(const struct lint *lint, const struct verdict *verdict);

#endif
