/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loops whose iterations are pieces of work by themselves: a worker's, which goes
 * on until somebody tells it to end. What it does in a round and what the function
 * does before or after all rounds are no whole (docs/units.md, "Loops that
 * synchronise"). A walk over data is one: its end depends on what it steps on with.
 */
#ifndef ATOMSAN_LINT_ROUNDS_H
#define ATOMSAN_LINT_ROUNDS_H

#include "lint/lint.h"

/* Does such a loop of the function have one of the two instructions in it and not the other? */
bool rounds_part(const struct lint *lint, uint32_t a, uint32_t b);

#endif
