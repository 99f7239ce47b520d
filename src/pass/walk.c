/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A walk over data: a variable is moved on in each iteration (i++, p = p->next,
 * ++iterator), takes part in deciding whether there is another one, and leads to
 * what is accessed, here or in a function that it is handed to (handed.c). Asked
 * of unoptimised code, where variables are allocas.
 */
#include "pass/iterations.h"
#include "pass/pass.h"

enum { MOST_DEPTH = 12, MOST_VARIABLES = 16 };

struct variables {
	LLVMValueRef items[MOST_VARIABLES];
	unsigned count;
};

static bool has(const struct variables *list, LLVMValueRef variable)
{
	for (unsigned i = 0; i < list->count; i++)
		if (list->items[i] == variable)
			return true;
	return false;
}

static bool add(struct variables *list, LLVMValueRef variable)
{
	if (has(list, variable) || list->count == MOST_VARIABLES)
		return false;
	list->items[list->count++] = variable;
	return true;
}

/* Is the value computed from what one of the variables holds? A function that is given
 * a variable's address looks into it. */
static bool depends(LLVMValueRef value, const struct variables *on, int depth)
{
	int count;

	if (!LLVMIsAInstruction(value) || LLVMIsAAllocaInst(value) || depth > MOST_DEPTH)
		return false;
	count = LLVMGetNumOperands(value);
	if (LLVMIsALoadInst(value) && has(on, private_base(LLVMGetOperand(value, 0))))
		return true;
	for (int i = 0; i < count; i++) {
		LLVMValueRef operand = LLVMGetOperand(value, (unsigned)i);

		if (LLVMValueIsBasicBlock(operand))
			continue;
		if (util_is_call(value) && has(on, private_base(operand)))
			return true;
		if (depends(operand, on, depth + 1))
			return true;
	}
	return false;
}

/* Blocks of a loop, those of loops inside it included. */
#define EACH_INSTRUCTION(flow, loop, i)                                                       \
	for (unsigned b_ = 0; b_ < (flow)->count; b_++)                                       \
		if (flow_inside(flow, loop, b_))                                              \
			for (LLVMValueRef i = LLVMGetFirstInstruction((flow)->blocks[b_]); i; \
			     i = LLVMGetNextInstruction(i))

/* The variables that a value is computed from. */
static void collect(LLVMValueRef value, struct variables *to, int depth)
{
	if (LLVMIsAAllocaInst(value))
		add(to, value);
	if (!LLVMIsAInstruction(value) || depth > MOST_DEPTH)
		return;
	for (int i = 0; i < LLVMGetNumOperands(value); i++)
		if (!LLVMValueIsBasicBlock(LLVMGetOperand(value, (unsigned)i)))
			collect(LLVMGetOperand(value, (unsigned)i), to, depth + 1);
	/* a && b is where control came from: a decided that. */
	for (unsigned i = 0; LLVMIsAPHINode(value) && i < LLVMCountIncoming(value); i++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(value, i));

		if (LLVMGetNumSuccessors(end) > 1 && !LLVMIsAInvokeInst(end))
			collect(LLVMGetOperand(end, 0), to, depth + 1);
	}
}

/* What decides whether there is another iteration. */
static void collect_deciding(const struct flow *flow, unsigned loop, struct variables *to)
{
	for (unsigned b = 0; b < flow->count; b++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(flow->blocks[b]);
		unsigned ways = LLVMGetNumSuccessors(end);
		bool leaves = false;

		if (!flow_inside(flow, loop, b) || LLVMIsAInvokeInst(end))
			continue;
		for (unsigned i = 0; i < ways; i++)
			leaves |= !flow_inside(flow, loop, flow_number(flow, LLVMGetSuccessor(end, i)));
		if (leaves && ways > 1)
			collect(LLVMGetOperand(end, 0), to, 0);
	}
}

static bool moved_on(const struct flow *flow, unsigned loop, LLVMValueRef variable)
{
	struct variables itself = {{variable}, 1};

	EACH_INSTRUCTION(flow, loop, i)
	{
		if (LLVMIsAStoreInst(i) && private_base(LLVMGetOperand(i, 1)) == variable &&
		    depends(LLVMGetOperand(i, 0), &itself, 0))
			return true;
		/* ++iterator is a call of a method. */
		if (util_is_call(i) && LLVMGetNumArgOperands(i) && LLVMGetOperand(i, 0) == variable &&
		    !(util_callee(i) && LLVMGetIntrinsicID(util_callee(i))))
			return true;
	}
	return false;
}

/* What is computed from a variable may be kept in others. */
static void spread(const struct flow *flow, unsigned loop, struct variables *list)
{
	bool more = true;

	while (more) {
		more = false;
		EACH_INSTRUCTION(flow, loop, i)
		{
			if (LLVMIsAStoreInst(i) && LLVMIsAAllocaInst(LLVMGetOperand(i, 1)) &&
			    depends(LLVMGetOperand(i, 0), list, 0))
				more |= add(list, LLVMGetOperand(i, 1));
		}
	}
}

static bool leads(const struct flow *flow, unsigned loop, LLVMValueRef variable)
{
	struct variables list = {{variable}, 1};

	spread(flow, loop, &list);
	EACH_INSTRUCTION(flow, loop, i)
	{
		bool store = LLVMIsAStoreInst(i);

		if ((store || LLVMIsALoadInst(i)) && depends(LLVMGetOperand(i, store), &list, 0))
			return true;
		if (!util_is_call(i) || (util_callee(i) && LLVMGetIntrinsicID(util_callee(i)) &&
					 !util_is_intrinsic(i, "llvm.mem")))
			continue;
		for (unsigned n = 0; n < LLVMGetNumArgOperands(i); n++)
			if (depends(LLVMGetOperand(i, n), &list, 0) && handed_leads(i, n))
				return true;
	}
	return false;
}

bool walk_is(const struct flow *flow, unsigned loop)
{
	struct variables found = {0};

	collect_deciding(flow, loop, &found);
	for (unsigned i = 0; i < found.count; i++)
		if ((moved_on(flow, loop, found.items[i]) && leads(flow, loop, found.items[i])) ||
		    walk_by_cursor(flow, loop, found.items[i]))
			return true;
	return false;
}
