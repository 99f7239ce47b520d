/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Static functions that are parts of units of their callers, though they have frames,
 * for they may synchronise: they call through a pointer, or what is not in this file.
 * A recursive sort with a comparison function is such: what one of its calls touches, the
 * outermost is a unit for, since that runs the same code. So it makes no difference whether
 * an access is the one's or the other's, and nothing begins or ends with the call (`part` in inlined.c).
 * The same holds for what a recursion calls, and for who begins one, as long as nothing but
 * what is reached from the callers' object is touched. But an object that is reached from several need not be
 * a part of theirs (src/model/owners.c), and then each call is a unit for it. Who
 * locks and unlocks between two calls means that, so nobody here may do so himself.
 *
 * The frame below tells at run time whether the call is on its object. Functions that are no units,
 * as main, may call it, too, if they have no receiver. It must be known who calls it.
 */
#include "pass/pass.h"
#include "pass/worth.h"

/* Is it the parameter, as it was given? In unoptimised code that stands in an alloca. */
static bool is_as_given(LLVMValueRef value, LLVMValueRef parameter)
{
	LLVMValueRef place;
	bool filled = false;

	if (value == parameter)
		return true;
	if (!LLVMIsALoadInst(value))
		return false;
	place = LLVMGetOperand(value, 0);
	if (!LLVMIsAAllocaInst(place))
		return false;
	for (LLVMUseRef use = LLVMGetFirstUse(place); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsALoadInst(user) || (util_is_call(user) && util_is_intrinsic(user, "llvm.lifetime")))
			continue;
		if (!LLVMIsAStoreInst(user) || LLVMGetOperand(user, 0) != parameter)
			return false;
		filled = true;
	}
	return filled;
}

static LLVMValueRef caller_of(LLVMValueRef call)
{
	return LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
}

/* One with a frame of its own at the time of the call. */
static bool is_framed(LLVMValueRef function)
{
	return worth_of(function)->frame && LLVMGetSubprogram(function) && !util_is_coroutine(function) &&
	       !select_function_ignored(function);
}

static bool is_static(LLVMValueRef function)
{
	return LLVMGetLinkage(function) == LLVMInternalLinkage && !worth_address_taken(function);
}

/* What a thread begins with is none, and has its address taken; so has what an annotation speaks of. Nor are
 * functions that do no more than test what they wait for. */
static bool is_unit(LLVMValueRef function)
{
	return is_static(function) && !waits_until(function) && !worth_of(function)->waits;
}

static bool calls_itself(LLVMValueRef function)
{
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use))
		if (util_is_call(LLVMGetUser(use)) && caller_of(LLVMGetUser(use)) == function)
			return true;
	return false;
}

/* For certain, by itself or by what it calls. */
static bool synchronises(LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (calls_surely_synchronise(i))
				return true;
	return false;
}

static bool is_on_own_receiver(LLVMValueRef call)
{
	LLVMValueRef caller = caller_of(call);
	const char *type;
	unsigned own = describe_receiver(caller, &type),
		 receiver = describe_receiver(util_callee(call), &type);

	return own != ATOMSAN_NO_RECEIVER &&
	       is_as_given(LLVMGetOperand(call, receiver), LLVMGetParam(caller, own));
}

/* By another unit of the same file, on its own receiver, in a recursion or where one begins. */
static bool is_called_within(LLVMValueRef call)
{
	LLVMValueRef caller = caller_of(call);

	return is_on_own_receiver(call) && is_unit(caller) && !synchronises(caller) &&
	       (calls_itself(caller) || calls_itself(util_callee(call))) && belongs_to_caller(call, false);
}

static bool has_receiver(LLVMValueRef function)
{
	const char *type;

	return describe_receiver(function, &type) != ATOMSAN_NO_RECEIVER;
}

/* What is handed to a function without a frame is accessed here. */
static bool hands_on_its_own(LLVMValueRef call)
{
	LLVMValueRef callee = util_callee(call);

	if (callee && !LLVMIsDeclaration(callee) && is_framed(callee))
		return true;
	for (unsigned n = 0; n < LLVMGetNumArgOperands(call); n++)
		if (!belongs_to_function(LLVMGetOperand(call, n)))
			return false;
	return true;
}

/* Is all that its own code touches reached from what it is given, or its own? */
static bool touches_its_own(LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			LLVMOpcode opcode = LLVMGetInstructionOpcode(i);

			if (opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg)
				return false;
			if ((opcode == LLVMLoad || opcode == LLVMStore) &&
			    !belongs_to_function(LLVMGetOperand(i, opcode == LLVMStore)))
				return false;
			if (util_is_call(i) && !hands_on_its_own(i))
				return false;
		}
	}
	return true;
}

/* Calls of itself on another object are none of its own: the frame below tells. */
static bool is_called_as_part(LLVMValueRef function)
{
	bool by_itself = false, by_others = false;

	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef call = LLVMGetUser(use);

		if (!is_framed(caller_of(call)))
			return false;
		if (caller_of(call) == function)
			by_itself |= is_on_own_receiver(call);
		else if (is_called_within(call))
			by_others = true;
		else if (has_receiver(caller_of(call)))
			return false;
	}
	return by_others ? touches_its_own(function) : by_itself;
}

bool part_is(LLVMValueRef function)
{
	return is_framed(function) && is_static(function) && has_receiver(function) &&
	       describe_argument(function) == ATOMSAN_NO_RECEIVER && !worth_of_the_library(function) &&
	       !waits_until(function) && !*waits_function(function, calls_on(function)) &&
	       !synchronises(function) && is_called_as_part(function);
}
