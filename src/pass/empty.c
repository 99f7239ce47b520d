/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Late: frames in which nothing is left to be told of. A function that gets a
 * pointer is worth a frame until it is inlined and the pointer turns out to lead
 * to the caller's own locals. Its marks would then cost time and make the caller's next
 * accesses news again, and those in a loop could not be told in front of it
 * (loops.c).
 */
#include "pass/emit.h"
#include "pass/pass.h"

#include <stdlib.h>

/* Blocks between a mark and its exits; a frame with more is kept. */
enum { REACH = 24 };

struct frame {
	LLVMValueRef enter, second;    /* the frame for another argument, or NULL */
	LLVMBasicBlockRef seen[REACH]; /* from their beginning on */
	unsigned count;
};

static bool is_mark(LLVMValueRef i, const char *hook)
{
	return LLVMIsACallInst(i) && util_callee(i) == emit_hook(hook);
}

static bool is_exit(LLVMValueRef i)
{
	return is_mark(i, "__atomsan_inl_exit") || is_mark(i, "__atomsan_inl_part_exit");
}

static bool quiet_call(LLVMValueRef call)
{
	static const char *const loud[] = {"llvm.masked", "llvm.eh.", "llvm.coro.", "llvm.objc", NULL};

	if (!util_callee(call) || !LLVMGetIntrinsicID(util_callee(call)) ||
	    util_named_like(util_callee(call), loud))
		return false;
	/* Its end is nothing to tell, its beginning is where others may see it (see object() in
	 * instrument.c). */
	if (util_is_intrinsic(call, "llvm.lifetime.start"))
		return private_pointer(LLVMGetOperand(call, LLVMGetNumArgOperands(call) - 1));
	if (util_is_intrinsic(call, "llvm.memset"))
		return private_pointer(LLVMGetOperand(call, 0));
	if (util_is_intrinsic(call, "llvm.mem"))
		return private_pointer(LLVMGetOperand(call, 0)) && private_pointer(LLVMGetOperand(call, 1));
	return true;
}

/* Does the instruction do nothing that anybody is told of? */
static bool quiet(LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
		return !LLVMIsAtomic(i) && private_pointer(LLVMGetOperand(i, 0));
	case LLVMStore:
		return !LLVMIsAtomic(i) && private_pointer(LLVMGetOperand(i, 1));
	case LLVMCall:
		return quiet_call(i);
	case LLVMFence:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
	case LLVMInvoke:
	case LLVMCallBr:
	case LLVMLandingPad:
	case LLVMResume:
	case LLVMRet: /* without an exit: not ours to understand */
	case LLVMIndirectBr:
		return false;
	default:
		return true;
	}
}

/* The rest of a block, from an instruction on, and what follows it, up to the exits. */
static bool quiet_from(struct frame *frame, LLVMValueRef i)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(i);
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);

	for (; i; i = LLVMGetNextInstruction(i)) {
		if (is_exit(i) && LLVMGetOperand(i, 0) == frame->enter)
			return true;
		if (i == frame->enter)
			return false;
		/* A second frame goes with the first, and nothing says so but the place where it stands. */
		if (i == LLVMGetNextInstruction(frame->enter) && is_mark(i, "__atomsan_inl_enter") &&
		    !LLVMGetFirstUse(i))
			frame->second = i;
		else if (!quiet(i))
			return false;
	}
	for (unsigned n = 0; n < LLVMGetNumSuccessors(end); n++) {
		LLVMBasicBlockRef next = LLVMGetSuccessor(end, n);
		unsigned at = 0;

		while (at < frame->count && frame->seen[at] != next)
			at++;
		if (at < frame->count)
			continue;
		if (frame->count == REACH)
			return false;
		frame->seen[frame->count++] = next;
		if (!quiet_from(frame, LLVMGetFirstInstruction(next)))
			return false;
	}
	return true;
}

/* Nobody but exits may know the frame: a landing pad that comes back to it does. */
static bool only_left(LLVMValueRef enter)
{
	for (LLVMUseRef use = LLVMGetFirstUse(enter); use; use = LLVMGetNextUse(use))
		if (!is_exit(LLVMGetUser(use)))
			return false;
	return true;
}

static void drop(LLVMValueRef enter)
{
	struct frame frame = {.enter = enter};
	LLVMUseRef use;

	/* A second frame, without an exit, is not looked at by itself. */
	if (!LLVMGetFirstUse(enter) || !only_left(enter) ||
	    !quiet_from(&frame, LLVMGetNextInstruction(enter)))
		return;
	while ((use = LLVMGetFirstUse(enter)))
		LLVMInstructionEraseFromParent(LLVMGetUser(use));
	LLVMInstructionEraseFromParent(enter);
	if (frame.second)
		LLVMInstructionEraseFromParent(frame.second);
}

void empty_frames_drop(LLVMValueRef *enters, size_t count)
{
	/* The inner ones first: marks are in the way of the outer. */
	while (count--)
		drop(enters[count]);
}
