/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loops that need no check in every iteration: where it is certain before a
 * loop begins which bytes its accesses touch, and nothing in it synchronises,
 * one check in front of it says the same as all those inside; where it is certain
 * only when it ends, one behind it does (steps.h). Found before a function is
 * changed, asked for each access while it is.
 */
#ifndef ATOMSAN_PASS_LOOPS_H
#define ATOMSAN_PASS_LOOPS_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

struct loops;
struct steps;
struct steps_access;

/* NULL if there is nothing to be had. */
struct loops *loops_plan(LLVMValueRef function, LLVMTargetDataRef layout);
void loops_free(struct loops *loops); /* also of NULL */

enum loops_check {
	LOOPS_IN_PLACE, /* where the access is, as ever */
	LOOPS_ONCE,     /* as ever, but of place.pointer, at place.at */
	LOOPS_RANGE,    /* a range, at place.at */
	LOOPS_NONE,     /* another access's check speaks for it */
	LOOPS_STEPS,    /* by steps_emit(), from place.pointer on */
	LOOPS_AMONG,    /* as ever, but with steps_record() */
};

struct loops_place {
	LLVMValueRef at;              /* the end of the block in front of the loop */
	LLVMValueRef pointer, length; /* built there, on demand */
	struct steps *steps;
	const struct steps_access *step;
};
/* Moves the builder if it builds something. */
enum loops_check loops_access(struct loops *loops, LLVMBuilderRef builder, LLVMValueRef access,
			      struct loops_place *place);

#endif
