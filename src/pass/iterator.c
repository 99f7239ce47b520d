/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A walk by way of a cursor: a struct on the stack with a pointer to the
 * container and a position in it, which only the container's own functions
 * touch.
 *
 *   while (has_next(&i))
 *           use(next(&i));
 *
 * What tells it from a worker with a context is that the position is moved on
 * from where it was, by a function that the loop calls, and that whether there
 * is another iteration depends on it. Asked of unoptimised code, where
 * parameters are kept in allocas, and only of functions whose code is here.
 */
#include "pass/iterations.h"
#include "pass/pass.h"

enum { MOST_DEPTH = 12, MOST_LOCALS = 16, MOST_MEMBERS = 32, NOT_A_MEMBER = -1 };

/* A function, and the parameter by which it gets the cursor. */
struct user {
	LLVMValueRef function, parameter;
	LLVMValueRef kept;                 /* alloca that holds the parameter */
	int member;                        /* that is asked about */
	LLVMValueRef tainted[MOST_LOCALS]; /* locals that are computed from it */
	unsigned tainted_count;
};

#define EACH_INSTRUCTION(function, i)                                                                     \
	for (LLVMBasicBlockRef b_ = LLVMGetFirstBasicBlock(function); b_; b_ = LLVMGetNextBasicBlock(b_)) \
		for (LLVMValueRef i = LLVMGetFirstInstruction(b_); i; i = LLVMGetNextInstruction(i))

/* Number of the member of `object` that a pointer leads to, as &object->member is written. */
static int member_of(LLVMValueRef pointer, LLVMValueRef *object)
{
	LLVMValueRef number;

	if (!LLVMIsAGetElementPtrInst(pointer) || LLVMGetNumOperands(pointer) != 3 ||
	    LLVMGetTypeKind(LLVMGetGEPSourceElementType(pointer)) != LLVMStructTypeKind)
		return NOT_A_MEMBER;
	number = LLVMGetOperand(pointer, 2);
	*object = LLVMGetOperand(pointer, 0);
	return LLVMIsAConstantInt(number) ? (int)LLVMConstIntGetZExtValue(number) : NOT_A_MEMBER;
}

/* Does it point to the member of the cursor that is asked about? */
static bool is_it(const struct user *user, LLVMValueRef pointer)
{
	LLVMValueRef object;

	return member_of(pointer, &object) == user->member &&
	       (object == user->parameter ||
		(LLVMIsALoadInst(object) && LLVMGetOperand(object, 0) == user->kept));
}

static bool is_tainted(const struct user *user, LLVMValueRef local)
{
	for (unsigned i = 0; i < user->tainted_count; i++)
		if (user->tainted[i] == local)
			return true;
	return false;
}

/* Is the value computed from the member? */
static bool depends(const struct user *user, LLVMValueRef value, int depth)
{
	if (!LLVMIsAInstruction(value) || LLVMIsAAllocaInst(value) || depth > MOST_DEPTH)
		return false;
	if (LLVMIsALoadInst(value) &&
	    (is_it(user, LLVMGetOperand(value, 0)) || is_tainted(user, LLVMGetOperand(value, 0))))
		return true;
	for (int i = 0; i < LLVMGetNumOperands(value); i++)
		if (!LLVMValueIsBasicBlock(LLVMGetOperand(value, (unsigned)i)) &&
		    depends(user, LLVMGetOperand(value, (unsigned)i), depth + 1))
			return true;
	return false;
}

static void find_tainted(struct user *user)
{
	bool more = true;

	while (more) {
		more = false;
		EACH_INSTRUCTION(user->function, i)
		{
			if (!LLVMIsAStoreInst(i) || !LLVMIsAAllocaInst(LLVMGetOperand(i, 1)) ||
			    user->tainted_count == MOST_LOCALS || is_tainted(user, LLVMGetOperand(i, 1)) ||
			    !depends(user, LLVMGetOperand(i, 0), 0))
				continue;
			user->tainted[user->tainted_count++] = LLVMGetOperand(i, 1);
			more = true;
		}
	}
}

/* Who the call gives the cursor to. */
static bool find_user(LLVMValueRef call, LLVMValueRef cursor, int member, struct user *user)
{
	LLVMValueRef callee = util_callee(call);

	*user = (struct user){.function = callee, .member = member};
	if (!callee || !LLVMGetFirstBasicBlock(callee))
		return false;
	for (unsigned n = 0; n < LLVMGetNumArgOperands(call) && n < LLVMCountParams(callee); n++)
		if (LLVMGetOperand(call, n) == cursor)
			user->parameter = LLVMGetParam(callee, n);
	if (!user->parameter)
		return false;
	EACH_INSTRUCTION(callee, i)
	{
		if (LLVMIsAStoreInst(i) && LLVMGetOperand(i, 0) == user->parameter &&
		    LLVMIsAAllocaInst(LLVMGetOperand(i, 1)))
			user->kept = LLVMGetOperand(i, 1);
	}
	find_tainted(user);
	return true;
}

/* position++, or node = node->next. */
static bool moves_on(const struct user *user)
{
	EACH_INSTRUCTION(user->function, i)
	{
		if (LLVMIsAStoreInst(i) && is_it(user, LLVMGetOperand(i, 1)) &&
		    depends(user, LLVMGetOperand(i, 0), 0))
			return true;
	}
	return false;
}

static bool decides(const struct user *user)
{
	EACH_INSTRUCTION(user->function, i)
	{
		bool branch = (LLVMIsABranchInst(i) || LLVMIsASwitchInst(i)) && LLVMGetNumSuccessors(i) > 1;

		if ((branch || (LLVMIsAReturnInst(i) && LLVMGetNumOperands(i))) &&
		    depends(user, LLVMGetOperand(i, 0), 0))
			return true;
	}
	return false;
}

/* Is the value computed from the member of the cursor, here or by who is given the cursor? */
static bool decided_by(LLVMValueRef value, LLVMValueRef cursor, int member, int depth)
{
	LLVMValueRef object;
	struct user user;

	if (!LLVMIsAInstruction(value) || LLVMIsAAllocaInst(value) || depth > MOST_DEPTH)
		return false;
	if (LLVMIsALoadInst(value) && member_of(LLVMGetOperand(value, 0), &object) == member &&
	    object == cursor)
		return true;
	if (util_is_call(value) && find_user(value, cursor, member, &user) && decides(&user))
		return true;
	for (int i = 0; i < LLVMGetNumOperands(value); i++)
		if (!LLVMValueIsBasicBlock(LLVMGetOperand(value, (unsigned)i)) &&
		    decided_by(LLVMGetOperand(value, (unsigned)i), cursor, member, depth + 1))
			return true;
	return false;
}

static bool ends_by(const struct flow *flow, unsigned loop, LLVMValueRef cursor, int member)
{
	for (unsigned b = 0; b < flow->count; b++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(flow->blocks[b]);
		unsigned ways = LLVMGetNumSuccessors(end);
		bool leaves = false;

		if (!flow_inside(flow, loop, b) || LLVMIsAInvokeInst(end) || ways < 2)
			continue;
		for (unsigned i = 0; i < ways; i++)
			leaves |= !flow_inside(flow, loop, flow_number(flow, LLVMGetSuccessor(end, i)));
		if (leaves && decided_by(LLVMGetOperand(end, 0), cursor, member, 0))
			return true;
	}
	return false;
}

static bool moved_on(const struct flow *flow, unsigned loop, LLVMValueRef cursor, int member)
{
	for (unsigned b = 0; b < flow->count; b++) {
		if (!flow_inside(flow, loop, b))
			continue;
		for (LLVMValueRef i = LLVMGetFirstInstruction(flow->blocks[b]); i;
		     i = LLVMGetNextInstruction(i)) {
			struct user user;

			if (util_is_call(i) && find_user(i, cursor, member, &user) && moves_on(&user))
				return true;
		}
	}
	return false;
}

bool walk_by_cursor(const struct flow *flow, unsigned loop, LLVMValueRef variable)
{
	LLVMTypeRef type = LLVMGetAllocatedType(variable);
	unsigned count, pointers = 0;

	if (LLVMGetTypeKind(type) != LLVMStructTypeKind)
		return false;
	count = LLVMCountStructElementTypes(type);
	for (unsigned i = 0; i < count; i++)
		pointers += LLVMGetTypeKind(LLVMStructGetTypeAtIndex(type, i)) == LLVMPointerTypeKind;
	for (unsigned i = 0; i < count && i < MOST_MEMBERS; i++) {
		bool pointer = LLVMGetTypeKind(LLVMStructGetTypeAtIndex(type, i)) == LLVMPointerTypeKind;

		/* One that leads to the container, besides the position. */
		if (pointers > pointer && ends_by(flow, loop, variable, (int)i) &&
		    moved_on(flow, loop, variable, (int)i))
			return true;
	}
	return false;
}
