/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pass/statistic.h"
#include "pass/hints.h"
#include "pass/pass.h"

enum {
	ALIKE = 6, /* steps in which an address is computed */
	STEPS = 6, /* that a value takes to a branch, by variables */
};

/* The load of what the store adds a constant to, and puts back; or NULL. */
static LLVMValueRef counted(LLVMValueRef store)
{
	LLVMValueRef sum = LLVMGetOperand(store, 0), load;

	if (!LLVMIsABinaryOperator(sum) ||
	    (LLVMGetInstructionOpcode(sum) != LLVMAdd && LLVMGetInstructionOpcode(sum) != LLVMSub) ||
	    !LLVMIsAConstantInt(LLVMGetOperand(sum, 1)))
		return NULL;
	load = LLVMGetOperand(sum, 0);
	return LLVMIsALoadInst(load) && util_alike(LLVMGetOperand(load, 0), LLVMGetOperand(store, 1), ALIKE)
		       ? load
		       : NULL;
}

static bool decides(LLVMValueRef value, unsigned steps);

/* Does what the variable holds decide? */
static bool variable_decides(LLVMValueRef variable, unsigned steps)
{
	for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use))
		if (LLVMIsALoadInst(LLVMGetUser(use)) && decides(LLVMGetUser(use), steps))
			return true;
	return false;
}

/* Does a branch depend on the value, as far as the function shows? What is returned, or handed to another
 * one, is told to somebody, as statistics are. */
static bool decides(LLVMValueRef value, unsigned steps)
{
	if (!steps)
		return true;
	for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsABranchInst(user) || LLVMIsASwitchInst(user) || LLVMIsASelectInst(user) ||
		    LLVMIsAGetElementPtrInst(user) || LLVMIsAPHINode(user))
			return true;
		if (LLVMIsAStoreInst(user) && LLVMIsAAllocaInst(private_base(LLVMGetOperand(user, 1)))
			    ? variable_decides(private_base(LLVMGetOperand(user, 1)), steps - 1)
			    : (LLVMIsABinaryOperator(user) || LLVMIsACastInst(user) ||
			       LLVMIsACmpInst(user)) &&
				      decides(user, steps - 1))
			return true;
	}
	return false;
}

static bool same_place(const struct hint_reasons *one, LLVMValueRef pointer)
{
	struct hint_reasons other = {.count = 0};

	if (LLVMIsAAllocaInst(private_base(pointer)))
		return false;
	hint_reasons_at(&other, pointer);
	return !other.lost && hint_reasons_within(one, &other);
}

/* Does the instruction do more with the number than to count, or to tell it? */
static bool is_used(LLVMValueRef i, const struct hint_reasons *place)
{
	if (LLVMIsALoadInst(i))
		return same_place(place, LLVMGetOperand(i, 0)) && decides(i, STEPS);
	if (LLVMIsAStoreInst(i))
		return same_place(place, LLVMGetOperand(i, 1)) && !LLVMIsAConstant(LLVMGetOperand(i, 0)) &&
		       !counted(i);
	if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
		return same_place(place, LLVMGetOperand(i, 0));
	return false;
}

bool statistic_adds(LLVMValueRef instruction)
{
	struct hint_reasons place = {.count = 0};
	LLVMModuleRef module;

	if (!LLVMIsAStoreInst(instruction) || !counted(instruction))
		return false;
	hint_reasons_at(&place, LLVMGetOperand(instruction, 1));
	if (place.lost)
		return false;
	module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction)));
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
				if (is_used(i, &place))
					return false;
	return true;
}
