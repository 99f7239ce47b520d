/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Functions that pass a thread on: they call, once and not in a loop, what their
 * argument is or leads to. Who wraps pthread_create begins every thread with one
 * of these; the function that the thread was made for is the one that is called.
 * (A worker of a thread pool calls what it is given as well, but in a loop: those
 * are its jobs.) Asked of unoptimised code, where each variable has an alloca.
 */
#include "pass/flow.h"
#include "pass/pass.h"

enum { FARTHEST = 12 };

static bool leads_back(LLVMValueRef value, unsigned left);

/* Something that was put into the variable comes from a parameter. */
static bool filled_from(LLVMValueRef variable, unsigned left)
{
	for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		/* memcpy and memmove: the copy of a struct. */
		if ((LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == variable &&
		     leads_back(LLVMGetOperand(user, 0), left)) ||
		    (LLVMIsAMemCpyInst(user) && LLVMGetOperand(user, 0) == variable &&
		     leads_back(LLVMGetOperand(user, 1), left)))
			return true;
	}
	return false;
}

static bool leads_back(LLVMValueRef value, unsigned left)
{
	if (!left)
		return false;
	if (LLVMIsAArgument(value))
		return true;
	if (LLVMIsAAllocaInst(value))
		return filled_from(value, left - 1);
	if (LLVMIsALoadInst(value) || LLVMIsAGetElementPtrInst(value) || LLVMIsACastInst(value))
		return leads_back(LLVMGetOperand(value, 0), left - 1);
	return false;
}

static bool in_a_loop(LLVMValueRef function, LLVMValueRef call)
{
	struct flow flow;
	unsigned block;
	bool inside;

	if (!flow_init(&flow, function))
		return false;
	block = flow_number(&flow, LLVMGetInstructionParent(call));
	inside = block != FLOW_NONE && flow.inner[block] != FLOW_NONE;
	flow_release(&flow);
	return inside;
}

bool passes_on(LLVMValueRef function)
{
	if (LLVMCountParams(function) != 1)
		return false;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (util_is_call(i) && !util_callee(i) && !LLVMIsAInlineAsm(LLVMGetCalledValue(i)) &&
			    leads_back(LLVMGetCalledValue(i), FARTHEST) && !in_a_loop(function, i))
				return true;
	return false;
}
