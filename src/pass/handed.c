/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Does a number that a function is given lead to data? It does if an address is
 * computed from it, if it is looked for (compared with what is read from
 * memory), if it says how far a loop goes (peek(stack, n) goes down n nodes), or
 * if it is handed on to who does that. A number that is kept as a value, added
 * up, or only compared with constants and other parameters leads nowhere: it
 * counts.
 *
 * Asked of unoptimised code, where parameters and locals are allocas. What
 * cannot be followed leads.
 */
#include "pass/iterations.h"
#include "pass/pass.h"
#include "pass/ways.h"

enum { MOST_DEPTH = 4, MOST_FUNCTIONS = 64, MOST_VALUES = 64, MOST_STEPS = 8 };

/* What holds the number, or something that was computed from it. */
struct holders {
	LLVMValueRef items[MOST_VALUES]; /* values, and allocas or pointers into them */
	unsigned count;
	bool full;
};

static void add(struct holders *list, LLVMValueRef item)
{
	for (unsigned i = 0; i < list->count; i++)
		if (list->items[i] == item)
			return;
	if (list->count == MOST_VALUES)
		list->full = true;
	else
		list->items[list->count++] = item;
}

static bool is_place(LLVMValueRef value)
{
	return LLVMIsAAllocaInst(private_base(value));
}

/* Made of parameters and constants: whoever is compared with it is not looked for. */
static bool is_plain(LLVMValueRef value, unsigned steps)
{
	if (!LLVMIsAInstruction(value))
		return LLVMIsConstant(value) || LLVMIsAArgument(value);
	if (!steps)
		return false;
	if (LLVMIsALoadInst(value)) {
		LLVMValueRef place = LLVMGetOperand(value, 0);

		if (!LLVMIsAAllocaInst(place))
			return false;
		for (LLVMUseRef use = LLVMGetFirstUse(place); use; use = LLVMGetNextUse(use)) {
			LLVMValueRef user = LLVMGetUser(use);

			if (LLVMIsALoadInst(user) ||
			    (util_is_call(user) && util_is_intrinsic(user, "llvm.lifetime")))
				continue;
			if (!LLVMIsAStoreInst(user) || LLVMGetOperand(user, 1) != place ||
			    !is_plain(LLVMGetOperand(user, 0), steps - 1))
				return false;
		}
		return true;
	}
	if (!LLVMIsABinaryOperator(value) && !LLVMIsACastInst(value))
		return false;
	for (int i = 0; i < LLVMGetNumOperands(value); i++)
		if (!is_plain(LLVMGetOperand(value, (unsigned)i), steps - 1))
			return false;
	return true;
}

static enum ways_step visit_again(LLVMValueRef i, void *with)
{
	return i == with ? WAYS_LOST : WAYS_GO_ON;
}

static bool is_in_loop(LLVMValueRef i)
{
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(i));
	bool again;

	ways_begin(function);
	again = !ways_walk(function, i, &(struct ways_visitor){visit_again, NULL, i});
	ways_end();
	return again;
}

static bool leads_in(LLVMValueRef parameter, unsigned depth, unsigned *functions);

static bool leads_called(LLVMValueRef call, LLVMValueRef value, unsigned depth, unsigned *functions)
{
	LLVMValueRef callee = util_callee(call);

	/* Arithmetic that has no instruction of its own. */
	if (callee && LLVMGetIntrinsicID(callee))
		return util_is_intrinsic(call, "llvm.mem");
	if (!callee || LLVMIsDeclaration(callee) || !depth)
		return true;
	for (unsigned n = 0; n < LLVMGetNumArgOperands(call); n++)
		if (LLVMGetOperand(call, n) == value &&
		    (n >= LLVMCountParams(callee) || leads_in(LLVMGetParam(callee, n), depth - 1, functions)))
			return true;
	return false;
}

/* A use of a local that holds it: by its name alone. */
static bool leads_from(struct holders *list, LLVMValueRef user, LLVMValueRef place)
{
	if (LLVMIsALoadInst(user) || LLVMIsAGetElementPtrInst(user)) {
		add(list, user);
		return false;
	}
	if (LLVMIsAStoreInst(user))
		return LLVMGetOperand(user, 0) == place;
	return !util_is_call(user) || !util_is_intrinsic(user, "llvm.lifetime");
}

static bool leads_by(struct holders *list, LLVMValueRef user, LLVMValueRef value, unsigned depth,
		     unsigned *functions)
{
	switch (LLVMGetInstructionOpcode(user)) {
	case LLVMStore:
		if (LLVMGetOperand(user, 1) == value)
			return true;
		if (is_place(LLVMGetOperand(user, 1)))
			add(list, private_base(LLVMGetOperand(user, 1)));
		return false;
	case LLVMAtomicRMW:
		return LLVMGetOperand(user, 0) == value;
	case LLVMICmp:
	case LLVMFCmp:
		add(list, user);
		return !is_plain(LLVMGetOperand(user, LLVMGetOperand(user, 0) == value), MOST_STEPS) ||
		       is_in_loop(user);
	case LLVMCall:
	case LLVMInvoke:
		add(list, user);
		return leads_called(user, value, depth, functions);
	case LLVMSelect:
	case LLVMPHI:
	case LLVMFreeze:
	case LLVMFNeg:
	case LLVMExtractValue:
	case LLVMInsertValue:
		add(list, user);
		return LLVMGetTypeKind(LLVMTypeOf(user)) == LLVMPointerTypeKind;
	/* Whoever called gets it as the call's result. */
	case LLVMRet:
		return false;
	case LLVMBr:
	case LLVMSwitch:
		return is_in_loop(user);
	default:
		add(list, user);
		return !LLVMIsABinaryOperator(user) && (!LLVMIsACastInst(user) || LLVMIsAIntToPtrInst(user));
	}
}

static bool leads_in(LLVMValueRef parameter, unsigned depth, unsigned *functions)
{
	struct holders list = {{parameter}, 1, false};

	if (!(*functions)--)
		return true;
	for (unsigned i = 0; i < list.count; i++) {
		LLVMValueRef value = list.items[i];

		for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
			LLVMValueRef user = LLVMGetUser(use);

			if (is_place(value) ? leads_from(&list, user, value)
					    : leads_by(&list, user, value, depth, functions))
				return true;
		}
	}
	return list.full;
}

bool handed_leads(LLVMValueRef call, unsigned n)
{
	LLVMValueRef callee = util_callee(call);
	unsigned functions = MOST_FUNCTIONS;

	return !callee || LLVMIsDeclaration(callee) || n >= LLVMCountParams(callee) ||
	       LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, n))) == LLVMPointerTypeKind ||
	       leads_in(LLVMGetParam(callee, n), MOST_DEPTH, &functions);
}
