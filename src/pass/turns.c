/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pass/turns.h"
#include "pass/pass.h"

enum { MOST_SAID = 4 };

static enum ways_step visit_to(LLVMValueRef i, void *to)
{
	return i == to ? WAYS_LOST : WAYS_GO_ON;
}

static bool comes_to(LLVMValueRef function, LLVMValueRef from, LLVMValueRef to)
{
	return !ways_walk(function, from, &(struct ways_visitor){visit_to, NULL, to});
}

bool turns_is_told(LLVMValueRef condition)
{
	LLVMValueRef variable;

	if (!LLVMIsALoadInst(condition) || !LLVMIsAAllocaInst(LLVMGetOperand(condition, 0)))
		return false;
	variable = LLVMGetOperand(condition, 0);
	for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (!LLVMIsALoadInst(user) &&
		    !(util_is_call(user) && util_is_intrinsic(user, "llvm.lifetime")) &&
		    !(LLVMIsAStoreInst(user) && LLVMIsAConstantInt(LLVMGetOperand(user, 0))))
			return false;
	}
	return true;
}

/* A switch by which a scope with guards is left, and what the variable may say there. */
struct leaving {
	LLVMValueRef end, variable, said[MOST_SAID];
	unsigned count;
};

/* One way of a branch. */
struct turn {
	LLVMValueRef branch;
	unsigned way;
	enum ways_step (*visit)(LLVMValueRef instruction, void *with);
	struct leaving leaving;
};

static bool says(const struct leaving *leaving, LLVMValueRef value)
{
	for (unsigned i = 0; i < leaving->count; i++)
		if (leaving->said[i] == value)
			return true;
	return false;
}

/* May the switch be left this way? The first is what is not listed. */
static bool is_left(const struct leaving *leaving, unsigned way)
{
	unsigned listed = 0;

	if (way)
		return says(leaving, LLVMGetSwitchCaseValue(leaving->end, way));
	for (unsigned i = 1; i < LLVMGetNumSuccessors(leaving->end); i++)
		listed += says(leaving, LLVMGetSwitchCaseValue(leaving->end, i));
	return listed != leaving->count;
}

static bool is_gone_plainly(LLVMValueRef end, unsigned way, void *with)
{
	const struct turn *turn = with;

	return end != turn->branch || way == turn->way;
}

static bool is_gone(LLVMValueRef end, unsigned way, void *with)
{
	const struct turn *turn = with;

	if (end == turn->leaving.end)
		return is_left(&turn->leaving, way);
	return is_gone_plainly(end, way, with);
}

static bool sets(const struct leaving *leaving, LLVMValueRef i)
{
	return LLVMIsAStoreInst(i) && LLVMGetOperand(i, 1) == leaving->variable;
}

static enum ways_step visit_unset(LLVMValueRef i, void *with)
{
	const struct turn *turn = with;

	if (i == turn->leaving.end)
		return WAYS_LOST;
	return sets(&turn->leaving, i) ? WAYS_STOP : WAYS_GO_ON;
}

static enum ways_step visit_said(LLVMValueRef i, void *with)
{
	struct turn *turn = with;
	struct leaving *leaving = &turn->leaving;

	if (i == leaving->end)
		return WAYS_STOP;
	if (!sets(leaving, i) || says(leaving, LLVMGetOperand(i, 0)))
		return WAYS_GO_ON;
	if (leaving->count == MOST_SAID)
		return WAYS_LOST;
	leaving->said[leaving->count++] = LLVMGetOperand(i, 0);
	return WAYS_GO_ON;
}

/*
 * Where a scope is left by several ways, guards are destroyed first, and a
 * variable says which way it was: the first switch by which that is so. Not if it
 * may be come to without the variable being set.
 */
static void find_leaving(LLVMValueRef function, struct turn *turn)
{
	LLVMValueRef before = LLVMGetPreviousInstruction(turn->branch);

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
		struct turn asked = *turn;

		if (!LLVMIsASwitchInst(end) || !turns_is_told(LLVMGetOperand(end, 0)) ||
		    comes_to(function, end, end))
			continue;
		asked.leaving =
			(struct leaving){.end = end, .variable = LLVMGetOperand(LLVMGetOperand(end, 0), 0)};
		if (!comes_to(function, turn->branch, end) ||
		    !ways_walk(function, before,
			       &(struct ways_visitor){visit_unset, is_gone_plainly, &asked}) ||
		    !ways_walk(function, before, &(struct ways_visitor){visit_said, is_gone_plainly, &asked}))
			continue;
		turn->leaving = asked.leaving;
		return;
	}
}

static enum ways_step visit(LLVMValueRef i, void *with)
{
	const struct turn *turn = with;

	return turn->visit(i, NULL);
}

bool turns_lead(LLVMValueRef function, LLVMValueRef branch, unsigned way,
		enum ways_step (*look)(LLVMValueRef instruction, void *with))
{
	struct turn turn = {.branch = branch, .way = way, .visit = look};

	find_leaving(function, &turn);
	return !ways_walk(function, LLVMGetPreviousInstruction(branch),
			  &(struct ways_visitor){visit, is_gone, &turn});
}
