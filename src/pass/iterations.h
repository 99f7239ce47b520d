/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loops whose iterations are marked as if each were a call: those that
 * synchronise, or may. What another thread does between two iterations is meant
 * to be possible there, so the iteration is the unit, not the loop.
 *
 * Planned before a function is changed; marked after everything else that needs
 * its blocks as they were, since edges are split.
 */
#ifndef ATOMSAN_PASS_ITERATIONS_H
#define ATOMSAN_PASS_ITERATIONS_H

#include "pass/flow.h"

struct iterations;

/* NULL if no loop is to be marked. */
struct iterations *iterations_plan(LLVMValueRef function);
/* The frame of the innermost marked loop around a block, loaded where the builder is; NULL if there is none.
 */
LLVMValueRef iterations_frame(struct iterations *loops, LLVMBuilderRef builder, LLVMBasicBlockRef block);
/* Marks, and forgets the plan. */
void iterations_mark(struct iterations *loops, LLVMValueRef receiver);

/* ---- walk.c ---- */

/* Is the loop's end decided by what leads to accesses, its own or those of who it is handed to: a walk over
 * data? */
bool walk_is(const struct flow *flow, unsigned loop);

/* ---- handed.c ---- */

/* May the call's n-th argument lead its callee to data? */
bool handed_leads(LLVMValueRef call, unsigned n);

/* ---- iterator.c ---- */

/* Is the variable, an alloca, a cursor that the loop moves on, and that decides about its end? */
bool walk_by_cursor(const struct flow *flow, unsigned loop, LLVMValueRef variable);

#endif
