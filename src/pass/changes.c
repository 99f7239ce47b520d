/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which functions change nothing that others could see. What locks is none of
 * it. Nor is what a function writes to a local of its caller's: guards and
 * iterators of C++ are such, and their constructors write through `this`.
 *
 * Asked of unoptimised code, where variables are allocas.
 */
#include "pass/changes.h"
#include "pass/pass.h"
#include "pass/strings.h"

enum {
	DEPTH = 8, /* of calls, and of values, that are looked into */
	WAY = 24,  /* that a pointer is followed: twice as many steps, for each function keeps it first */
	PATIENCE = 20000 /* instructions that are looked at; what takes more may change anything */
};

static unsigned patience;
static bool returned; /* what leaks() was asked about is what the function returns */
static bool (*is_late)(LLVMValueRef call);

/* ---- locals ---- */

static bool leaks(LLVMValueRef pointer, unsigned depth);

/* std::string::compare and its like, which the library has compiled for all. */
static bool only_looks(LLVMValueRef call)
{
	size_t length;

	return strings_only_looks(call, LLVMGetValueName2(util_callee(call), &length));
}

/* By a call that is given it. */
static bool leaks_by(LLVMValueRef call, LLVMValueRef pointer, unsigned depth)
{
	LLVMValueRef callee = util_callee(call);
	bool before = returned, back;

	if (!callee)
		return true;
	if (LLVMGetIntrinsicID(callee) || calls_operation(call) || only_looks(call))
		return false;
	returned = false;
	for (unsigned n = 0; n < LLVMGetNumArgOperands(call); n++)
		if (LLVMGetOperand(call, n) == pointer &&
		    (LLVMIsDeclaration(callee) || n >= LLVMCountParams(callee) ||
		     leaks(LLVMGetParam(callee, n), depth)))
			return true;
	back = returned;
	returned = before;
	return back && leaks(call, depth);
}

/* Is it, or what is computed of it, stored where others could find it? */
static bool leaks(LLVMValueRef pointer, unsigned depth)
{
	if (!depth)
		return true;
	for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use), into;

		if (!patience || !LLVMIsAInstruction(user))
			return true;
		patience--;
		returned |= LLVMIsAReturnInst(user) != NULL;
		if (LLVMIsALoadInst(user) || LLVMIsAICmpInst(user) || LLVMIsAReturnInst(user))
			continue;
		if (util_is_call(user)) {
			if (!(is_late && is_late(user)) && leaks_by(user, pointer, depth - 1))
				return true;
			continue;
		}
		if (LLVMIsAGetElementPtrInst(user)) {
			if (leaks(user, depth))
				return true;
			continue;
		}
		if (!LLVMIsAStoreInst(user))
			return true;
		into = LLVMGetOperand(user, 1);
		if (LLVMGetOperand(user, 0) != pointer)
			continue;
		/* Kept in a variable: then it is what is loaded from there. */
		if (!LLVMIsAAllocaInst(into))
			return true;
		for (LLVMUseRef at = LLVMGetFirstUse(into); at; at = LLVMGetNextUse(at)) {
			LLVMValueRef load = LLVMGetUser(at);

			if (LLVMIsALoadInst(load)
				    ? leaks(load, depth - 1)
				    : !LLVMIsAStoreInst(load) && !(util_is_call(load) &&
								   util_is_intrinsic(load, "llvm.lifetime")))
				return true;
		}
	}
	return false;
}

/* The one value that a variable is ever set to, or NULL. */
static LLVMValueRef only_value(LLVMValueRef variable)
{
	LLVMValueRef value = NULL;

	for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsALoadInst(user) || (util_is_call(user) && util_is_intrinsic(user, "llvm.lifetime")))
			continue;
		if (!LLVMIsAStoreInst(user) || LLVMGetOperand(user, 1) != variable || value)
			return NULL;
		value = LLVMGetOperand(user, 0);
	}
	return value;
}

/* Does it lead to a local, or to what those parameters lead to (a bit for each of the first 64)? */
static bool is_own(LLVMValueRef pointer, LLVMValueRef function, uint64_t own)
{
	for (unsigned steps = 0; steps < DEPTH; steps++) {
		LLVMValueRef base = private_base(pointer);

		if (LLVMIsAAllocaInst(base))
			return !leaks(base, WAY);
		if (LLVMIsAArgument(base)) {
			for (unsigned n = 0; n < LLVMCountParams(function) && n < 64; n++)
				if (LLVMGetParam(function, n) == base)
					return own >> n & 1;
			return false;
		}
		if (!LLVMIsALoadInst(base) || !LLVMIsAAllocaInst(LLVMGetOperand(base, 0)))
			return false;
		pointer = only_value(LLVMGetOperand(base, 0));
		if (!pointer)
			return false;
	}
	return false;
}

/* ---- functions ---- */

static bool function_changes(LLVMValueRef function, uint64_t own, unsigned depth);

/* All that it is given is its caller's own, or a constant. */
static bool has_nothing(LLVMValueRef call)
{
	for (unsigned n = 0; n < LLVMGetNumArgOperands(call); n++) {
		LLVMValueRef argument = LLVMGetOperand(call, n), base;

		if (LLVMGetTypeKind(LLVMTypeOf(argument)) != LLVMPointerTypeKind)
			continue;
		base = private_base(argument);
		if (!private_pointer(argument) &&
		    !(LLVMIsAGlobalVariable(base) && LLVMIsGlobalConstant(base)))
			return false;
	}
	return true;
}

static bool call_changes(LLVMValueRef call, LLVMValueRef function, uint64_t own, unsigned depth)
{
	LLVMValueRef callee = util_callee(call);
	uint64_t given = 0;

	if (!callee)
		return true;
	if (util_is_mark(call))
		return false;
	if (LLVMGetIntrinsicID(callee))
		return util_is_intrinsic(call, "llvm.mem") && !private_pointer(LLVMGetOperand(call, 0)) &&
		       !is_own(LLVMGetOperand(call, 0), function, own);
	/* Who does not come back leads nowhere, or to a landing pad by an exception of the thread's own. */
	if (calls_only_read(call) || calls_operation(call) || util_call_attribute(call, "noreturn"))
		return false;
	if (LLVMIsDeclaration(callee))
		return !has_nothing(call) && !only_looks(call);
	if (select_function_ignored(callee))
		return false;
	for (unsigned n = 0; n < LLVMGetNumArgOperands(call) && n < 64; n++) {
		LLVMValueRef argument = LLVMGetOperand(call, n);

		if (LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMPointerTypeKind &&
		    is_own(argument, function, own))
			given |= (uint64_t)1 << n;
	}
	return function_changes(callee, given, depth);
}

static bool changes(LLVMValueRef i, LLVMValueRef function, uint64_t own, unsigned depth)
{
	if (!patience)
		return true;
	patience--;
	if (LLVMIsAStoreInst(i))
		return !private_pointer(LLVMGetOperand(i, 1)) && !is_own(LLVMGetOperand(i, 1), function, own);
	if (LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i) || LLVMIsAFenceInst(i))
		return true;
	if (!util_is_call(i))
		return false;
	return LLVMIsAInlineAsm(LLVMGetCalledValue(i)) || call_changes(i, function, own, depth);
}

static bool function_changes(LLVMValueRef function, uint64_t own, unsigned depth)
{
	if (!depth)
		return true;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (changes(i, function, own, depth - 1))
				return true;
	return false;
}

bool changes_by(LLVMValueRef instruction, bool (*late)(LLVMValueRef call))
{
	patience = PATIENCE;
	is_late = late;
	return changes(instruction, LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction)), 0, DEPTH);
}

bool changes_in(LLVMValueRef function)
{
	patience = PATIENCE;
	is_late = NULL;
	return function_changes(function, 0, DEPTH);
}
