/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A loop counts if it has one way in and one way back, no loop inside, and
 * nothing in it accesses what others could see but loads and stores that every
 * iteration does which comes to the end, in even steps up that leave no gap. An
 * exit lies behind such an access, and then its last step is that of this iteration,
 * or before it, and then that of the iteration before, if there was one: were it
 * on some ways behind and on others before, they would be in a loop of their own.
 *
 * All accesses or none: those that were told in between would be told before
 * ones that came earlier.
 */
#include "pass/steps.h"

#include "pass/emit.h"
#include "pass/pass.h"

#include <stdio.h>

static bool dominates(const struct flow *flow, unsigned a, unsigned b)
{
	/* Dominators have smaller numbers. */
	while (b > a)
		b = flow->dominator[b];
	return a == b;
}

static bool has_inner_loop(const struct flow *flow, unsigned loop)
{
	for (unsigned n = 0; n < loop; n++)
		if (flow->loops[n].parent == loop)
			return true;
	return false;
}

/* The ways out of a block of the loop; false if one is not a plain branch, or there are too many. */
static bool add_exits(const struct linear_loop *loop, unsigned block, struct steps *steps)
{
	const struct flow *flow = loop->flow;
	LLVMValueRef end = LLVMGetBasicBlockTerminator(flow->blocks[block]);
	unsigned count = LLVMGetNumSuccessors(end), outside = 0, which = 0;

	for (unsigned i = 0; i < count; i++)
		if (!flow_inside(flow, loop->number, flow_number(flow, LLVMGetSuccessor(end, i)))) {
			outside++;
			which = i;
		}
	if (!outside)
		return true;
	if (outside != 1 || !LLVMIsABranchInst(end) || !LLVMIsConditional(end) || steps->exits == STEPS_EXITS)
		return false;
	steps->exit[steps->exits].branch = end;
	steps->exit[steps->exits++].way = which;
	return true;
}

static unsigned exits_behind(const struct flow *flow, unsigned block, const struct steps *steps)
{
	unsigned behind = 0;

	for (unsigned i = 0; i < steps->exits; i++)
		if (dominates(flow, block,
			      flow_number(flow, LLVMGetInstructionParent(steps->exit[i].branch))))
			behind |= 1u << i;
	return behind;
}

/* A scalar of a size that has a check of its own, in steps that leave no gap. */
static bool steps_evenly(const struct linear_loop *loop, LLVMValueRef i, LLVMValueRef pointer,
			 LLVMTypeRef type, struct linear *address)
{
	uint64_t size;

	switch (LLVMGetTypeKind(type)) {
	case LLVMIntegerTypeKind:
	case LLVMPointerTypeKind:
	case LLVMFloatTypeKind:
	case LLVMDoubleTypeKind:
		break;
	default:
		return false;
	}
	size = LLVMStoreSizeOfType(loop->layout, type);
	if ((size != 1 && size != 2 && size != 4 && size != 8) || LLVMGetAlignment(i) < size ||
	    !linear_address(loop, pointer, address))
		return false;
	return address->stride == (int64_t)size;
}

/* Is it nothing that others could see, or an access to be told at the end? */
static bool take(const struct linear_loop *loop, unsigned block, LLVMValueRef i, const struct steps *steps,
		 struct steps_access *accesses, unsigned *count)
{
	bool write = LLVMIsAStoreInst(i);
	LLVMValueRef pointer;
	LLVMTypeRef type;

	if (LLVMIsACallInst(i))
		return !util_is_intrinsic(i, "llvm.mem") && !util_is_intrinsic(i, "llvm.masked.");
	if (!write && !LLVMIsALoadInst(i))
		return true;
	pointer = LLVMGetOperand(i, write);
	type = LLVMTypeOf(write ? LLVMGetOperand(i, 0) : i);
	if (private_pointer(pointer))
		return true;
	if (*count == STEPS_ACCESSES ||
	    !dominates(loop->flow, block, loop->flow->loops[loop->number].latch) ||
	    !steps_evenly(loop, i, pointer, type, &accesses[*count].address))
		return false;
	accesses[*count].behind = exits_behind(loop->flow, block, steps);
	accesses[(*count)++].instruction = i;
	return true;
}

unsigned steps_plan(const struct linear_loop *loop, struct steps *steps,
		    struct steps_access accesses[STEPS_ACCESSES])
{
	const struct flow *flow = loop->flow;
	const struct flow_loop *blocks = &flow->loops[loop->number];
	unsigned count = 0;

	*steps = (struct steps){.header = loop->header,
				.latch = loop->latch,
				.at = LLVMGetBasicBlockTerminator(loop->preheader)};
	if (has_inner_loop(flow, loop->number))
		return 0;
	for (unsigned b = blocks->first; b != FLOW_NONE; b = flow->next[b])
		if (!add_exits(loop, b, steps))
			return 0;
	if (!steps->exits)
		return 0;
	for (unsigned b = blocks->first; b != FLOW_NONE; b = flow->next[b])
		for (LLVMValueRef i = LLVMGetFirstInstruction(flow->blocks[b]); i;
		     i = LLVMGetNextInstruction(i))
			if (!take(loop, b, i, steps, accesses, &count))
				return 0;
	return count;
}

/* ---- code ---- */

/* A block of its own for each way out. */
static void build_exits(struct steps *steps)
{
	for (unsigned i = 0; i < steps->exits; i++) {
		LLVMValueRef branch = steps->exit[i].branch;
		LLVMBasicBlockRef to = LLVMGetSuccessor(branch, steps->exit[i].way);
		LLVMBasicBlockRef between = LLVMInsertBasicBlockInContext(emit.context, to, "");

		shim_phis_from(to, LLVMGetInstructionParent(branch), between);
		LLVMSetSuccessor(branch, steps->exit[i].way, between);
		LLVMPositionBuilderAtEnd(emit.builder, between);
		LLVMSetCurrentDebugLocation2(emit.builder, LLVMInstructionGetDebugLoc(branch));
		steps->exit[i].at = LLVMBuildBr(emit.builder, to);
	}
}

static LLVMValueRef late(struct steps *steps)
{
	LLVMValueRef function = emit_hook("__atomsan_inl_late");

	if (!steps->late) {
		emit_before(steps->at);
		steps->late =
			LLVMBuildCall2(emit.builder, LLVMGlobalGetValueType(function), function, NULL, 0, "");
		LLVMSetInstructionCallConv(steps->late, LLVMGetFunctionCallConv(function));
		build_exits(steps);
	}
	return steps->late;
}

static LLVMValueRef past(LLVMValueRef last, uint64_t size)
{
	LLVMValueRef step = emit_number(size);

	return LLVMBuildGEP2(emit.builder, LLVMInt8TypeInContext(emit.context), last, &step, 1, "");
}

/* Where the steps of the iterations before this one end. */
static LLVMValueRef past_before(const struct steps *steps, LLVMValueRef first, LLVMValueRef last,
				uint64_t size)
{
	LLVMBasicBlockRef blocks[2] = {LLVMGetInstructionParent(steps->at), steps->latch};
	LLVMValueRef values[2] = {first}, phi;

	LLVMPositionBuilderBefore(emit.builder, LLVMGetFirstInstruction(steps->header));
	phi = LLVMBuildPhi(emit.builder, LLVMTypeOf(last), "");
	LLVMPositionBuilderBefore(emit.builder, LLVMGetBasicBlockTerminator(steps->latch));
	values[1] = past(last, size);
	LLVMAddIncoming(phi, values, blocks, 2);
	return phi;
}

void steps_emit(struct steps *steps, LLVMValueRef access, unsigned behind, LLVMValueRef first, uint64_t size,
		bool write, LLVMValueRef site)
{
	LLVMValueRef last = LLVMGetOperand(access, write), before = NULL;
	LLVMValueRef here[] = {last, site, late(steps)};
	char name[40];

	snprintf(name, sizeof name, "__atomsan_inl_step_%s%u", write ? "write" : "read", (unsigned)size);
	emit_before(access);
	emit_call(name, here, 3);
	if (behind != (1u << steps->exits) - 1)
		before = past_before(steps, first, last, size);
	for (unsigned i = 0; i < steps->exits; i++) {
		LLVMValueRef all[] = {first, before, steps->late, site};

		LLVMPositionBuilderBefore(emit.builder, steps->exit[i].at);
		if (behind >> i & 1)
			all[1] = past(last, size);
		emit_call(write ? "__atomsan_inl_write_steps" : "__atomsan_inl_read_steps", all, 4);
	}
}
