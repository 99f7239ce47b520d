/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A loop in the source has more than its natural loop: what stands before a
 * break or a return belongs to the last iteration, though no way leads from
 * there to the next. Clang notes where a loop begins and ends in the source;
 * what the header dominates and lies between the two is in it.
 */
#include "pass/iterations.h"
#include "pass/pass.h"
#include "pass/worth.h"

#include <stdlib.h>
#include <string.h>

struct place {
	unsigned line, column;
	const char *file;
};

struct loop {
	unsigned number; /* in the flow */
	bool *inside;    /* by block */
	bool surely;     /* it synchronises, for all that can be told from here */
	bool part;       /* a walk that may not: nothing begins with it */
	struct place begin, end;
	LLVMValueRef frame; /* alloca that holds it */
	LLVMValueRef since; /* alloca for what the mark of the next iteration wants to be told */
	LLVMValueRef entry; /* of the table of functions */
};

/* Marked loops, outer ones after those inside them. */
struct iterations {
	struct flow flow;
	LLVMValueRef function;
	struct loop *loops;
	unsigned count;
};

/* ---- what is in a loop ---- */

static struct place place_of(LLVMMetadataRef location)
{
	return (struct place){LLVMDILocationGetLine(location), LLVMDILocationGetColumn(location),
			      di_file(LLVMDILocationGetScope(location))};
}

static bool before(struct place a, struct place b)
{
	return a.line != b.line ? a.line < b.line : a.column < b.column;
}

static bool between(struct place at, const struct loop *loop)
{
	return at.file == loop->begin.file && !before(at, loop->begin) && !before(loop->end, at);
}

/* Of the first instruction that has one. */
static bool place_of_block(LLVMBasicBlockRef block, struct place *place)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
		LLVMMetadataRef location = LLVMInstructionGetDebugLoc(i);

		if (!location || !LLVMDILocationGetLine(location))
			continue;
		*place = place_of(location);
		return true;
	}
	return false;
}

static unsigned loop_metadata(LLVMValueRef instruction)
{
	return LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(instruction)), "llvm.loop", 9);
}

/* !llvm.loop is !{itself, begin, end, ...}, on one of the ways back. */
static bool find_source(const struct flow *flow, struct loop *loop)
{
	unsigned header = flow->loops[loop->number].header;

	for (unsigned i = flow->before_start[header]; i < flow->before_start[header + 1]; i++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(flow->blocks[flow->before[i]]), node;
		LLVMMetadataRef list, ends[2];

		if (!flow_inside(flow, loop->number, flow->before[i]))
			continue;
		node = LLVMGetMetadata(end, loop_metadata(end));
		list = node ? LLVMValueAsMetadata(node) : NULL;
		if (di_count(list) < 3)
			continue;
		ends[0] = di_element(list, 1);
		ends[1] = di_element(list, 2);
		if (LLVMGetMetadataKind(ends[0]) != LLVMDILocationMetadataKind ||
		    LLVMGetMetadataKind(ends[1]) != LLVMDILocationMetadataKind)
			continue;
		loop->begin = place_of(ends[0]);
		loop->end = place_of(ends[1]);
		return true;
	}
	return false;
}

static bool dominates(const struct flow *flow, unsigned a, unsigned b)
{
	while (b > a)
		b = flow->dominator[b];
	return a == b;
}

/* Only the header may be entered from outside. */
static bool is_closed(const struct flow *flow, const struct loop *loop)
{
	for (unsigned b = 0; b < flow->count; b++)
		if (loop->inside[b] && b != flow->loops[loop->number].header)
			for (unsigned i = flow->before_start[b]; i < flow->before_start[b + 1]; i++)
				if (!loop->inside[flow->before[i]])
					return false;
	return true;
}

static void find_blocks(const struct flow *flow, struct loop *loop)
{
	unsigned header = flow->loops[loop->number].header;
	bool known = find_source(flow, loop);

	loop->inside = calloc(flow->count, sizeof *loop->inside);
	for (int natural = !known; natural < 2; natural++) {
		for (unsigned b = 0; b < flow->count; b++) {
			struct place at;

			loop->inside[b] = flow_inside(flow, loop->number, b) ||
					  (!natural && dominates(flow, header, b) &&
					   place_of_block(flow->blocks[b], &at) && between(at, loop));
		}
		if (is_closed(flow, loop))
			break;
	}
	if (!known && !place_of_block(flow->blocks[header], &loop->begin))
		loop->begin.line = LLVMDISubprogramGetLine(
			LLVMGetSubprogram(LLVMGetBasicBlockParent(flow->blocks[header])));
}

static bool has(const struct flow *flow, const struct loop *loop, bool (*wanted)(LLVMValueRef instruction))
{
	for (unsigned b = 0; b < flow->count; b++)
		if (loop->inside[b])
			for (LLVMValueRef i = LLVMGetFirstInstruction(flow->blocks[b]); i;
			     i = LLVMGetNextInstruction(i))
				if (wanted(i))
					return true;
	return false;
}

static bool calls_what_it_is_given(LLVMValueRef instruction)
{
	static const char standard[] = "_ZNKSt8functionI";
	LLVMValueRef callee;
	size_t length;

	if (!LLVMIsACallInst(instruction) && !LLVMIsAInvokeInst(instruction))
		return false;
	callee = util_callee(instruction);
	if (!callee)
		return !LLVMIsAInlineAsm(LLVMGetCalledValue(instruction));
	return calls_coroutine(instruction) ||
	       !strncmp(LLVMGetValueName2(callee, &length), standard, strlen(standard));
}

/* ---- planning ---- */

/* A loop that could not be extended keeps those inside it from going further, so that frames nest. */
static void nest(struct iterations *plan)
{
	for (unsigned n = plan->count; n-- > 0;) {
		for (unsigned m = 0; m < n; m++) {
			if (!plan->loops[n].inside[plan->flow.loops[plan->loops[m].number].header])
				continue;
			for (unsigned b = 0; b < plan->flow.count; b++)
				plan->loops[m].inside[b] &= plan->loops[n].inside[b];
		}
	}
}

struct iterations *iterations_plan(LLVMValueRef function)
{
	struct iterations *plan = calloc(1, sizeof *plan);
	bool any = false;

	/* Most functions with a loop call nobody of interest in it. */
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b && !any; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !any; i = LLVMGetNextInstruction(i))
			any = calls_synchronise(i);
	if ((!any && !spins_somewhere(function)) || !flow_init(&plan->flow, function)) {
		free(plan);
		return NULL;
	}
	plan->function = function;
	plan->loops = calloc(plan->flow.loop_count, sizeof *plan->loops);
	for (unsigned n = 0; n < plan->flow.loop_count; n++) {
		struct loop *loop = &plan->loops[plan->count];

		*loop = (struct loop){.number = n};
		find_blocks(&plan->flow, loop);
		loop->surely = has(&plan->flow, loop, calls_surely_synchronise);
		/* Of the library's own loops only those matter that wait: std::lock() tries until it has all.
		 */
		if ((has(&plan->flow, loop, calls_synchronise) && has(&plan->flow, loop, acquires_more) &&
		     (!worth_of_the_library(function) || waits_until(function))) ||
		    spins_loop(function, &plan->flow, n))
			plan->count++;
		else
			free(loop->inside);
	}
	nest(plan);
	for (unsigned n = 0; n < plan->count; n++) {
		struct loop *loop = &plan->loops[n];
		LLVMModuleRef module = LLVMGetGlobalParent(function);
		LLVMContextRef context = LLVMGetModuleContext(module);
		LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
		unsigned walk = walk_is(&plan->flow, loop->number) ? ATOMSAN_FN_WALK : 0;
		/* The loop of a worker takes jobs and calls them. */
		const char *waits = waits_loop(function, &plan->flow, loop->number);
		unsigned jobs = has(&plan->flow, loop, calls_what_it_is_given) ? ATOMSAN_FN_DISPATCHES : 0;

		LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
		loop->frame = LLVMBuildAlloca(builder, LLVMPointerTypeInContext(context, 0), "");
		loop->since = LLVMBuildAlloca(builder, LLVMInt64TypeInContext(context), "");
		loop->part = walk && !loop->surely && !*waits;
		loop->entry = sites_function(
			module, function, loop->begin.line,
			ATOMSAN_FN_LOOP | walk | jobs | (loop->part ? ATOMSAN_FN_PART : 0), 0, waits);
		LLVMDisposeBuilder(builder);
	}
	return plan;
}

static struct loop *innermost(const struct iterations *plan, unsigned block)
{
	for (unsigned n = 0; n < plan->count; n++)
		if (block != FLOW_NONE && plan->loops[n].inside[block])
			return &plan->loops[n];
	return NULL;
}

/* The outermost loop that the way from one block to another leaves. */
static struct loop *left(const struct iterations *plan, unsigned from, unsigned to)
{
	for (unsigned n = plan->count; n-- > 0;)
		if (plan->loops[n].inside[from] && !plan->loops[n].inside[to])
			return &plan->loops[n];
	return NULL;
}

static LLVMValueRef load(LLVMBuilderRef builder, LLVMValueRef from)
{
	return LLVMBuildLoad2(builder, LLVMGetAllocatedType(from), from, "");
}

LLVMValueRef iterations_frame(struct iterations *plan, LLVMBuilderRef builder, LLVMBasicBlockRef block)
{
	struct loop *loop = plan ? innermost(plan, flow_number(&plan->flow, block)) : NULL;

	return loop ? load(builder, loop->frame) : NULL;
}

/* ---- marking ---- */

/* Where a phi had `from`, it has `instead`. */
static void redirect_phis(LLVMBasicBlockRef block, LLVMBasicBlockRef from, LLVMBasicBlockRef instead)
{
	LLVMBuilderRef builder =
		LLVMCreateBuilderInContext(LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block))));
	LLVMValueRef next;

	for (LLVMValueRef phi = LLVMGetFirstInstruction(block); phi && LLVMIsAPHINode(phi); phi = next) {
		LLVMValueRef new, value;
		bool done = false;

		next = LLVMGetNextInstruction(phi);
		LLVMPositionBuilderBefore(builder, phi);
		new = LLVMBuildPhi(builder, LLVMTypeOf(phi), "");
		for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
			LLVMBasicBlockRef way = LLVMGetIncomingBlock(phi, i);

			/* Several cases of a switch are now one way. */
			if (way == from && done)
				continue;
			done |= way == from;
			if (way == from)
				way = instead;
			value = LLVMGetIncomingValue(phi, i);
			LLVMAddIncoming(new, &value, &way, 1);
		}
		LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(phi));
		LLVMReplaceAllUsesWith(phi, new);
		LLVMInstructionEraseFromParent(phi);
	}
	LLVMDisposeBuilder(builder);
}

/* Positions the builder on the way from one block to another, which becomes a block of its own if need be. */
static void on_the_way(const struct iterations *plan, LLVMBuilderRef builder, unsigned from, unsigned to)
{
	LLVMBasicBlockRef a = plan->flow.blocks[from], b = plan->flow.blocks[to], way;
	LLVMValueRef end = LLVMGetBasicBlockTerminator(a), jump, node;
	LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(plan->function));

	if (LLVMGetNumSuccessors(end) == 1) {
		LLVMPositionBuilderBefore(builder, end);
		LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(end));
		return;
	}
	way = LLVMInsertBasicBlockInContext(context, b, "");
	LLVMPositionBuilderAtEnd(builder, way);
	LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(end));
	jump = LLVMBuildBr(builder, b);
	for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
		if (LLVMGetSuccessor(end, i) == b)
			LLVMSetSuccessor(end, i, way);
	redirect_phis(b, a, way);
	/* Requests of the user about the loop stand on the way back. */
	node = LLVMGetMetadata(end, loop_metadata(end));
	if (node && dominates(&plan->flow, to, from)) {
		LLVMSetMetadata(jump, loop_metadata(jump), node);
		LLVMSetMetadata(end, loop_metadata(end), NULL);
	}
	LLVMPositionBuilderBefore(builder, jump);
}

static bool is_landing_pad(LLVMBasicBlockRef block)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
		if (!LLVMIsAPHINode(i))
			return LLVMIsALandingPadInst(i);
	return false;
}

static struct loop *headed(const struct iterations *plan, unsigned block)
{
	for (unsigned n = 0; n < plan->count; n++)
		if (plan->flow.loops[plan->loops[n].number].header == block)
			return &plan->loops[n];
	return NULL;
}

/* Where there is no location, the loop's own: a call in a function that has some must have one, too. */
static void locate(const struct iterations *plan, LLVMBuilderRef builder, const struct loop *loop)
{
	LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(plan->function));

	if (!LLVMGetCurrentDebugLocation2(builder))
		LLVMSetCurrentDebugLocation2(
			builder, LLVMDIBuilderCreateDebugLocation(context, loop->begin.line, 0,
								  LLVMGetSubprogram(plan->function), NULL));
}

static void mark_way(struct iterations *plan, LLVMBuilderRef builder, unsigned from, unsigned to,
		     LLVMValueRef receiver)
{
	LLVMModuleRef module = LLVMGetGlobalParent(plan->function);
	struct loop *leaving = left(plan, from, to), *loop = headed(plan, to);
	LLVMValueRef since;

	if ((!leaving && !loop) || is_landing_pad(plan->flow.blocks[to]))
		return;
	on_the_way(plan, builder, from, to);
	if (leaving) {
		locate(plan, builder, leaving);
		LLVMValueRef arguments[] = {load(builder, leaving->frame), load(builder, leaving->since)};

		mark_build(builder, module,
			   leaving->part     ? MARK_WALKED
			   : leaving->surely ? MARK_LEAVE
					     : MARK_DONE,
			   arguments);
	}
	if (loop && loop->inside[from]) {
		locate(plan, builder, loop);
		LLVMValueRef arguments[] = {load(builder, loop->frame), loop->entry, receiver,
					    load(builder, loop->since)};

		LLVMBuildStore(builder,
			       mark_build(builder, module, loop->surely ? MARK_NEXT : MARK_GO_ON, arguments),
			       loop->since);
	} else if (loop) {
		LLVMValueRef arguments[] = {loop->entry, receiver};

		locate(plan, builder, loop);
		LLVMBuildStore(builder,
			       mark_build(builder, module, loop->part ? MARK_WALK : MARK_LOOP, arguments),
			       loop->frame);
		since = loop->surely ? LLVMConstNull(LLVMGetAllocatedType(loop->since))
				     : mark_build(builder, module, MARK_SINCE, NULL);
		LLVMBuildStore(builder, since, loop->since);
	}
}

void iterations_mark(struct iterations *plan, LLVMValueRef receiver)
{
	LLVMBuilderRef builder;

	if (!plan)
		return;
	builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(plan->function)));
	for (unsigned to = 0; plan->count && to < plan->flow.count; to++) {
		for (unsigned i = plan->flow.before_start[to]; i < plan->flow.before_start[to + 1]; i++) {
			bool seen = false; /* several cases of a switch */

			for (unsigned j = plan->flow.before_start[to]; j < i; j++)
				seen |= plan->flow.before[j] == plan->flow.before[i];
			if (!seen)
				mark_way(plan, builder, plan->flow.before[i], to, receiver);
		}
	}
	LLVMDisposeBuilder(builder);
	for (unsigned n = 0; n < plan->count; n++)
		free(plan->loops[n].inside);
	free(plan->loops);
	flow_release(&plan->flow);
	free(plan);
}
