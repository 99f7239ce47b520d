/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Marks where functions begin and end, as calls that the optimiser carries
 * along when it inlines. The late pass turns them into code. To the optimiser
 * they read and write what other threads could see, and nothing else: an access
 * of an inlined function stays within its unit of work, while what is private to
 * the thread moves across. Marks of iterations touch nothing that the program
 * can see: a loop that synchronises has calls which hold its accesses in place.
 *
 * A frame that is left by an exception or by longjmp never meets its exit
 * mark; where control comes back (a landing pad, a second return of setjmp) a
 * mark puts the frames right again. Iterations of loops have frames as well
 * (iterations.c).
 */
#include "pass/hints.h"
#include "pass/iterations.h"
#include "pass/pass.h"
#include "pass/worth.h"

#include <string.h>

static LLVMTypeRef type_of(LLVMContextRef context, const char *name)
{
	LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0), number = LLVMInt64TypeInContext(context);
	LLVMTypeRef none = LLVMVoidTypeInContext(context);

	if (!strcmp(name, MARK_ENTER) || !strcmp(name, MARK_PART) || !strcmp(name, MARK_LOOP) ||
	    !strcmp(name, MARK_WALK))
		return LLVMFunctionType(pointer, (LLVMTypeRef[]){pointer, pointer}, 2, false);
	if (!strcmp(name, MARK_HERE))
		return LLVMFunctionType(pointer, NULL, 0, false);
	if (!strcmp(name, MARK_SINCE))
		return LLVMFunctionType(number, NULL, 0, false);
	if (!strcmp(name, MARK_NEXT) || !strcmp(name, MARK_GO_ON))
		return LLVMFunctionType(number, (LLVMTypeRef[]){pointer, pointer, pointer, number}, 4, false);
	if (!strcmp(name, MARK_LEAVE) || !strcmp(name, MARK_DONE))
		return LLVMFunctionType(none, (LLVMTypeRef[]){pointer, number}, 2, false);
	return LLVMFunctionType(none, &pointer, 1, false);
}

/* Reading and writing in LLVM's encoding of memory(...), two bits for each kind of location. */
enum { MEMORY_INACCESSIBLE = 3 << 2, MEMORY_OTHER = 3 << 6 };

/* Must accesses of the function stay on their side of the mark? */
static bool holds(const char *name)
{
	return !strcmp(name, MARK_ENTER) || !strcmp(name, MARK_EXIT) || !strcmp(name, MARK_PART) ||
	       !strcmp(name, MARK_PART_EXIT);
}

static LLVMValueRef declare(LLVMModuleRef module, const char *name)
{
	LLVMTypeRef type = type_of(LLVMGetModuleContext(module), name);
	LLVMValueRef function = LLVMGetNamedFunction(module, name);

	if (function)
		return function;
	function = LLVMAddFunction(module, name, type);
	util_add_attribute(function, "nounwind");
	util_add_attribute(function, "willreturn");
	util_add_attribute(function, "nocallback");
	LLVMAddAttributeAtIndex(
		function, LLVMAttributeFunctionIndex,
		util_attribute(module, "memory", MEMORY_INACCESSIBLE | (holds(name) ? MEMORY_OTHER : 0)));
	/* Frames and receivers are only noted down. */
	for (unsigned i = 0; i < LLVMCountParams(function); i++)
		if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(function, i))) == LLVMPointerTypeKind)
			LLVMAddAttributeAtIndex(function, i + 1, util_attribute(module, "captures", 0));
	return function;
}

LLVMValueRef mark_build(LLVMBuilderRef builder, LLVMModuleRef module, const char *name,
			LLVMValueRef *arguments)
{
	LLVMValueRef function = declare(module, name);

	return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, arguments,
			      LLVMCountParams(function), "");
}

/* Does somebody call it who does not know which function it is? */
static bool given(LLVMValueRef function)
{
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (util_is_call(user) &&
		    worth_of_the_library(LLVMGetBasicBlockParent(LLVMGetInstructionParent(user))))
			return true;
	}
	return worth_address_taken(function);
}

/* The parameter of a function that begins a thread which is the function to begin with; -1: it begins none.
 */
static int start_parameter(LLVMValueRef call)
{
	LLVMValueRef callee = util_callee(call);
	const char *name;
	size_t length;

	if (!callee)
		return -1;
	name = LLVMGetValueName2(callee, &length);
	return !strcmp(name, "pthread_create") ? 2 : !strcmp(name, "thrd_create") ? 1 : -1;
}

static bool begins_threads(LLVMValueRef function)
{
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		int at;

		if (!LLVMIsACallInst(user) && !LLVMIsAInvokeInst(user))
			continue;
		at = start_parameter(user);
		if (at >= 0 && LLVMGetNumArgOperands(user) > (unsigned)at &&
		    LLVMGetOperand(user, (unsigned)at) == function)
			return true;
	}
	return false;
}

/* The place before the return, and before a tail call that must stay next to it. */
static LLVMValueRef leaving_point(LLVMValueRef terminator)
{
	LLVMValueRef before = LLVMGetPreviousInstruction(terminator);

	if (before && LLVMIsACallInst(before) && LLVMGetTailCallKind(before) == LLVMTailCallKindMustTail)
		return before;
	return terminator;
}

enum { MOST_SEARCHES = 8, MOST_RESUMES = 16 };

/* Calls that let a coroutine go on. */
static unsigned find_resumes(LLVMValueRef function, LLVMValueRef *found)
{
	unsigned count = 0;

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (count < MOST_RESUMES && calls_coroutine(i) && util_has_room_behind(i))
				found[count++] = i;
	return count;
}

/* A frame around a call. */
static void mark_call(LLVMBuilderRef builder, LLVMModuleRef module, LLVMValueRef function, LLVMValueRef call,
		      unsigned flags)
{
	LLVMValueRef behind = LLVMIsAInvokeInst(call) ? LLVMGetFirstInstruction(LLVMGetNormalDest(call))
						      : LLVMGetNextInstruction(call);
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(call);
	LLVMValueRef frame, arguments[2];

	arguments[0] = sites_function(module, function, location ? LLVMDILocationGetLine(location) : 0, flags,
				      0, "");
	arguments[1] = LLVMConstNull(LLVMPointerTypeInContext(LLVMGetModuleContext(module), 0));
	LLVMPositionBuilderBefore(builder, call);
	LLVMSetCurrentDebugLocation2(builder, location);
	frame = mark_build(builder, module, MARK_ENTER, arguments);
	LLVMPositionBuilderBefore(builder, behind);
	mark_build(builder, module, MARK_EXIT, &frame);
}

/* Where control comes back in this block, to this frame or to that of the loop around it. */
static void mark_back(LLVMBuilderRef builder, LLVMModuleRef module, LLVMBasicBlockRef block,
		      LLVMValueRef frame, struct iterations *loops)
{
	LLVMValueRef next;

	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
		bool back = LLVMGetInstructionOpcode(i) == LLVMLandingPad ||
			    (LLVMIsACallInst(i) && i != frame && worth_returns_twice(i));
		LLVMValueRef around;

		next = LLVMGetNextInstruction(i);
		if (!back || !next)
			continue;
		LLVMPositionBuilderBefore(builder, next);
		LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(i));
		around = loops ? iterations_frame(loops, builder, block) : NULL;
		if (!around)
			around = frame;
		mark_build(builder, module, MARK_BACK, &around);
	}
}

/* Where the function's own marks go, with its first line. */
static LLVMBuilderRef at_entry(LLVMValueRef function)
{
	LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
	LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));

	while (LLVMIsAAllocaInst(first))
		first = LLVMGetNextInstruction(first);
	LLVMPositionBuilderBefore(builder, first);
	LLVMSetCurrentDebugLocation2(
		builder, LLVMDIBuilderCreateDebugLocation(context, LLVMDISubprogramGetLine(subprogram), 0,
							  subprogram, NULL));
	return builder;
}

/* What has no frame of its own comes back to its caller's. */
static void mark_way_back(LLVMValueRef function)
{
	LLVMModuleRef module = LLVMGetGlobalParent(function);
	LLVMBuilderRef builder = at_entry(function);
	LLVMValueRef here = mark_build(builder, module, MARK_HERE, NULL);

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		mark_back(builder, module, b, here, NULL);
	LLVMDisposeBuilder(builder);
}

void mark_function(LLVMValueRef function)
{
	LLVMModuleRef module = LLVMGetGlobalParent(function);
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
	LLVMBuilderRef builder;
	LLVMValueRef arguments[2], frame, innermost;
	struct iterations *loops;
	const struct worth *worth;
	const char *type;
	unsigned receiver, argument, searched, resumed;
	LLVMValueRef again[MOST_SEARCHES], resumes[MOST_RESUMES];
	bool part;

	/* A coroutine may go on in another thread, whose frames are others. */
	if (util_is_coroutine(function))
		return;
	worth = worth_of(function);
	if (subprogram && !worth->frame && worth->comes_back)
		mark_way_back(function);
	if (!subprogram || !worth->frame)
		return;
	receiver = describe_receiver(function, &type);
	part = part_is(function);
	builder = at_entry(function);
	searched = again_find(function, again, MOST_SEARCHES);
	searched += hints_find(function, again + searched, MOST_SEARCHES - searched);
	resumed = find_resumes(function, resumes);
	loops = iterations_plan(function);
	arguments[0] = sites_function(
		module, function, LLVMDISubprogramGetLine(subprogram),
		(accessor_is(function) || waits_until(function) || worth->waits ? ATOMSAN_FN_ACCESSOR : 0) |
			(begins_threads(function) ? ATOMSAN_FN_START : 0) |
			(passes_on(function) ? ATOMSAN_FN_PASSES_ON : 0) |
			(given(function) ? ATOMSAN_FN_GIVEN : 0) | (part ? ATOMSAN_FN_PART : 0),
		worth->asm_blocks, waits_function(function, calls_on(function)));
	arguments[1] = receiver == ATOMSAN_NO_RECEIVER ? LLVMConstNull(LLVMPointerTypeInContext(context, 0))
						       : LLVMGetParam(function, receiver);
	innermost = frame = mark_build(builder, module, part ? MARK_PART : MARK_ENTER, arguments);
	/* What works on two objects of one type (append, equals, transfer) has a frame for the second; it is
	 * left together with the first. */
	argument = describe_argument(function);
	if (argument != ATOMSAN_NO_RECEIVER)
		innermost = mark_build(
			builder, module, MARK_ENTER,
			(LLVMValueRef[]){sites_function(module, function, LLVMDISubprogramGetLine(subprogram),
							ATOMSAN_FN_ARGUMENT, 0, ""),
					 LLVMGetParam(function, argument)});
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef terminator = LLVMGetBasicBlockTerminator(b);

		if (LLVMIsAReturnInst(terminator) || LLVMIsAResumeInst(terminator)) {
			LLVMValueRef at = leaving_point(terminator);

			LLVMPositionBuilderBefore(builder, at);
			LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(at));
			if (!LLVMInstructionGetDebugLoc(at))
				LLVMSetCurrentDebugLocation2(
					builder, LLVMDIBuilderCreateDebugLocation(
							 context, LLVMDISubprogramGetLine(subprogram), 0,
							 subprogram, NULL));
			mark_build(builder, module, part ? MARK_PART_EXIT : MARK_EXIT, &frame);
		}
		if (worth->comes_back)
			mark_back(builder, module, b, innermost, loops);
	}
	/* In a search that is made again the function's unit begins anew, and so it does where it calls who
	 * looks again. */
	for (unsigned i = 0; i < searched; i++)
		mark_call(builder, module, function, again[i], ATOMSAN_FN_ARGUMENT | ATOMSAN_FN_AGAIN);
	/* A coroutine has no frame of its own. */
	for (unsigned i = 0; i < resumed; i++)
		mark_call(builder, module, function, resumes[i], ATOMSAN_FN_GIVEN);
	iterations_mark(loops, arguments[1]);
	LLVMDisposeBuilder(builder);
}
