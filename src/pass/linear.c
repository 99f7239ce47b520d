/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Addresses are sums modulo 2^64, so terms of 64 bits need no promise about
 * wrap-around. A narrower term is widened, and only a promise (nsw, nuw) lets
 * the widening go inside a sum; a broken one makes the address poison, and the
 * access that the loop does in every iteration undefined.
 */
#include "pass/linear.h"

#include <string.h>

bool linear_invariant(const struct linear_loop *loop, LLVMValueRef value)
{
	if (!LLVMIsAInstruction(value))
		return true;
	return !flow_inside(loop->flow, loop->number,
			    flow_number(loop->flow, LLVMGetInstructionParent(value)));
}

static bool is_pointer(LLVMValueRef value)
{
	return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

/* Bits of an integer that fits an address, or 0. */
static unsigned bits_of(LLVMValueRef value)
{
	LLVMTypeRef type = LLVMTypeOf(value);

	if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) > 64)
		return 0;
	return LLVMGetIntTypeWidth(type);
}

static bool small_constant(LLVMValueRef value)
{
	return LLVMIsAConstantInt(value) && bits_of(value);
}

static bool is_gep(LLVMValueRef value)
{
	return LLVMIsAGetElementPtrInst(value) ||
	       (LLVMIsAConstantExpr(value) && LLVMGetConstOpcode(value) == LLVMGetElementPtr);
}

static int64_t times(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

bool linear_step_fits(int64_t step, unsigned bits)
{
	int64_t most = bits > 1 ? (int64_t)(UINT64_MAX >> (65 - bits)) : 0;

	return step && step >= -most && step <= most;
}

/* ---- steps into things ---- */

typedef bool index_visitor(void *data, LLVMValueRef index, int64_t factor);

/* Every index of a GEP with what it counts in bytes; members as one constant. */
static bool each_index(LLVMTargetDataRef layout, LLVMValueRef gep, int64_t *constant, index_visitor *visit,
		       void *data)
{
	LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
	unsigned operands = (unsigned)LLVMGetNumOperands(gep);

	for (unsigned i = 1; i < operands; i++) {
		LLVMValueRef index = LLVMGetOperand(gep, i);
		LLVMTypeKind kind = LLVMGetTypeKind(type);
		int64_t size;

		if (i > 1 && kind == LLVMStructTypeKind) {
			unsigned member = (unsigned)LLVMConstIntGetZExtValue(index);

			*constant = plus(*constant, (int64_t)LLVMOffsetOfElement(layout, type, member));
			type = LLVMStructGetTypeAtIndex(type, member);
			continue;
		}
		if (i > 1) {
			if (kind != LLVMArrayTypeKind)
				return false;
			type = LLVMGetElementType(type);
		}
		kind = LLVMGetTypeKind(type);
		if (kind == LLVMScalableVectorTypeKind || !LLVMTypeIsSized(type) || !bits_of(index))
			return false;
		size = (int64_t)LLVMABISizeOfType(layout, type);
		if (LLVMIsAConstantInt(index))
			*constant = plus(*constant, times(size, LLVMConstIntGetSExtValue(index)));
		else if (!visit(data, index, size))
			return false;
	}
	return true;
}

static bool no_index(void *data, LLVMValueRef index, int64_t factor)
{
	(void)data, (void)index, (void)factor;
	return false;
}

/* ---- induction variables ---- */

/* The constants that are added between a value of the loop and the phi of its header that it comes from. */
static LLVMValueRef follow(const struct linear_loop *loop, LLVMValueRef at, struct induction *induction)
{
	for (unsigned depth = 0; depth < 8; depth++) {
		if (!LLVMIsAInstruction(at) || linear_invariant(loop, at))
			return NULL;
		if (LLVMIsAPHINode(at))
			return LLVMGetInstructionParent(at) == loop->header ? at : NULL;
		if (LLVMIsAGetElementPtrInst(at) && is_pointer(at)) {
			/* Inside one object, and none lies across the end of the addresses. */
			induction->no_unsigned_wrap &= !!LLVMIsInBounds(at);
			if (!each_index(loop->layout, at, &induction->step, no_index, NULL))
				return NULL;
		} else if (LLVMGetInstructionOpcode(at) == LLVMAdd && small_constant(LLVMGetOperand(at, 1))) {
			induction->no_signed_wrap &= !!LLVMGetNSW(at);
			induction->no_unsigned_wrap &= !!LLVMGetNUW(at);
			induction->step =
				plus(induction->step, LLVMConstIntGetSExtValue(LLVMGetOperand(at, 1)));
		} else {
			return NULL;
		}
		at = LLVMGetOperand(at, 0);
	}
	return NULL;
}

/*
 * What another variable was one iteration ago, plus `ahead`: where the loop
 * tests i + 4 and uses i, there may be one for each. It goes in the other's
 * steps if it starts where that would have been.
 */
static bool follow_other(const struct linear_loop *loop, LLVMValueRef phi, struct induction *induction)
{
	int64_t ahead = induction->step;
	struct induction other = {.phi = phi, .no_signed_wrap = true, .no_unsigned_wrap = true};

	if (LLVMCountIncoming(phi) != 2 || !small_constant(induction->start))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		if (LLVMGetIncomingBlock(phi, i) == loop->latch)
			other.next = LLVMGetIncomingValue(phi, i);
		else if (LLVMGetIncomingBlock(phi, i) == loop->preheader)
			other.start = LLVMGetIncomingValue(phi, i);
	}
	if (!other.next || !other.start || !small_constant(other.start) ||
	    follow(loop, other.next, &other) != phi ||
	    LLVMConstIntGetSExtValue(induction->start) !=
		    plus(LLVMConstIntGetSExtValue(other.start), plus(ahead, times(other.step, -1))))
		return false;
	induction->step = other.step;
	induction->no_signed_wrap &= other.no_signed_wrap;
	/* Negative constants are huge ones there. */
	induction->no_unsigned_wrap &=
		other.no_unsigned_wrap && ahead >= 0 && LLVMConstIntGetSExtValue(induction->start) >= 0;
	return true;
}

bool linear_induction(const struct linear_loop *loop, LLVMValueRef phi, struct induction *induction)
{
	LLVMValueRef from;

	*induction = (struct induction){.phi = phi, .no_signed_wrap = true, .no_unsigned_wrap = true};
	if (!LLVMIsAPHINode(phi) || LLVMGetInstructionParent(phi) != loop->header ||
	    LLVMCountIncoming(phi) != 2 || (!is_pointer(phi) && !bits_of(phi)))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		if (LLVMGetIncomingBlock(phi, i) == loop->latch)
			induction->next = LLVMGetIncomingValue(phi, i);
		else if (LLVMGetIncomingBlock(phi, i) == loop->preheader)
			induction->start = LLVMGetIncomingValue(phi, i);
	}
	if (!induction->next || !induction->start)
		return false;
	from = follow(loop, induction->next, induction);
	if (!from || (from != phi && !follow_other(loop, from, induction)))
		return false;
	if (is_pointer(phi))
		induction->no_signed_wrap = false;
	else if (induction->step < 0)
		induction->no_unsigned_wrap = false; /* said of the step as a huge number */
	return linear_step_fits(induction->step, is_pointer(phi) ? 64 : bits_of(phi));
}

/* ---- addresses ---- */

struct sum {
	const struct linear_loop *loop;
	struct linear *linear;
	unsigned depth;
};

static bool add_term(struct linear *linear, LLVMValueRef value, int64_t factor, enum linear_widen widen)
{
	for (unsigned i = 0; i < linear->count; i++) {
		struct linear_term *term = &linear->terms[i];

		if (term->value != value || term->widen != widen)
			continue;
		term->factor = plus(term->factor, factor);
		if (!term->factor)
			*term = linear->terms[--linear->count];
		return true;
	}
	if (linear->count == LINEAR_TERMS)
		return false;
	linear->terms[linear->count++] = (struct linear_term){value, factor, widen};
	return true;
}

static bool keeps_widening(LLVMValueRef value, enum linear_widen widen)
{
	return widen == LINEAR_AS_IS || (widen == LINEAR_SIGNED ? LLVMGetNSW(value) : LLVMGetNUW(value));
}

static bool add_value(struct sum *sum, LLVMValueRef value, int64_t factor, enum linear_widen widen);

static bool add_induction(struct sum *sum, LLVMValueRef phi, int64_t factor, enum linear_widen widen)
{
	struct induction induction;

	if (!linear_induction(sum->loop, phi, &induction) ||
	    (widen == LINEAR_SIGNED && !induction.no_signed_wrap) ||
	    (widen == LINEAR_UNSIGNED && !induction.no_unsigned_wrap))
		return false;
	sum->linear->stride = plus(sum->linear->stride, times(factor, induction.step));
	return add_value(sum, induction.start, factor, widen);
}

static bool add_widened(struct sum *sum, LLVMValueRef value, int64_t factor, enum linear_widen widen)
{
	LLVMValueRef inside = LLVMGetOperand(value, 0);
	struct linear before = *sum->linear;

	if (LLVMIsASExtInst(value))
		return widen != LINEAR_UNSIGNED && add_value(sum, inside, factor, LINEAR_SIGNED);
	if (add_value(sum, inside, factor, LINEAR_UNSIGNED))
		return true;
	*sum->linear = before;
	return LLVMGetNNeg(value) && add_value(sum, inside, factor, LINEAR_SIGNED);
}

static bool add_instruction(struct sum *sum, LLVMValueRef value, int64_t factor, enum linear_widen widen)
{
	LLVMValueRef left = LLVMGetOperand(value, 0), right;
	LLVMOpcode opcode = LLVMGetInstructionOpcode(value);

	if (opcode == LLVMSExt || opcode == LLVMZExt)
		return bits_of(left) && add_widened(sum, value, factor, widen);
	/* The inverse of x is -1 - x, signed or as wide as an address. */
	if (opcode == LLVMXor && widen != LINEAR_UNSIGNED && LLVMIsAConstantInt(LLVMGetOperand(value, 1)) &&
	    LLVMConstIntGetSExtValue(LLVMGetOperand(value, 1)) == -1) {
		sum->linear->constant = plus(sum->linear->constant, times(factor, -1));
		return add_value(sum, left, times(factor, -1), widen);
	}
	if (opcode != LLVMAdd && opcode != LLVMSub && opcode != LLVMOr && opcode != LLVMShl &&
	    opcode != LLVMMul)
		return false;
	right = LLVMGetOperand(value, 1);
	/* With no bit in both, neither wraps: one of them at most is negative. */
	if (opcode == LLVMOr ? !LLVMGetIsDisjoint(value) : !keeps_widening(value, widen))
		return false;
	switch (opcode) {
	case LLVMSub:
		return add_value(sum, left, factor, widen) && add_value(sum, right, times(factor, -1), widen);
	case LLVMShl:
		/* By all bits but the sign, a widened shift is no product. */
		if (!small_constant(right) || LLVMConstIntGetZExtValue(right) + 1 >= bits_of(value))
			return false;
		return add_value(sum, left, times(factor, (int64_t)1 << LLVMConstIntGetZExtValue(right)),
				 widen);
	case LLVMMul:
		if (!small_constant(right))
			return false;
		return add_value(sum, left,
				 times(factor, widen == LINEAR_UNSIGNED
						       ? (int64_t)LLVMConstIntGetZExtValue(right)
						       : LLVMConstIntGetSExtValue(right)),
				 widen);
	default:
		return add_value(sum, left, factor, widen) && add_value(sum, right, factor, widen);
	}
}

static bool add_value(struct sum *sum, LLVMValueRef value, int64_t factor, enum linear_widen widen)
{
	bool done;

	if (small_constant(value)) {
		int64_t n = widen == LINEAR_UNSIGNED ? (int64_t)LLVMConstIntGetZExtValue(value)
						     : LLVMConstIntGetSExtValue(value);

		sum->linear->constant = plus(sum->linear->constant, times(factor, n));
		return true;
	}
	if (linear_invariant(sum->loop, value))
		return add_term(sum->linear, value, factor, widen);
	if (sum->depth == 12)
		return false;
	sum->depth++;
	done = LLVMIsAPHINode(value) ? add_induction(sum, value, factor, widen)
				     : add_instruction(sum, value, factor, widen);
	sum->depth--;
	return done;
}

static bool add_index(void *data, LLVMValueRef index, int64_t factor)
{
	return add_value(data, index, factor, bits_of(index) < 64 ? LINEAR_SIGNED : LINEAR_AS_IS);
}

static int compare_terms(const struct linear_term *a, const struct linear_term *b)
{
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	if (a->widen != b->widen)
		return a->widen < b->widen ? -1 : 1;
	return (a->factor > b->factor) - (a->factor < b->factor);
}

static void sort_terms(struct linear *linear)
{
	for (unsigned i = 1; i < linear->count; i++)
		for (unsigned j = i; j && compare_terms(&linear->terms[j], &linear->terms[j - 1]) < 0; j--) {
			struct linear_term term = linear->terms[j];

			linear->terms[j] = linear->terms[j - 1];
			linear->terms[j - 1] = term;
		}
}

bool linear_address(const struct linear_loop *loop, LLVMValueRef pointer, struct linear *linear)
{
	struct sum sum = {loop, linear, 0};
	struct induction induction;

	*linear = (struct linear){0};
	for (unsigned depth = 0; depth < 16; depth++) {
		bool invariant = linear_invariant(loop, pointer);
		int64_t constant = 0;

		if (!is_pointer(pointer))
			return false;
		if (is_gep(pointer) &&
		    each_index(loop->layout, pointer, &constant, invariant ? no_index : add_index, &sum)) {
			linear->constant = plus(linear->constant, constant);
			pointer = LLVMGetOperand(pointer, 0);
		} else if (invariant) {
			linear->root = pointer;
			sort_terms(linear);
			return true;
		} else if (LLVMIsAPHINode(pointer) && linear_induction(loop, pointer, &induction)) {
			linear->stride = plus(linear->stride, induction.step);
			pointer = induction.start;
		} else {
			return false;
		}
	}
	return false;
}

int linear_compare(const struct linear *a, const struct linear *b)
{
	int order;

	if (a->root != b->root)
		return a->root < b->root ? -1 : 1;
	if (a->stride != b->stride)
		return a->stride < b->stride ? -1 : 1;
	if (a->count != b->count)
		return a->count < b->count ? -1 : 1;
	for (unsigned i = 0; i < a->count; i++)
		if ((order = compare_terms(&a->terms[i], &b->terms[i])))
			return order;
	return 0;
}

LLVMValueRef linear_build(LLVMBuilderRef builder, const struct linear *linear)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(linear->root));
	LLVMTypeRef wide = LLVMInt64TypeInContext(context), byte = LLVMInt8TypeInContext(context);
	LLVMValueRef sum = LLVMConstInt(wide, (uint64_t)linear->constant, false);

	for (unsigned i = 0; i < linear->count; i++) {
		const struct linear_term *term = &linear->terms[i];
		LLVMValueRef value = term->value;

		if (term->widen == LINEAR_SIGNED)
			value = LLVMBuildSExt(builder, value, wide, "");
		else if (term->widen == LINEAR_UNSIGNED)
			value = LLVMBuildZExt(builder, value, wide, "");
		value = LLVMBuildMul(builder, value, LLVMConstInt(wide, (uint64_t)term->factor, false), "");
		sum = LLVMBuildAdd(builder, sum, value, "");
	}
	if (LLVMIsAConstantInt(sum) && !LLVMConstIntGetZExtValue(sum))
		return linear->root;
	return LLVMBuildGEP2(builder, byte, linear->root, &sum, 1, "");
}
