/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Is what a function is given its caller's anyway? It is if all pointers that the
 * call hands on are the caller's receiver, a part of it or what is reached from
 * there, new memory or the caller's locals. The caller is a unit for it then, and
 * the function is a part of that. Asked of unoptimised code, where parameters and
 * variables are allocas. What cannot be followed is somebody else's.
 */
#include "pass/pass.h"

enum { MOST_DEPTH = 24, MOST_VARIABLES = 16 };

struct search {
	LLVMValueRef receiver, argument;        /* of the caller, or NULL */
	bool any;                               /* each of its parameters does */
	LLVMValueRef variables[MOST_VARIABLES]; /* that were looked at */
	unsigned count;
};

static bool leads_back(struct search *s, LLVMValueRef pointer, unsigned depth);

/* All that is ever put into a local pointer. */
static bool is_filled_so(struct search *s, LLVMValueRef variable, unsigned depth)
{
	for (unsigned i = 0; i < s->count; i++)
		if (s->variables[i] == variable)
			return true; /* as far as the rest of it does */
	if (s->count == MOST_VARIABLES)
		return false;
	s->variables[s->count++] = variable;
	for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsALoadInst(user) || (util_is_call(user) && util_is_intrinsic(user, "llvm.lifetime")))
			continue;
		if (!LLVMIsAStoreInst(user) || LLVMGetOperand(user, 1) != variable ||
		    !leads_back(s, LLVMGetOperand(user, 0), depth))
			return false;
	}
	return true;
}

static bool is_pointer(LLVMValueRef value)
{
	return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

/* What a function of this module makes of what it is given, tree_of(index, key). */
static bool is_found_so(struct search *s, LLVMValueRef call, unsigned depth)
{
	LLVMValueRef callee = util_callee(call);

	if (calls_allocator(call))
		return true;
	if (!callee || LLVMIsDeclaration(callee))
		return false;
	for (unsigned n = 0; n < LLVMGetNumArgOperands(call); n++)
		if (is_pointer(LLVMGetOperand(call, n)) && !leads_back(s, LLVMGetOperand(call, n), depth))
			return false;
	return true;
}

static bool leads_back(struct search *s, LLVMValueRef pointer, unsigned depth)
{
	LLVMValueRef base = private_base(pointer), place;

	if (!depth--)
		return false;
	if (LLVMIsAArgument(base))
		return s->any || base == s->receiver || base == s->argument;
	if (LLVMIsAGlobalVariable(base))
		return LLVMIsGlobalConstant(base);
	if (LLVMIsConstant(base))
		return LLVMIsNull(base);
	if (util_is_call(base))
		return is_found_so(s, base, depth);
	if (LLVMIsAPHINode(base)) {
		for (unsigned n = 0; n < LLVMCountIncoming(base); n++)
			if (!leads_back(s, LLVMGetIncomingValue(base, n), depth))
				return false;
		return true;
	}
	if (LLVMIsASelectInst(base))
		return leads_back(s, LLVMGetOperand(base, 1), depth) &&
		       leads_back(s, LLVMGetOperand(base, 2), depth);
	if (!LLVMIsALoadInst(base))
		return LLVMIsAAllocaInst(base);
	place = private_base(LLVMGetOperand(base, 0));
	if (LLVMIsAAllocaInst(place))
		return is_filled_so(s, place, depth);
	return leads_back(s, place, depth);
}

static LLVMValueRef parameter(LLVMValueRef function, unsigned number)
{
	return number != ATOMSAN_NO_RECEIVER ? LLVMGetParam(function, number) : NULL;
}

bool belongs_to_function(LLVMValueRef value)
{
	struct search s = {.any = true};

	return !is_pointer(value) || leads_back(&s, value, MOST_DEPTH);
}

bool belongs_to_caller(LLVMValueRef call, bool any)
{
	LLVMValueRef caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
	const char *type;
	struct search s = {.receiver = parameter(caller, describe_receiver(caller, &type)),
			   .argument = parameter(caller, describe_argument(caller)),
			   .any = any};
	unsigned receiver = describe_receiver(util_callee(call), &type);

	for (unsigned n = 0; n < LLVMGetNumArgOperands(call); n++) {
		LLVMValueRef given = LLVMGetOperand(call, n);

		/* A local may be a cursor, and its user a unit for what it leads to. */
		if (n == receiver && LLVMIsAAllocaInst(private_base(given)))
			return false;
		if (is_pointer(given) && !leads_back(&s, given, MOST_DEPTH))
			return false;
	}
	return true;
}
