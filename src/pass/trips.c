/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * How often a loop goes back whose only exit is tested at its end. A loop that
 * never ends, which a step over the bound would make, does nothing that C and
 * C++ let it do for ever; where a step over the bound ends later, after a
 * wrap-around, the loop is refused unless it promises that nothing wraps.
 */
#include "pass/linear.h"

static bool power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

static uint64_t magnitude(int64_t n)
{
	return n < 0 ? -(uint64_t)n : (uint64_t)n;
}

static LLVMIntPredicate inverse(LLVMIntPredicate test)
{
	switch (test) {
	case LLVMIntEQ:
		return LLVMIntNE;
	case LLVMIntNE:
		return LLVMIntEQ;
	case LLVMIntUGT:
		return LLVMIntULE;
	case LLVMIntUGE:
		return LLVMIntULT;
	case LLVMIntULT:
		return LLVMIntUGE;
	case LLVMIntULE:
		return LLVMIntUGT;
	case LLVMIntSGT:
		return LLVMIntSLE;
	case LLVMIntSGE:
		return LLVMIntSLT;
	case LLVMIntSLT:
		return LLVMIntSGE;
	case LLVMIntSLE:
		return LLVMIntSGT;
	}
	return LLVMIntEQ;
}

/* a test b is b mirrored(test) a */
static LLVMIntPredicate mirrored(LLVMIntPredicate test)
{
	switch (test) {
	case LLVMIntUGT:
		return LLVMIntULT;
	case LLVMIntUGE:
		return LLVMIntULE;
	case LLVMIntULT:
		return LLVMIntUGT;
	case LLVMIntULE:
		return LLVMIntUGE;
	case LLVMIntSGT:
		return LLVMIntSLT;
	case LLVMIntSGE:
		return LLVMIntSLE;
	case LLVMIntSLT:
		return LLVMIntSGT;
	case LLVMIntSLE:
		return LLVMIntSGE;
	default:
		return test;
	}
}

static bool is_signed(LLVMIntPredicate test)
{
	return test == LLVMIntSGT || test == LLVMIntSGE || test == LLVMIntSLT || test == LLVMIntSLE;
}

static LLVMIntPredicate as_signed(LLVMIntPredicate test)
{
	switch (test) {
	case LLVMIntUGT:
		return LLVMIntSGT;
	case LLVMIntUGE:
		return LLVMIntSGE;
	case LLVMIntULT:
		return LLVMIntSLT;
	case LLVMIntULE:
		return LLVMIntSLE;
	default:
		return test;
	}
}

static bool upwards(LLVMIntPredicate test)
{
	return test == LLVMIntULT || test == LLVMIntULE || test == LLVMIntSLT || test == LLVMIntSLE;
}

static bool or_equal(LLVMIntPredicate test)
{
	return test == LLVMIntUGE || test == LLVMIntULE || test == LLVMIntSGE || test == LLVMIntSLE;
}

/* Does the number of steps follow from the difference of the two ends? */
static bool reaches_bound(const struct linear_trips *trips, const struct induction *induction, bool narrowed)
{
	uint64_t step = magnitude(trips->step);

	switch (trips->test) {
	case LLVMIntEQ:
		return false;
	case LLVMIntNE:
		/* The least solution of step * k = difference, modulo any power of two. */
		if (power_of_two(step))
			return true;
		return !narrowed && (induction->no_signed_wrap || induction->no_unsigned_wrap);
	default:
		if (narrowed || upwards(trips->test) != (trips->step > 0))
			return false;
		/* Single steps meet the bound before they can wrap. */
		return step == 1 ||
		       (is_signed(trips->test) ? induction->no_signed_wrap : induction->no_unsigned_wrap);
	}
}

/* Is a side of the comparison an induction variable, before or after its step? */
static bool variable_side(const struct linear_loop *loop, LLVMValueRef side, struct linear_trips *trips,
			  struct induction *induction, bool *narrowed)
{
	LLVMTypeRef type = LLVMTypeOf(side);
	LLVMTypeKind kind = LLVMGetTypeKind(type);
	LLVMValueRef phi;

	if (kind != LLVMPointerTypeKind && (kind != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) > 64))
		return false;
	trips->bits = kind == LLVMPointerTypeKind ? 64 : LLVMGetIntTypeWidth(type);
	*narrowed = LLVMIsATruncInst(side) && !linear_invariant(loop, side);
	if (*narrowed)
		side = LLVMGetOperand(side, 0);
	if (linear_induction(loop, side, induction)) {
		trips->first = 0;
	} else {
		for (phi = LLVMGetFirstInstruction(loop->header); phi && LLVMIsAPHINode(phi);
		     phi = LLVMGetNextInstruction(phi))
			if (linear_induction(loop, phi, induction) && induction->next == side)
				break;
		if (!phi || !LLVMIsAPHINode(phi))
			return false;
		trips->first = induction->step;
	}
	trips->start = induction->start;
	trips->step = induction->step;
	return linear_step_fits(trips->step, trips->bits);
}

bool linear_trips(const struct linear_loop *loop, struct linear_trips *trips)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(loop->latch), condition;
	struct induction induction;
	bool narrowed;

	*trips = (struct linear_trips){0};
	if (!LLVMIsABranchInst(end) || !LLVMIsConditional(end))
		return false;
	condition = LLVMGetCondition(end);
	if (!LLVMIsAICmpInst(condition))
		return false;
	trips->test = LLVMGetICmpPredicate(condition);
	if (LLVMGetSuccessor(end, 0) != loop->header)
		trips->test = inverse(trips->test);
	for (unsigned i = 0; i < 2; i++) {
		trips->bound = LLVMGetOperand(condition, 1 - i);
		if (!linear_invariant(loop, trips->bound) ||
		    !variable_side(loop, LLVMGetOperand(condition, i), trips, &induction, &narrowed))
			continue;
		if (i)
			trips->test = mirrored(trips->test);
		/* Of two numbers of the same sign both orders are one. */
		if (LLVMGetICmpSameSign(condition) && induction.no_signed_wrap)
			trips->test = as_signed(trips->test);
		return reaches_bound(trips, &induction, narrowed);
	}
	return false;
}

/* An end of the way as a number of the comparison's bits. */
static LLVMValueRef end_of_way(LLVMBuilderRef builder, LLVMValueRef value, LLVMTypeRef type)
{
	if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(builder, value, type, "");
	return LLVMBuildTruncOrBitCast(builder, value, type, "");
}

LLVMValueRef linear_build_trips(LLVMBuilderRef builder, const struct linear_trips *trips)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(trips->start));
	LLVMTypeRef type = LLVMIntTypeInContext(context, trips->bits), wide = LLVMInt64TypeInContext(context);
	LLVMValueRef start = end_of_way(builder, trips->start, type);
	LLVMValueRef bound = end_of_way(builder, trips->bound, type), way, some;
	LLVMValueRef step = LLVMConstInt(wide, magnitude(trips->step), false),
		     one = LLVMConstInt(wide, 1, false);

	start = LLVMBuildAdd(builder, start, LLVMConstInt(type, (uint64_t)trips->first, true), "");
	way = trips->step > 0 ? LLVMBuildSub(builder, bound, start, "")
			      : LLVMBuildSub(builder, start, bound, "");
	way = LLVMBuildZExtOrBitCast(builder, way, wide, "");
	if (trips->test == LLVMIntNE)
		return LLVMBuildUDiv(builder, way, step, "");
	some = LLVMBuildICmp(builder, trips->test, start, bound, "");
	if (!or_equal(trips->test))
		way = LLVMBuildSub(builder, way, one, "");
	way = LLVMBuildAdd(builder, LLVMBuildUDiv(builder, way, step, ""), one, "");
	return LLVMBuildSelect(builder, some, way, LLVMConstInt(wide, 0, false), "");
}
