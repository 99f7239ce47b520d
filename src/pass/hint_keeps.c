/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Does a function keep to itself what it has seen before it calls who looks
 * again? It does not if it
 *
 *  - returns something that depends on it (what it has done is no such thing),
 *  - hands it to a function, or writes by a pointer that it was given beside the
 *    object: who looks at the first item, and calls who drops the first item, has
 *    given away an item that may be another one by then;
 *  - copies it from one member to another. Numbers that go up and down stay where
 *    they are, and pointers are how lists are made.
 *
 * Asked of unoptimised code, where variables are allocas.
 */
#include "pass/changes.h"
#include "pass/hints.h"
#include "pass/pass.h"
#include "pass/worth.h"

enum {
	DEPTH = 4, /* of calls that are looked into */
	ALIKE = 6, /* steps in which an address, or a sum, is computed */
};

static bool is_pointer(LLVMValueRef value)
{
	return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

static bool is_clean(LLVMValueRef value);

/* A variable that is handed to one function, as a parameter is by reference, and holds nothing that was seen.
 */
static bool is_clean_variable(LLVMValueRef variable)
{
	unsigned calls = 0;

	for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsALoadInst(user) || (util_is_call(user) && util_is_intrinsic(user, "llvm.lifetime")))
			continue;
		if (util_is_call(user) ? calls++
				       : !LLVMIsAStoreInst(user) || LLVMGetOperand(user, 0) == variable ||
						 !is_clean(LLVMGetOperand(user, 0)))
			return false;
	}
	return true;
}

static bool is_clean(LLVMValueRef value)
{
	struct hint_reasons seen = {.count = 0};

	if (LLVMIsAAllocaInst(value))
		return is_clean_variable(value);
	hint_reasons_of(&seen, value);
	return !seen.lost && !seen.count;
}

/* Made of what lies where it is stored, a moment ago, and of nothing else that was seen: `n->total += by`.
 * However n was found, the number stays where it is. */
static bool is_in_place(LLVMValueRef value, LLVMValueRef store, unsigned steps)
{
	bool found = false;

	if (LLVMIsALoadInst(value)) {
		LLVMValueRef i = value;

		if (!util_alike(LLVMGetOperand(value, 0), LLVMGetOperand(store, 1), ALIKE))
			return false;
		do
			i = LLVMGetNextInstruction(i);
		while (i && i != store && !LLVMIsAStoreInst(i) && !util_is_call(i));
		return i == store;
	}
	if (!steps || (!LLVMIsABinaryOperator(value) && !LLVMIsACastInst(value)))
		return false;
	for (int n = 0; n < LLVMGetNumOperands(value); n++) {
		LLVMValueRef operand = LLVMGetOperand(value, (unsigned)n);

		if (is_in_place(operand, store, steps - 1))
			found = true;
		else if (!is_clean(operand))
			return false;
	}
	return found;
}

/* To where it comes from, or a pointer, or nothing of what others could change. */
static bool keeps_stored(LLVMValueRef store)
{
	struct hint_reasons seen = {.count = 0}, there = {.count = 0};
	LLVMValueRef value = LLVMGetOperand(store, 0), into = LLVMGetOperand(store, 1);

	if (LLVMIsAAllocaInst(private_base(into)) || is_pointer(value) || is_in_place(value, store, ALIKE))
		return true;
	hint_reasons_of(&seen, value);
	if (!seen.count)
		return !seen.lost;
	hint_reasons_at(&there, into);
	return !seen.lost && !there.lost && hint_reasons_within(&seen, &there);
}

static bool keeps_in(LLVMValueRef function, LLVMValueRef but, unsigned depth);

static bool keeps_called(LLVMValueRef call, unsigned depth)
{
	LLVMValueRef callee = util_callee(call);

	if (util_is_intrinsic(call, "llvm.mem"))
		return LLVMIsAAllocaInst(private_base(LLVMGetOperand(call, 0))) ||
		       is_clean(LLVMGetOperand(call, 1)) ||
		       LLVMIsAAllocaInst(private_base(LLVMGetOperand(call, 1)));
	if ((callee && LLVMGetIntrinsicID(callee)) || calls_operation(call) || calls_only_read(call) ||
	    util_call_attribute(call, "noreturn"))
		return true;
	if (!callee || !depth)
		return false;
	/* A guard, which is a local. */
	if (select_function_ignored(callee) ||
	    (worth_of_the_library(callee) && calls_surely_synchronise(call)))
		return true;
	/* Who only looks at memory gives nothing away but what it says, and to its caller. */
	if (!LLVMIsDeclaration(callee) && !calls_synchronise(call) && !changes_in(callee))
		return true;
	for (unsigned n = 0; n < LLVMGetNumArgOperands(call); n++)
		if (!is_clean(LLVMGetOperand(call, n)))
			return false;
	/* Containers move what they hold to where they hold it. */
	if (worth_of_the_library(callee))
		return true;
	return LLVMIsDeclaration(callee) ? !calls_synchronise(call) : keeps_in(callee, NULL, depth - 1);
}

/* All but one call. */
static bool keeps_in(LLVMValueRef function, LLVMValueRef but, unsigned depth)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (i != but && (LLVMIsAStoreInst(i) ? !keeps_stored(i)
							     : util_is_call(i) && !keeps_called(i, depth)))
				return false;
	return true;
}

static bool is_read_alone(LLVMValueRef pointer, unsigned depth);

/* A use of a pointer that was given: it is kept, compared, or read by. */
static bool is_harmless(LLVMValueRef user, LLVMValueRef pointer, unsigned depth)
{
	LLVMValueRef callee;

	if (LLVMIsALoadInst(user) || LLVMIsAICmpInst(user))
		return true;
	if (LLVMIsAGetElementPtrInst(user))
		return is_read_alone(user, depth);
	if (LLVMIsAStoreInst(user)) {
		LLVMValueRef into = LLVMGetOperand(user, 1);

		if (into == pointer)
			return false;
		for (LLVMUseRef use = LLVMIsAAllocaInst(into) ? LLVMGetFirstUse(into) : NULL; use;
		     use = LLVMGetNextUse(use))
			if (LLVMIsALoadInst(LLVMGetUser(use)) && !is_read_alone(LLVMGetUser(use), depth))
				return false;
		return true;
	}
	if (!util_is_call(user) || !depth)
		return false;
	callee = util_callee(user);
	if (calls_only_read(user))
		return true;
	for (unsigned n = 0; callee && !LLVMIsDeclaration(callee) && n < LLVMCountParams(callee); n++)
		if (LLVMGetOperand(user, n) == pointer && !is_read_alone(LLVMGetParam(callee, n), depth - 1))
			return false;
	return callee && !LLVMIsDeclaration(callee);
}

static bool is_read_alone(LLVMValueRef pointer, unsigned depth)
{
	for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use))
		if (!is_harmless(LLVMGetUser(use), pointer, depth))
			return false;
	return true;
}

/* Is the parameter what the call is given? */
static bool is_given_to(LLVMValueRef parameter, LLVMValueRef call)
{
	for (unsigned n = 0; n < LLVMGetNumArgOperands(call); n++) {
		LLVMValueRef base = private_base(LLVMGetOperand(call, n));

		if (base == parameter)
			return true;
		if (!LLVMIsALoadInst(base) || !LLVMIsAAllocaInst(LLVMGetOperand(base, 0)))
			continue;
		for (LLVMUseRef use = LLVMGetFirstUse(parameter); use; use = LLVMGetNextUse(use))
			if (LLVMIsAStoreInst(LLVMGetUser(use)) &&
			    LLVMGetOperand(LLVMGetUser(use), 1) == LLVMGetOperand(base, 0))
				return true;
	}
	return false;
}

bool hint_keeps(LLVMValueRef function, LLVMValueRef call)
{
	for (unsigned n = 0; n < LLVMCountParams(function); n++) {
		LLVMValueRef parameter = LLVMGetParam(function, n);

		if (is_pointer(parameter) && !is_given_to(parameter, call) &&
		    !is_read_alone(parameter, DEPTH))
			return false;
	}
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);

		if (LLVMIsAReturnInst(end) && LLVMGetNumOperands(end) && !is_clean(LLVMGetOperand(end, 0)))
			return false;
	}
	return keeps_in(function, call, DEPTH);
}
