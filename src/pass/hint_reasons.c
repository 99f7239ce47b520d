/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What decides. A value is followed back over variables of the function, and
 * over what functions of the module return, to the data that others could
 * change; where a variable is set in several places, also to what decides which
 * of them is come to. A place that has changed something itself is what it is
 * because of that: a flag that is set there says what the function has done, not
 * what it has seen.
 *
 * Asked of unoptimised code, where variables are allocas.
 */
#include "pass/changes.h"
#include "pass/hints.h"
#include "pass/pass.h"
#include "pass/ways.h"

enum { DEPTH = 24, STEPS = 16 };

static void trace_back(struct hint_reasons *r, LLVMValueRef value, uint64_t asked, unsigned depth);

/* True the first time. */
static bool is_new(struct hint_reasons *r, LLVMValueRef what)
{
	for (unsigned i = 0; i < r->seen_count; i++)
		if (r->seen[i] == what)
			return false;
	if (r->seen_count == sizeof r->seen / sizeof *r->seen) {
		r->lost = true;
		return false;
	}
	r->seen[r->seen_count++] = what;
	return true;
}

/* ---- places ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return (hash ^ value) * 0x100000001b3ull + 0x51ed2701;
}

/* Which elements of arrays they are makes no difference. */
static bool describe(LLVMValueRef pointer, struct hint_reason *reason)
{
	for (unsigned steps = 0; steps < STEPS; steps++) {
		bool constant = LLVMIsAConstantExpr(pointer) != NULL;
		LLVMOpcode code = constant                      ? LLVMGetConstOpcode(pointer)
				  : LLVMIsAInstruction(pointer) ? LLVMGetInstructionOpcode(pointer)
								: LLVMUnreachable;

		if (LLVMIsAGlobalVariable(pointer)) {
			reason->variable = pointer;
			reason->type = NULL;
			return true;
		}
		if (code == LLVMGetElementPtr) {
			LLVMTypeRef type = LLVMGetGEPSourceElementType(pointer);
			bool whole = LLVMGetTypeKind(type) == LLVMStructTypeKind;

			for (int n = whole ? 2 : 1; (whole || constant) && n < LLVMGetNumOperands(pointer);
			     n++) {
				LLVMValueRef index = LLVMGetOperand(pointer, (unsigned)n);

				if (LLVMIsAConstantInt(index))
					reason->member = mix(reason->member, LLVMConstIntGetZExtValue(index));
			}
			if (whole)
				reason->type = type;
		} else if (code != LLVMBitCast && code != LLVMAddrSpaceCast) {
			return reason->type != NULL;
		}
		pointer = LLVMGetOperand(pointer, 0);
	}
	return false;
}

/* What the address is computed of. */
static void trace_address(struct hint_reasons *r, LLVMValueRef pointer, unsigned depth)
{
	while (LLVMIsAGetElementPtrInst(pointer) || LLVMIsACastInst(pointer)) {
		for (int n = 1; n < LLVMGetNumOperands(pointer); n++)
			trace_back(r, LLVMGetOperand(pointer, (unsigned)n), 0, depth);
		pointer = LLVMGetOperand(pointer, 0);
	}
	if (!LLVMIsAAllocaInst(pointer))
		trace_back(r, pointer, 0, depth);
}

static void trace_shared(struct hint_reasons *r, LLVMValueRef load, uint64_t asked, unsigned depth)
{
	struct hint_reason reason = {.asked = asked};

	if (r->count == HINT_MOST || !describe(LLVMGetOperand(load, 0), &reason)) {
		r->lost = true;
		return;
	}
	r->at[r->count++] = reason;
	trace_address(r, LLVMGetOperand(load, 0), depth);
}

/* ---- variables of a function ---- */

struct passing {
	LLVMValueRef branch, to;
	unsigned way;
};

static enum ways_step visit(LLVMValueRef i, void *with)
{
	const struct passing *passing = with;

	if (i == passing->to)
		return WAYS_LOST;
	return i == passing->branch ? WAYS_STOP : WAYS_GO_ON;
}

/* Who gives up does not count. */
static enum ways_step visit_without(LLVMValueRef i, void *with)
{
	const struct passing *passing = with;

	if (i == passing->to || i == passing->branch)
		return WAYS_STOP;
	return LLVMIsAReturnInst(i) ? WAYS_LOST : WAYS_GO_ON;
}

static bool is_open(LLVMValueRef end, unsigned way, void *with)
{
	const struct passing *passing = with;

	return end != passing->branch || way == passing->way;
}

/* Does the branch decide whether the instruction is come to? By one way it is for certain, by another one the
 * function's end may be come to without it. */
static bool depends(LLVMValueRef function, LLVMValueRef branch, LLVMValueRef to)
{
	struct passing passing = {branch, to, 0};
	bool certain = false, without = false;

	for (; passing.way < LLVMGetNumSuccessors(branch); passing.way++) {
		bool leads = !ways_walk(function, branch, &(struct ways_visitor){visit, is_open, &passing});

		if (ways_walk(function, branch, &(struct ways_visitor){visit_without, is_open, &passing}))
			certain |= leads;
		else
			without = true;
	}
	return certain && without;
}

static void trace_control(struct hint_reasons *r, LLVMValueRef to, unsigned depth)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(to)), branches[HINT_MOST];
	unsigned count = 0;

	ways_begin(function);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);

		if (!(LLVMIsABranchInst(end) && LLVMIsConditional(end)) && !LLVMIsASwitchInst(end))
			continue;
		if (!depends(function, end, to))
			continue;
		if (count == HINT_MOST) {
			r->lost = true;
			break;
		}
		branches[count++] = end;
	}
	ways_end();
	for (unsigned i = 0; i < count && !r->lost; i++) {
		if (!is_new(r, branches[i]))
			continue;
		trace_back(r,
			   LLVMIsASwitchInst(branches[i]) ? LLVMGetOperand(branches[i], 0)
							  : LLVMGetCondition(branches[i]),
			   0, depth);
		/* And what decides whether the branch is come to. */
		if (depth)
			trace_control(r, branches[i], depth - 1);
		else
			r->lost = true;
	}
}

/* Has what is done there changed anything? */
static bool is_own_act(LLVMValueRef store)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetInstructionParent(store)); i;
	     i = LLVMGetNextInstruction(i))
		if (changes_by(i, NULL))
			return true;
	return false;
}

static void trace_variable(struct hint_reasons *r, LLVMValueRef variable, uint64_t asked, unsigned depth)
{
	unsigned stores = 0;

	if (!is_new(r, variable))
		return;
	for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		stores += LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == variable;
		if (!LLVMIsALoadInst(user) &&
		    !(util_is_call(user) && util_is_intrinsic(user, "llvm.lifetime")) &&
		    !(LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != variable))
			r->lost = true;
	}
	for (LLVMUseRef use = LLVMGetFirstUse(variable); use && !r->lost; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (!LLVMIsAStoreInst(user))
			continue;
		trace_back(r, LLVMGetOperand(user, 0), asked, depth);
		if (stores > 1 && !is_own_act(user))
			trace_control(r, user, depth);
	}
}

/* ---- values ---- */

static void trace_call(struct hint_reasons *r, LLVMValueRef call, uint64_t asked, unsigned depth)
{
	LLVMValueRef callee = util_callee(call);

	if (util_is_intrinsic(call, "llvm.expect")) {
		trace_back(r, LLVMGetOperand(call, 0), asked, depth);
		return;
	}
	if (!callee || LLVMIsDeclaration(callee)) {
		r->lost = true;
		return;
	}
	for (unsigned n = 0; n < LLVMGetNumArgOperands(call); n++)
		trace_address(r, LLVMGetOperand(call, n), depth);
	if (!is_new(r, callee))
		return;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(callee); b; b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);

		if (LLVMIsAReturnInst(end) && LLVMGetNumOperands(end))
			trace_back(r, LLVMGetOperand(end, 0), asked, depth);
	}
}

/* Which way was come from is decided by those ways' ends. */
static void trace_phi(struct hint_reasons *r, LLVMValueRef phi, unsigned depth)
{
	if (!is_new(r, phi))
		return;
	for (unsigned n = 0; n < LLVMCountIncoming(phi); n++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(phi, n));

		trace_back(r, LLVMGetIncomingValue(phi, n), 0, depth);
		if (LLVMIsABranchInst(end) && LLVMIsConditional(end))
			trace_back(r, LLVMGetCondition(end), 0, depth);
		trace_control(r, end, depth);
	}
}

/* `asked` passes through what only makes a value wider or narrower. */
static void trace_back(struct hint_reasons *r, LLVMValueRef value, uint64_t asked, unsigned depth)
{
	LLVMValueRef from;

	if (r->lost || !LLVMIsAInstruction(value))
		return;
	if (!depth--) {
		r->lost = true;
	} else if (LLVMIsALoadInst(value)) {
		from = LLVMGetOperand(value, 0);
		if (LLVMIsAAllocaInst(from))
			trace_variable(r, from, asked, depth);
		else
			trace_shared(r, value, asked, depth);
	} else if (LLVMIsAICmpInst(value)) {
		LLVMValueRef to = LLVMGetOperand(value, 1);
		bool equals =
			LLVMGetICmpPredicate(value) == LLVMIntEQ || LLVMGetICmpPredicate(value) == LLVMIntNE;

		asked = !equals || !LLVMIsAConstant(to) ? 0
			: LLVMIsAConstantInt(to)        ? mix(1, LLVMConstIntGetZExtValue(to)) | 1
							: mix(1, 0) | 1;
		trace_back(r, LLVMGetOperand(value, 0), asked, depth);
		trace_back(r, to, 0, depth);
	} else if (util_is_call(value)) {
		trace_call(r, value, asked, depth);
	} else if (LLVMIsAPHINode(value)) {
		trace_phi(r, value, depth);
	} else if (LLVMIsACastInst(value)) {
		trace_back(r, LLVMGetOperand(value, 0), asked, depth);
	} else if (LLVMIsABinaryOperator(value) || LLVMIsASelectInst(value) || LLVMIsAFCmpInst(value) ||
		   LLVMIsAGetElementPtrInst(value)) {
		for (int n = 0; n < LLVMGetNumOperands(value); n++)
			trace_back(r, LLVMGetOperand(value, (unsigned)n), 0, depth);
	} else {
		r->lost = true;
	}
}

void hint_reasons_of(struct hint_reasons *reasons, LLVMValueRef value)
{
	trace_back(reasons, value, 0, DEPTH);
}

void hint_reasons_at(struct hint_reasons *reasons, LLVMValueRef pointer)
{
	reasons->lost |= !describe(pointer, &reasons->at[reasons->count++]);
}

void hint_reasons_to_come(struct hint_reasons *reasons, LLVMValueRef instruction)
{
	trace_control(reasons, instruction, DEPTH);
}

bool hint_reasons_within(const struct hint_reasons *reasons, const struct hint_reasons *others)
{
	for (unsigned i = 0; i < reasons->count; i++) {
		const struct hint_reason *a = &reasons->at[i];
		unsigned k = 0;

		while (k < others->count &&
		       (others->at[k].variable != a->variable || others->at[k].type != a->type ||
			others->at[k].member != a->member || (a->asked && others->at[k].asked != a->asked)))
			k++;
		if (k == others->count)
			return false;
	}
	return true;
}
