/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A loop counts if it has one way in and one way back, no loop inside, and
 * nothing in it accesses what others could see but loads and stores that every
 * iteration does which comes to the end, in even steps up, and some that not every
 * iteration does. An exit, or one of the latter, lies behind such a step, and then
 * the last step is that of this iteration, or before it, and then that of the
 * iteration before, if there was one: were it on some ways behind and on others
 * before, they would be in a loop of their own.
 *
 * What is told in between would be told before ones that came earlier. So they
 * are told first: all steps up to there, if it is news.
 */
#include "pass/steps.h"

#include "abi/hooks.h"
#include "pass/emit.h"
#include "pass/pass.h"

#include <stddef.h>
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

/* The way out of a block of the loop; false if there are too many, or it is not a plain one. */
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
	if (outside != 1 || (!LLVMIsABranchInst(end) && !LLVMIsASwitchInst(end)) ||
	    steps->exits == STEPS_EXITS)
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

/* A scalar of a size that has a check of its own; 0 if it is not. */
static uint64_t own_size(const struct linear_loop *loop, LLVMValueRef i, LLVMTypeRef type)
{
	uint64_t size;

	switch (LLVMGetTypeKind(type)) {
	case LLVMIntegerTypeKind:
	case LLVMPointerTypeKind:
	case LLVMFloatTypeKind:
	case LLVMDoubleTypeKind:
		break;
	default:
		return 0;
	}
	size = LLVMStoreSizeOfType(loop->layout, type);
	return (size == 1 || size == 2 || size == 4 || size == 8) && LLVMGetAlignment(i) >= size ? size : 0;
}

/* Is it nothing that others could see, an access to be told at the end, or one that is not always done? */
static bool take(const struct linear_loop *loop, unsigned block, LLVMValueRef i, struct steps *steps,
		 struct steps_access *accesses, unsigned *count)
{
	bool write = LLVMIsAStoreInst(i);
	struct steps_access *access = &accesses[*count];
	LLVMValueRef pointer;
	uint64_t size;

	if (LLVMIsACallInst(i))
		return !util_is_intrinsic(i, "llvm.mem") && !util_is_intrinsic(i, "llvm.masked.");
	if (!write && !LLVMIsALoadInst(i))
		return true;
	pointer = LLVMGetOperand(i, write);
	if (private_pointer(pointer))
		return true;
	size = own_size(loop, i, LLVMTypeOf(write ? LLVMGetOperand(i, 0) : i));
	if (!size)
		return false;
	if (!dominates(loop->flow, block, loop->flow->loops[loop->number].latch)) {
		if (steps->among == STEPS_AMONG)
			return false;
		steps->between[steps->among++].instruction = i;
		return true;
	}
	if (*count == STEPS_ACCESSES || !linear_address(loop, pointer, &access->address) ||
	    access->address.stride < (int64_t)size)
		return false;
	steps->kept |= access->address.stride != (int64_t)size;
	access->behind = exits_behind(loop->flow, block, steps);
	access->before = 0;
	access->instruction = i;
	++*count;
	return true;
}

/* Is the step done when this access is, which not every iteration does? It has a block of its own. */
static bool comes_before(const struct flow *flow, LLVMValueRef step, LLVMValueRef access)
{
	return dominates(flow, flow_number(flow, LLVMGetInstructionParent(step)),
			 flow_number(flow, LLVMGetInstructionParent(access)));
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
	steps->kept |= steps->among != 0;
	if (!steps->kept && count > STEPS_RANGES)
		return 0;
	for (unsigned i = 0; i < count; i++)
		for (unsigned j = 0; j < steps->among; j++)
			if (comes_before(flow, accesses[i].instruction, steps->between[j].instruction))
				accesses[i].before |= 1u << j;
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

static LLVMValueRef past(LLVMValueRef last, uint64_t stride)
{
	LLVMValueRef step = emit_number(stride);

	return LLVMBuildGEP2(emit.builder, LLVMInt8TypeInContext(emit.context), last, &step, 1, "");
}

/* Where the steps of the iterations before this one end. */
static LLVMValueRef past_before(const struct steps *steps, LLVMValueRef first, LLVMValueRef last,
				uint64_t stride)
{
	LLVMBasicBlockRef blocks[2] = {LLVMGetInstructionParent(steps->at), steps->latch};
	LLVMValueRef values[2] = {first}, phi;

	LLVMPositionBuilderBefore(emit.builder, LLVMGetFirstInstruction(steps->header));
	phi = LLVMBuildPhi(emit.builder, LLVMTypeOf(last), "");
	LLVMPositionBuilderBefore(emit.builder, LLVMGetBasicBlockTerminator(steps->latch));
	values[1] = past(last, stride);
	LLVMAddIncoming(phi, values, blocks, 2);
	return phi;
}

/* ---- the record: a struct atomsan_told, word by word ---- */

enum {
	COUNT = offsetof(struct atomsan_told, count) / 8,
	ACCESSES = offsetof(struct atomsan_told, accesses) / 8,
	WORDS = sizeof(struct atomsan_told) / 8,
	NEXT = offsetof(struct atomsan_told_access, next) / 8,
	PAST = offsetof(struct atomsan_told_access, past) / 8,
	STRIDE = offsetof(struct atomsan_told_access, stride) / 8,
	SITE = offsetof(struct atomsan_told_access, site) / 8,
	ACCESS_WORDS = sizeof(struct atomsan_told_access) / 8,
};
_Static_assert(STEPS_ACCESSES <= ATOMSAN_TOLD, "there is room for all");

static void put(const struct steps *steps, unsigned word, LLVMValueRef value)
{
	LLVMValueRef index = emit_number(word);

	LLVMBuildStore(emit.builder, value,
		       LLVMBuildGEP2(emit.builder, LLVMInt64TypeInContext(emit.context), steps->record,
				     &index, 1, ""));
}

LLVMValueRef steps_record(struct steps *steps)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(steps->header), late_now;

	if (steps->record)
		return steps->record;
	late_now = late(steps);
	LLVMPositionBuilderBefore(emit.builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
	steps->record = LLVMBuildAlloca(emit.builder,
					LLVMArrayType2(LLVMInt64TypeInContext(emit.context), WORDS), "");
	emit_before(steps->at);
	steps->count = LLVMBuildSelect(emit.builder,
				       LLVMBuildICmp(emit.builder, LLVMIntNE, late_now, emit_number(0), ""),
				       emit_number(0), emit_number(0), "");
	put(steps, COUNT, steps->count);
	for (unsigned i = 0; i < steps->exits; i++) {
		LLVMPositionBuilderBefore(emit.builder, steps->exit[i].at);
		emit_call("__atomsan_inl_tell", &steps->record, 1);
		steps->exit[i].tell = LLVMGetPreviousInstruction(steps->exit[i].at);
	}
	return steps->record;
}

void steps_checked(struct steps *steps, LLVMValueRef access, LLVMValueRef check)
{
	for (unsigned i = 0; i < steps->among; i++)
		if (steps->between[i].instruction == access)
			steps->between[i].at = check;
}

static void keep(struct steps *steps, const struct steps_access *access, LLVMValueRef first,
		 LLVMValueRef last, LLVMValueRef site)
{
	uint64_t stride = (uint64_t)access->address.stride;
	unsigned word = ACCESSES + ACCESS_WORDS * steps->filled++;
	LLVMValueRef before = NULL;

	if (access->behind != (1u << steps->exits) - 1 || access->before != (1u << steps->among) - 1)
		before = past_before(steps, first, last, stride);
	LLVMSetOperand(steps->count, 1, emit_number(steps->filled));
	emit_before(steps->at);
	put(steps, word + NEXT, first);
	put(steps, word + STRIDE, emit_number(stride));
	put(steps, word + SITE, site);
	for (unsigned i = 0; i < steps->exits; i++) {
		LLVMPositionBuilderBefore(emit.builder, steps->exit[i].tell);
		put(steps, word + PAST, access->behind >> i & 1 ? past(last, stride) : before);
	}
	for (unsigned i = 0; i < steps->among; i++) {
		LLVMPositionBuilderBefore(emit.builder, steps->between[i].at ? steps->between[i].at
									     : steps->between[i].instruction);
		put(steps, word + PAST, access->before >> i & 1 ? past(last, stride) : before);
	}
}

/* ---- all of it ---- */

void steps_emit(struct steps *steps, const struct steps_access *access, LLVMValueRef first, uint64_t size,
		bool write, LLVMValueRef site)
{
	LLVMValueRef last = LLVMGetOperand(access->instruction, write), before = NULL;
	LLVMValueRef here[] = {last, site, late(steps)};
	char name[40];

	snprintf(name, sizeof name, "__atomsan_inl_step_%s%u", write ? "write" : "read", (unsigned)size);
	emit_before(access->instruction);
	emit_call(name, here, 3);
	if (steps->kept) {
		steps_record(steps);
		keep(steps, access, first, last, site);
		return;
	}
	if (access->behind != (1u << steps->exits) - 1)
		before = past_before(steps, first, last, size);
	for (unsigned i = 0; i < steps->exits; i++) {
		LLVMValueRef all[] = {first, before, steps->late, site};

		LLVMPositionBuilderBefore(emit.builder, steps->exit[i].at);
		if (access->behind >> i & 1)
			all[1] = past(last, size);
		emit_call(write ? "__atomsan_inl_write_steps" : "__atomsan_inl_read_steps", all, 4);
	}
}
