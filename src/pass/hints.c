/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls that are made because of a hint. Who has added something sees under its
 * lock that the table has become full, gives the lock back, and calls a function
 * that takes a lock for all of the table, looks whether it is full, and makes it
 * larger. What was seen first is a reason to call, and no more: the function
 * looks again. In a trace the caller is torn apart between seeing and changing.
 * The code shows that nothing is carried over:
 *
 *  - The function is given nothing but an object that its caller was given, says
 *    nothing, and is the last thing that its caller does to what others could see.
 *  - It takes a lock before it looks at anything, and changes nothing unless what
 *    it looks at then says so.
 *  - The caller keeps what it has seen to itself (hint_keeps.c).
 *  - Whatever decided that it is called (hint_reasons.c) is among what it looks at,
 *    and there is something.
 *
 * Asked of unoptimised code, before anything in the module is marked.
 */
#include "pass/hints.h"
#include "pass/changes.h"
#include "pass/pass.h"
#include "pass/ways.h"

#include <stdlib.h>

static struct hint {
	LLVMValueRef function, call;
} *hints;
static size_t count, room;

static bool looks(LLVMValueRef i)
{
	return LLVMIsALoadInst(i) && !LLVMIsAAllocaInst(private_base(LLVMGetOperand(i, 0)));
}

/* ---- the call ---- */

/* What the caller was given, whole or a part of it, or a variable, or a constant. */
static bool is_handed_on(LLVMValueRef value)
{
	LLVMValueRef base = value, stored = NULL;

	for (; LLVMIsAGetElementPtrInst(base); base = LLVMGetOperand(base, 0))
		for (int n = 1; n < LLVMGetNumOperands(base); n++)
			if (!LLVMIsAConstantInt(LLVMGetOperand(base, (unsigned)n)))
				return false;
	if (!LLVMIsALoadInst(base))
		return !LLVMIsAInstruction(base);
	base = LLVMGetOperand(base, 0);
	if (!LLVMIsAAllocaInst(base))
		return false;
	for (LLVMUseRef use = LLVMGetFirstUse(base); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (!LLVMIsAStoreInst(user))
			continue;
		if (stored || LLVMGetOperand(user, 1) != base)
			return false;
		stored = LLVMGetOperand(user, 0);
	}
	return stored && LLVMIsAArgument(stored);
}

static bool has_plain_arguments(LLVMValueRef call)
{
	unsigned objects = 0;

	for (unsigned n = 0; n < LLVMGetNumArgOperands(call); n++) {
		LLVMValueRef argument = LLVMGetOperand(call, n);

		if (LLVMIsAConstantInt(argument))
			continue;
		if (objects++ || LLVMGetTypeKind(LLVMTypeOf(argument)) != LLVMPointerTypeKind ||
		    !is_handed_on(argument))
			return false;
	}
	return true;
}

static enum ways_step visit_behind(LLVMValueRef i, void *unused)
{
	(void)unused;
	return looks(i) || (util_is_call(i) && calls_synchronise(i)) || changes_by(i, NULL) ? WAYS_LOST
											    : WAYS_GO_ON;
}

static bool is_last(LLVMValueRef function, LLVMValueRef call)
{
	bool last;

	ways_begin(function);
	last = ways_walk(function, call, &(struct ways_visitor){visit_behind, NULL, NULL});
	ways_end();
	return last;
}

/* ---- the function that is called ---- */

static enum ways_step visit_first(LLVMValueRef i, void *unused)
{
	(void)unused;
	if (calls_surely_synchronise(i))
		return WAYS_STOP;
	/* By a pointer it may come to the lock. */
	return (looks(i) && LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMPointerTypeKind) || changes_by(i, NULL)
		       ? WAYS_LOST
		       : WAYS_GO_ON;
}

struct passing {
	LLVMValueRef branch;
	unsigned way;
};

static enum ways_step visit_change(LLVMValueRef i, void *with)
{
	const struct passing *passing = with;

	if (i == passing->branch)
		return WAYS_STOP;
	return changes_by(i, NULL) ? WAYS_LOST : WAYS_GO_ON;
}

static bool is_open(LLVMValueRef end, unsigned way, void *with)
{
	const struct passing *passing = with;

	return end != passing->branch || way == passing->way;
}

/* Is nothing changed but by way of this branch, and nothing if it goes one of its ways? */
static bool decides(LLVMValueRef function, LLVMValueRef branch)
{
	struct passing passing = {branch, 0};
	struct ways_visitor visitor = {visit_change, is_open, &passing};

	if (!ways_walk(function, NULL, &visitor))
		return false;
	for (; passing.way < 2; passing.way++)
		if (ways_walk(function, branch, &visitor))
			return true;
	return false;
}

static bool looks_again(LLVMValueRef function, const struct hint_reasons *why)
{
	struct hint_reasons again = {.count = 0};
	LLVMValueRef branches[HINT_MOST];
	unsigned found = 0;
	bool locks;

	ways_begin(function);
	locks = ways_walk(function, NULL, &(struct ways_visitor){visit_first, NULL, NULL});
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); locks && b;
	     b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);

		if (LLVMIsABranchInst(end) && LLVMIsConditional(end) && found < HINT_MOST &&
		    decides(function, end))
			branches[found++] = end;
	}
	ways_end();
	for (unsigned i = 0; i < found; i++)
		hint_reasons_of(&again, LLVMGetCondition(branches[i]));
	return found && hint_reasons_within(why, &again);
}

/* ---- all of a module ---- */

static bool is_hint(LLVMValueRef function, LLVMValueRef call)
{
	struct hint_reasons why = {.count = 0};
	LLVMValueRef callee = util_callee(call);

	if (!callee || callee == function || LLVMIsDeclaration(callee) || LLVMGetFirstUse(call) ||
	    !calls_surely_synchronise(call) || !util_has_room_behind(call) || !has_plain_arguments(call) ||
	    !is_last(function, call))
		return false;
	hint_reasons_to_come(&why, call);
	return !why.lost && why.count && looks_again(callee, &why) && hint_keeps(function, call);
}

void hints_collect(LLVMModuleRef module)
{
	hints_forget();
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		private_forget();
		for (LLVMBasicBlockRef b = LLVMIsDeclaration(f) || select_function_ignored(f)
						   ? NULL
						   : LLVMGetFirstBasicBlock(f);
		     b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
				if (!util_is_call(i) || !is_hint(f, i))
					continue;
				if (count == room) {
					room = room ? room * 2 : 16;
					hints = realloc(hints, room * sizeof *hints);
				}
				hints[count++] = (struct hint){f, i};
			}
	}
}

unsigned hints_find(LLVMValueRef function, LLVMValueRef *calls, unsigned most)
{
	unsigned found = 0;

	for (size_t i = 0; i < count && found < most; i++)
		if (hints[i].function == function)
			calls[found++] = hints[i].call;
	return found;
}

void hints_forget(void)
{
	free(hints);
	hints = NULL;
	count = room = 0;
}
