/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is linear in the number of a loop's iteration: induction variables,
 * addresses made from them, and how often the loop runs. Everything is exact
 * in the arithmetic that the program does, wrap-around included, or refused.
 */
#ifndef ATOMSAN_PASS_LINEAR_H
#define ATOMSAN_PASS_LINEAR_H

#include "pass/flow.h"

#include <llvm-c/Target.h>
#include <stdint.h>

struct linear_loop {
	const struct flow *flow;
	unsigned number;
	LLVMBasicBlockRef header, latch, preheader;
	LLVMTargetDataRef layout;
};

/* start + step * k in iteration k = 0, 1, ... */
struct induction {
	LLVMValueRef phi, start, next; /* next: the value for the next iteration, as the loop computes it */
	int64_t step;                  /* bytes for a pointer */
	bool no_signed_wrap, no_unsigned_wrap;
};
/* Is it neither 0 nor more than the bits of a variable can tell from a step the other way? */
bool linear_step_fits(int64_t step, unsigned bits);
bool linear_induction(const struct linear_loop *loop, LLVMValueRef phi, struct induction *induction);

/* Is a value the same in all iterations? Then it is at hand at the end of the preheader. */
bool linear_invariant(const struct linear_loop *loop, LLVMValueRef value);

/* How a term of fewer bits than an address is widened. */
enum linear_widen { LINEAR_AS_IS, LINEAR_SIGNED, LINEAR_UNSIGNED };

enum { LINEAR_TERMS = 6 };

/* root + constant + the sum of factor * widen(value): the address in the first
 * iteration. Root and values are invariant or the starts of inductions. */
struct linear {
	LLVMValueRef root;
	int64_t constant;
	int64_t stride; /* bytes from one iteration to the next */
	unsigned count;
	struct linear_term {
		LLVMValueRef value;
		int64_t factor;
		enum linear_widen widen;
	} terms[LINEAR_TERMS]; /* sorted, so that equal sums are equal */
};
bool linear_address(const struct linear_loop *loop, LLVMValueRef pointer, struct linear *linear);
/* -1, 0, 1 by everything but the constant */
int linear_compare(const struct linear *a, const struct linear *b);
LLVMValueRef linear_build(LLVMBuilderRef builder, const struct linear *linear);

/* The loop goes back k times, until `test` of start + step * k and bound fails. */
struct linear_trips {
	LLVMIntPredicate test; /* of going on: NE, or an order that the steps lead to the end of */
	LLVMValueRef start, bound;
	int64_t first; /* added to start before the first test */
	int64_t step;
	unsigned bits; /* of the comparison */
};
bool linear_trips(const struct linear_loop *loop, struct linear_trips *trips);
/* k, as 64 bits */
LLVMValueRef linear_build_trips(LLVMBuilderRef builder, const struct linear_trips *trips);

#endif
