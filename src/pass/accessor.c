/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Plain getters and setters: straight-line code that calls nobody and does
 * nothing but read, or nothing but write, a member or two of the object that a
 * parameter points to. Their callers do the work; what is atomic is decided
 * there. Asked of unoptimised code, where each parameter has an alloca.
 */
#include "pass/pass.h"

enum { MOST_ACCESSES = 2 };

/* A parameter's value: itself, or a load from where it was put on entry. */
static bool is_parameter(LLVMValueRef value)
{
	LLVMValueRef place;

	if (LLVMIsAArgument(value))
		return true;
	if (!LLVMIsALoadInst(value))
		return false;
	place = LLVMGetOperand(value, 0);
	if (!LLVMIsAAllocaInst(place) || private_escapes(place))
		return false;
	for (LLVMUseRef use = LLVMGetFirstUse(place); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsAStoreInst(user) && !LLVMIsAArgument(LLVMGetOperand(user, 0)))
			return false;
	}
	return true;
}

/* Counts an access that others could see; false if it is not one of a plain accessor's. */
static bool counts(LLVMValueRef pointer, unsigned *count)
{
	if (private_pointer(pointer))
		return true;
	++*count;
	return is_parameter(private_base(pointer));
}

bool accessor_is(LLVMValueRef function)
{
	LLVMBasicBlockRef block = LLVMGetEntryBasicBlock(function);
	unsigned reads = 0, writes = 0;

	if (LLVMGetNextBasicBlock(block) || LLVMIsFunctionVarArg(LLVMGlobalGetValueType(function)))
		return false;
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
		switch (LLVMGetInstructionOpcode(i)) {
		case LLVMLoad:
			if (!counts(LLVMGetOperand(i, 0), &reads))
				return false;
			break;
		case LLVMStore:
			if (!counts(LLVMGetOperand(i, 1), &writes))
				return false;
			break;
		case LLVMCall:
			if (!util_callee(i) || !LLVMGetIntrinsicID(util_callee(i)) ||
			    util_is_intrinsic(i, "llvm.mem"))
				return false;
			break;
		case LLVMInvoke:
		case LLVMAtomicRMW:
		case LLVMAtomicCmpXchg:
		case LLVMFence:
			return false;
		default:
			break;
		}
	}
	return reads + writes && reads + writes <= MOST_ACCESSES && (!reads || !writes);
}
