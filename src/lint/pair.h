/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Questions that several judgements ask of two places in a function. */
#ifndef ATOMSAN_LINT_PAIR_H
#define ATOMSAN_LINT_PAIR_H

#include "lint/lint.h"

/* Locks that the function holds throughout, from one instruction to the other; with `left`, only those that
 * it is always called with. */
struct lockset pair_held(const struct lint *lint, uint32_t function, uint32_t a, uint32_t b, bool left);
/* Does the instruction belong to what the function does, itself or through calls? */
bool pair_in_scope(const struct lint *lint, uint32_t inst, uint32_t function);
/* Are these two about the same object, as far as the function can tell: 1 yes, -1 no, 0 not known. */
int pair_same_object(const struct lint *lint, uint32_t a, uint32_t b);
/* Is a function called that was read along with something else, or lies in the same object? That is a job and
 * what it is to work on: to take it is one step, to do it another. */
bool pair_is_job(const struct lint *lint, uint32_t call, uint32_t other);
/* The value that a pointer is a place in. */
uint32_t pair_base(const struct program *p, uint32_t value);
bool pair_is_root(const struct lint *lint, uint32_t function);
/* Can control get from one instruction to another of the same function? */
bool pair_reaches(const struct lint *lint, uint32_t a, uint32_t b);

/* Do two regions have a lock in common, or is it not known which they have? What is under different locks was
 * not meant to be one. */
bool pair_same_lock(const struct lint *lint, uint32_t first_region, uint32_t second_region);

#endif
