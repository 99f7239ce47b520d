/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Searches that are made again. Who looks for something under a lock, or a read
 * lock, and does not find it, gives the lock back, takes it for writing, and looks
 * again before it adds anything: what it found out first is old by then, and it
 * does not matter. In a trace this is a unit that was torn apart between reading
 * and writing. The code shows that nothing is carried over:
 *
 *  - The second call is of the same function with the same arguments, it only
 *    looks at memory, it decides where to go on, and there is no way to it but
 *    by the first call and an operation of a lock behind that.
 *  - Nothing that others could see is written before it, but numbers that only count
 *    (statistic.h).
 *  - Nothing that was read before it is used behind it: not what the first
 *    search said, nor anything else that is not a parameter or a constant.
 *
 * A condition that is asked again is such a search, too: `if (!r->valid)` under the
 * read lock and once more under the write lock. There the code must show more, for
 * one word of memory may be looked at for many reasons:
 *
 *  - It is the same condition, and who sees now that there is nothing to do changes
 *    nothing.
 *  - All other conditions on the way there that are not of parameters and constants
 *    are asked again as well.
 *
 * Asked of unoptimised code, where variables are allocas.
 */
#include "pass/changes.h"
#include "pass/pass.h"
#include "pass/statistic.h"
#include "pass/turns.h"
#include "pass/ways.h"
#include "pass/worth.h"

#include <llvm-c/Target.h>

#include <string.h>

enum {
	ALIKE = 6,       /* steps in which an argument is computed */
	DEPTH = 6,       /* of calls, and of values, that are looked into */
	MOST_CALLS = 64, /* of a function; one with more is not looked at */
	MOST_BRANCHES = 128,
	MOST_STORES = 64
};

/* What is being looked at. */
static struct {
	LLVMValueRef first, second;
	LLVMValueRef calls[MOST_CALLS];  /* of the function */
	LLVMValueRef inside[MOST_CALLS]; /* the search by which such a call begins, or NULL */
	bool leads[MOST_CALLS];          /* to the second */
	unsigned count;
	LLVMValueRef late[MOST_STORES]; /* to variables that are set several times, and not to the second */
	unsigned late_count;
} search;

/* ---- what is the same ---- */

static unsigned count_stores(LLVMValueRef variable)
{
	unsigned count = 0;

	for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use))
		count +=
			LLVMIsAStoreInst(LLVMGetUser(use)) && LLVMGetOperand(LLVMGetUser(use), 1) == variable;
	return count;
}

/* Computed of variables that are set once: then it is the same wherever it is computed. */
static bool is_steady(LLVMValueRef value, unsigned steps)
{
	if (!LLVMIsAInstruction(value))
		return true;
	if (LLVMIsAAllocaInst(value))
		return count_stores(value) <= 1;
	if (!steps)
		return false;
	for (int i = 0; i < LLVMGetNumOperands(value); i++)
		if (!is_steady(LLVMGetOperand(value, (unsigned)i), steps - 1))
			return false;
	return true;
}

static bool same_search(LLVMValueRef first, LLVMValueRef second)
{
	unsigned count = LLVMGetNumArgOperands(first);
	bool finds = false;

	if (util_callee(first) != util_callee(second) || count != LLVMGetNumArgOperands(second))
		return false;
	for (unsigned n = 0; n < count; n++) {
		LLVMValueRef one = LLVMGetOperand(first, n), other = LLVMGetOperand(second, n);

		if (!util_alike(one, other, ALIKE) || !is_steady(one, ALIKE))
			return false;
		finds |= LLVMGetTypeKind(LLVMTypeOf(one)) == LLVMPointerTypeKind && !private_pointer(one);
	}
	return finds;
}

/* What the parameter's variable, or the parameter, is called with; a constant is itself. NULL: anything else.
 */
static LLVMValueRef given_as(LLVMValueRef value, LLVMValueRef call)
{
	LLVMValueRef callee = util_callee(call), stored = NULL;

	if (LLVMIsALoadInst(value) && LLVMIsAAllocaInst(LLVMGetOperand(value, 0))) {
		for (LLVMUseRef use = LLVMGetFirstUse(LLVMGetOperand(value, 0)); use;
		     use = LLVMGetNextUse(use))
			if (LLVMIsAStoreInst(LLVMGetUser(use)))
				stored = LLVMGetOperand(LLVMGetUser(use), 0);
		if (!stored || count_stores(LLVMGetOperand(value, 0)) != 1)
			return NULL;
		value = stored;
	}
	for (unsigned n = 0; n < LLVMCountParams(callee) && n < LLVMGetNumArgOperands(call); n++)
		if (LLVMGetParam(callee, n) == value)
			return LLVMGetOperand(call, n);
	return LLVMIsAConstant(value) ? value : NULL;
}

/* The same, where the second is made by the function that the call is of. */
static bool same_search_inside(LLVMValueRef first, LLVMValueRef call, LLVMValueRef second)
{
	unsigned count = LLVMGetNumArgOperands(first);
	bool finds = false;

	if (util_callee(first) != util_callee(second) || count != LLVMGetNumArgOperands(second))
		return false;
	for (unsigned n = 0; n < count; n++) {
		LLVMValueRef one = LLVMGetOperand(first, n);
		LLVMValueRef other = given_as(LLVMGetOperand(second, n), call);

		if (!other || !util_alike(one, other, ALIKE) || !is_steady(one, ALIKE))
			return false;
		finds |= LLVMGetTypeKind(LLVMTypeOf(one)) == LLVMPointerTypeKind && !private_pointer(one);
	}
	return finds;
}

/* ---- ways ---- */

struct passing {
	LLVMValueRef by, to;
	bool operations; /* also stop at what synchronises */
};

static enum ways_step visit_to(LLVMValueRef i, void *with)
{
	const struct passing *passing = with;

	if (i == passing->to)
		return WAYS_LOST;
	return i == passing->by || (passing->operations && calls_synchronise(i)) ? WAYS_STOP : WAYS_GO_ON;
}

static bool leads(LLVMValueRef function, LLVMValueRef from, struct passing passing)
{
	return !ways_walk(function, from, &(struct ways_visitor){visit_to, NULL, &passing});
}

/* The second one is come to by the first one alone, and not without an operation in between. */
static bool is_behind(LLVMValueRef function, LLVMValueRef first, LLVMValueRef second)
{
	return !leads(function, NULL, (struct passing){first, second, false}) &&
	       !leads(function, second, (struct passing){first, second, false}) &&
	       leads(function, first, (struct passing){NULL, second, false}) &&
	       !leads(function, first, (struct passing){NULL, second, true});
}

static bool is_set_twice(LLVMValueRef i)
{
	return LLVMIsAStoreInst(i) && LLVMIsAAllocaInst(LLVMGetOperand(i, 1)) &&
	       count_stores(LLVMGetOperand(i, 1)) > 1;
}

/* Notes which calls are behind the second search, and which stores. */
static void look_behind(LLVMValueRef function)
{
	for (unsigned i = 0; i < search.count; i++)
		search.leads[i] =
			leads(function, search.calls[i], (struct passing){NULL, search.second, false});
	search.late_count = 0;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (search.late_count < MOST_STORES && is_set_twice(i) &&
			    !leads(function, i, (struct passing){NULL, search.second, false}))
				search.late[search.late_count++] = i;
}

static bool is_late(LLVMValueRef call)
{
	for (unsigned i = 0; i < search.count; i++)
		if (search.calls[i] == call)
			return !search.leads[i];
	return false;
}

static bool writes_before(LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (i != search.second && changes_by(i, is_late) &&
			    leads(function, i, (struct passing){NULL, search.second, false}) &&
			    !statistic_adds(i))
				return true;
	return false;
}

/* ---- what is carried over ---- */

/* A guard of C++, which is constructed before the second search and destroyed behind it. */
static bool is_guard(LLVMValueRef variable)
{
	LLVMTypeRef type = LLVMGetAllocatedType(variable);
	const char *name = LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMGetStructName(type) : NULL;

	return name && (strstr(name, "unique_lock") || strstr(name, "lock_guard") ||
			strstr(name, "shared_lock") || strstr(name, "scoped_lock"));
}

static bool is_set_cleanly(LLVMValueRef variable, unsigned steps);

/* Does the function compute what it returns of its arguments alone? */
static bool only_computes(LLVMValueRef function, unsigned depth)
{
	if (!depth || LLVMIsDeclaration(function) || changes_in(function))
		return false;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			LLVMValueRef callee = util_is_call(i) ? util_callee(i) : NULL;

			if (LLVMIsALoadInst(i) && !LLVMIsAAllocaInst(private_base(LLVMGetOperand(i, 0))))
				return false;
			if (util_is_call(i) &&
			    (!callee || (!LLVMGetIntrinsicID(callee) && !only_computes(callee, depth - 1))))
				return false;
		}
	return true;
}

static bool are_clean(LLVMValueRef call, unsigned steps);

/* Computed of parameters and constants alone. */
static bool is_clean(LLVMValueRef value, unsigned steps)
{
	if (!LLVMIsAInstruction(value))
		return true;
	if (!steps)
		return false;
	if (LLVMIsALoadInst(value))
		return LLVMIsAAllocaInst(LLVMGetOperand(value, 0)) &&
		       is_set_cleanly(LLVMGetOperand(value, 0), steps - 1);
	if (util_is_call(value))
		return util_callee(value) && only_computes(util_callee(value), DEPTH) &&
		       are_clean(value, steps - 1);
	if (!LLVMIsABinaryOperator(value) && !LLVMIsACastInst(value) && !LLVMIsAGetElementPtrInst(value) &&
	    !LLVMIsAICmpInst(value))
		return false;
	for (int i = 0; i < LLVMGetNumOperands(value); i++)
		if (!is_clean(LLVMGetOperand(value, (unsigned)i), steps - 1))
			return false;
	return true;
}

/* The call's arguments. */
static bool are_clean(LLVMValueRef call, unsigned steps)
{
	for (unsigned n = 0; n < LLVMGetNumArgOperands(call); n++)
		if (!is_clean(LLVMGetOperand(call, n), steps))
			return false;
	return true;
}

static bool is_set_by(LLVMValueRef call, LLVMValueRef pointer, unsigned steps);

/* All that is stored where the pointer leads is clean, if the function's parameters are. */
static bool is_filled_cleanly(LLVMValueRef pointer, unsigned steps)
{
	for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use), into;

		if (!steps || !LLVMIsAInstruction(user))
			return false;
		if (LLVMIsALoadInst(user) || LLVMIsAICmpInst(user))
			continue;
		if (util_is_call(user) ? is_set_by(user, pointer, steps - 1)
				       : LLVMIsAGetElementPtrInst(user) && is_filled_cleanly(user, steps))
			continue;
		if (!LLVMIsAStoreInst(user))
			return false;
		into = LLVMGetOperand(user, 1);
		if (into == pointer && is_clean(LLVMGetOperand(user, 0), steps - 1))
			continue;
		/* It is kept in a variable, as `this` is. */
		if (into == pointer || !LLVMIsAAllocaInst(into) || count_stores(into) != 1)
			return false;
		for (LLVMUseRef at = LLVMGetFirstUse(into); at; at = LLVMGetNextUse(at))
			if (LLVMIsALoadInst(LLVMGetUser(at)) &&
			    !is_filled_cleanly(LLVMGetUser(at), steps - 1))
				return false;
	}
	return true;
}

/* By a call that makes it of parameters and constants: a guard, which is constructed before the second search
 * and destroyed behind it. */
static bool is_set_by(LLVMValueRef call, LLVMValueRef pointer, unsigned steps)
{
	LLVMValueRef callee = util_callee(call);

	if (!callee)
		return false;
	if (LLVMGetIntrinsicID(callee))
		return util_is_intrinsic(call, "llvm.lifetime");
	if (util_call_attribute(call, "noreturn"))
		return true;
	if (LLVMIsDeclaration(callee))
		return false;
	for (unsigned n = 0; n < LLVMGetNumArgOperands(call); n++) {
		LLVMValueRef argument = LLVMGetOperand(call, n);

		if (argument == pointer ? n >= LLVMCountParams(callee) ||
						  !is_filled_cleanly(LLVMGetParam(callee, n), steps)
					: !is_clean(argument, steps))
			return false;
	}
	return true;
}

/* Could it be what the variable holds when the second search is come to? */
static bool is_in_time(LLVMValueRef store)
{
	for (unsigned i = 0; i < search.late_count; i++)
		if (search.late[i] == store)
			return false;
	return true;
}

/* What is set twice on the way may tell by what it is set to which way was gone. */
static bool is_set_cleanly(LLVMValueRef variable, unsigned steps)
{
	unsigned stores = 0;

	for (LLVMUseRef use = LLVMGetFirstUse(variable); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsALoadInst(user))
			continue;
		if (util_is_call(user) && (user == search.first || user == search.second || is_late(user) ||
					   (steps && is_set_by(user, variable, steps - 1))))
			continue;
		if (!LLVMIsAStoreInst(user) || LLVMGetOperand(user, 1) != variable)
			return false;
		if (is_in_time(user) && (stores++ || !is_clean(LLVMGetOperand(user, 0), steps)))
			return false;
	}
	return true;
}

/* Does it write all of the variable? */
static bool fills(LLVMValueRef i, LLVMValueRef variable)
{
	LLVMTargetDataRef layout = LLVMGetModuleDataLayout(
		LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(i))));
	unsigned long long size = LLVMABISizeOfType(layout, LLVMGetAllocatedType(variable));

	if (LLVMIsAStoreInst(i))
		return private_base(LLVMGetOperand(i, 1)) == variable &&
		       LLVMStoreSizeOfType(layout, LLVMTypeOf(LLVMGetOperand(i, 0))) >= size;
	return (util_is_intrinsic(i, "llvm.memcpy") || util_is_intrinsic(i, "llvm.memset")) &&
	       LLVMGetOperand(i, 0) == variable && LLVMIsAConstantInt(LLVMGetOperand(i, 2)) &&
	       LLVMConstIntGetZExtValue(LLVMGetOperand(i, 2)) >= size;
}

/* Its content is looked at before it is set. */
static enum ways_step visit_use(LLVMValueRef i, void *with)
{
	LLVMValueRef variable = with;
	bool stores = LLVMIsAStoreInst(i);

	if (i == search.first)
		return WAYS_STOP;
	if (LLVMIsAGetElementPtrInst(i))
		return WAYS_GO_ON;
	if (util_is_call(i) && util_is_intrinsic(i, "llvm.lifetime.start") &&
	    LLVMGetOperand(i, LLVMGetNumArgOperands(i) - 1) == variable)
		return WAYS_STOP;
	if (util_is_call(i) && util_is_intrinsic(i, "llvm.lifetime"))
		return WAYS_GO_ON;
	for (int n = 0; n < LLVMGetNumOperands(i); n++) {
		/* Where a store, or a copy, goes to is not what it looks at. */
		if (n == (stores ? 1 : 0) && (stores || (util_is_call(i) && fills(i, variable))))
			continue;
		if (private_base(LLVMGetOperand(i, (unsigned)n)) == variable)
			return WAYS_LOST;
	}
	return (stores || util_is_call(i)) && fills(i, variable) ? WAYS_STOP : WAYS_GO_ON;
}

/* Was the value computed before the second search? */
static bool is_before(LLVMValueRef value)
{
	if (LLVMGetInstructionParent(value) != LLVMGetInstructionParent(search.second))
		return !ways_came_to(LLVMGetInstructionParent(value));
	for (LLVMValueRef i = LLVMGetNextInstruction(value); i; i = LLVMGetNextInstruction(i))
		if (i == search.second)
			return true;
	return false;
}

/* A value that was computed before and is used behind, without a variable. */
static enum ways_step visit_behind(LLVMValueRef i, void *with)
{
	(void)with;
	if (i == search.first)
		return WAYS_STOP;
	for (int n = 0; n < LLVMGetNumOperands(i); n++) {
		LLVMValueRef value = LLVMGetOperand(i, (unsigned)n);

		if (LLVMIsAInstruction(value) && !LLVMIsAAllocaInst(value) && is_before(value) &&
		    !is_clean(value, DEPTH))
			return WAYS_LOST;
	}
	return WAYS_GO_ON;
}

/* Anything is done with it before the second search. */
static bool has_past(LLVMValueRef function, LLVMValueRef pointer)
{
	for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (LLVMIsAGetElementPtrInst(user)
			    ? has_past(function, user)
			    : leads(function, user, (struct passing){NULL, search.second, false}))
			return true;
	}
	return false;
}

static bool carries_over(LLVMValueRef function)
{
	LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);

	if (!ways_walk(function, search.second, &(struct ways_visitor){visit_behind, NULL, NULL}))
		return true;
	for (LLVMValueRef i = LLVMGetFirstInstruction(entry); i; i = LLVMGetNextInstruction(i))
		if (LLVMIsAAllocaInst(i) && !is_guard(i) && !is_set_cleanly(i, DEPTH) &&
		    has_past(function, i) &&
		    !ways_walk(function, search.second, &(struct ways_visitor){visit_use, NULL, i}))
			return true;
	return false;
}

/* ---- what is decided by it ---- */

/* A branch behind it depends on the value, by variables and by functions that it is given to. */
static bool leads_to_branch(LLVMValueRef value, unsigned steps)
{
	if (!LLVMIsAAllocaInst(value) && util_guards(value, 3))
		return true;
	for (LLVMUseRef use = LLVMGetFirstUse(value); steps && use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use), next = user;

		if (!LLVMIsAInstruction(user) || is_before(user))
			continue;
		if (LLVMIsAStoreInst(user)) {
			/* What is kept elsewhere may be looked at by other functions. */
			next = private_base(LLVMGetOperand(user, 1));
			if (!LLVMIsAAllocaInst(next))
				continue;
		} else if (!LLVMIsALoadInst(user) && !LLVMIsAGetElementPtrInst(user) && !util_is_call(user) &&
			   !LLVMIsAExtractValueInst(user))
			continue;
		if (next != value && leads_to_branch(next, steps - 1))
			return true;
	}
	return false;
}

static bool decides_in(LLVMValueRef function)
{
	struct passing passing = {search.first, NULL, false};

	ways_walk(function, search.second, &(struct ways_visitor){visit_to, NULL, &passing});
	return leads_to_branch(search.second, 4);
}

static bool may_search(LLVMValueRef call)
{
	LLVMValueRef callee = util_callee(call);

	return callee && !LLVMGetIntrinsicID(callee) && !calls_synchronise(call) &&
	       LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind &&
	       (LLVMIsDeclaration(callee) ? calls_only_read(call) : !changes_in(callee));
}

/* ---- searches that a function begins with ---- */

static enum ways_step visit_beginning(LLVMValueRef i, void *with)
{
	LLVMValueRef callee = util_is_call(i) ? util_callee(i) : NULL;

	if (i == with)
		return WAYS_STOP;
	/* By a pointer it may come to the lock. */
	if (LLVMIsALoadInst(i) && !LLVMIsAAllocaInst(private_base(LLVMGetOperand(i, 0))))
		return LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMPointerTypeKind ? WAYS_GO_ON : WAYS_LOST;
	if (util_is_call(i) && (util_is_mark(i) || calls_surely_synchronise(i)))
		return WAYS_GO_ON;
	return (util_is_call(i) && !(callee && LLVMGetIntrinsicID(callee))) || changes_by(i, NULL)
		       ? WAYS_LOST
		       : WAYS_GO_ON;
}

/* Of the function that is called: before it looks at anything it takes a lock, and then it
 * searches, and goes by what that says. */
static LLVMValueRef search_inside(LLVMValueRef function, LLVMValueRef call)
{
	LLVMValueRef callee = util_callee(call), found = NULL;

	if (!callee || callee == function || LLVMIsDeclaration(callee) || LLVMGetIntrinsicID(callee) ||
	    !calls_surely_synchronise(call))
		return NULL;
	ways_begin(callee);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(callee); b && !found; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !found;
		     i = LLVMGetNextInstruction(i)) {
			if (!util_is_call(i) || calls_synchronise(i))
				continue;
			search.second = i;
			if (ways_walk(callee, NULL, &(struct ways_visitor){visit_beginning, NULL, i}) &&
			    !leads(callee, NULL, (struct passing){NULL, i, true}) && may_search(i) &&
			    decides_in(callee))
				found = i;
		}
	ways_end();
	return found;
}

/* ---- conditions that are asked again ---- */

static bool is_condition(LLVMValueRef end)
{
	return LLVMIsABranchInst(end) && LLVMIsConditional(end);
}

static bool inverse(LLVMIntPredicate a, LLVMIntPredicate b)
{
	static const LLVMIntPredicate pairs[][2] = {{LLVMIntEQ, LLVMIntNE},
						    {LLVMIntSLT, LLVMIntSGE},
						    {LLVMIntSGT, LLVMIntSLE},
						    {LLVMIntULT, LLVMIntUGE},
						    {LLVMIntUGT, LLVMIntULE}};

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if ((a == pairs[i][0] && b == pairs[i][1]) || (a == pairs[i][1] && b == pairs[i][0]))
			return true;
	return false;
}

/* Do two branches ask the same? *turned: what is yes for one is no for the other. */
static bool same_question(LLVMValueRef one, LLVMValueRef other, bool *turned)
{
	LLVMValueRef a = LLVMGetCondition(one), b = LLVMGetCondition(other);

	*turned = false;
	if (util_alike(a, b, ALIKE))
		return is_steady(a, ALIKE);
	if (!LLVMIsAICmpInst(a) || !LLVMIsAICmpInst(b))
		return false;
	*turned = inverse(LLVMGetICmpPredicate(a), LLVMGetICmpPredicate(b));
	return (*turned || LLVMGetICmpPredicate(a) == LLVMGetICmpPredicate(b)) && is_steady(a, ALIKE) &&
	       util_alike(LLVMGetOperand(a, 0), LLVMGetOperand(b, 0), ALIKE) &&
	       util_alike(LLVMGetOperand(a, 1), LLVMGetOperand(b, 1), ALIKE);
}

/* Is the value computed of this load? */
static bool is_made_of(LLVMValueRef value, LLVMValueRef load, unsigned steps)
{
	if (value == load)
		return true;
	if (!steps || !LLVMIsAInstruction(value) || LLVMIsAAllocaInst(value) || util_is_call(value))
		return false;
	for (int i = 0; i < LLVMGetNumOperands(value); i++)
		if (is_made_of(LLVMGetOperand(value, (unsigned)i), load, steps - 1))
			return true;
	return false;
}

/* The first look at what others could change by which the branch decides, in its own block. */
static LLVMValueRef first_look(LLVMValueRef branch)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetInstructionParent(branch)); i != branch;
	     i = LLVMGetNextInstruction(i))
		if (LLVMIsALoadInst(i) && !LLVMGetVolatile(i) &&
		    LLVMGetOrdering(i) == LLVMAtomicOrderingNotAtomic &&
		    !private_pointer(LLVMGetOperand(i, 0)) && is_made_of(LLVMGetCondition(branch), i, ALIKE))
			return i;
	return NULL;
}

/* Anything is changed that others could see. */
static enum ways_step visit_change(LLVMValueRef i, void *with)
{
	(void)with;
	if (changes_by(i, NULL))
		return WAYS_LOST;
	return i == search.first ? WAYS_STOP : WAYS_GO_ON;
}

static enum ways_step visit_second(LLVMValueRef i, void *with)
{
	(void)with;
	if (i == search.second)
		return WAYS_LOST;
	return i == search.first ? WAYS_STOP : WAYS_GO_ON;
}

static bool is_asked_behind(LLVMValueRef function, LLVMValueRef branch)
{
	bool turned;

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);

		if (is_condition(end) && same_question(branch, end, &turned) &&
		    leads(function, search.second, (struct passing){search.first, end, false}) &&
		    !leads(function, end, (struct passing){search.first, search.second, false}))
			return true;
	}
	return false;
}

/* All that decided on the way to the second look is asked again behind it. */
static bool all_are_asked(LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b), condition;

		if (!is_condition(end) && !LLVMIsASwitchInst(end))
			continue;
		condition = LLVMGetOperand(end, 0);
		if (!leads(function, end, (struct passing){NULL, search.second, false}) ||
		    is_clean(condition, DEPTH) || turns_is_told(condition))
			continue;
		if (!is_condition(end) || !is_asked_behind(function, end))
			return false;
	}
	return true;
}

/* The second branch asks what the first one asked; who need not go on by the first, changes nothing by the
 * second either. */
static bool asks_again(LLVMValueRef function, LLVMValueRef one, LLVMValueRef other)
{
	bool turned;

	if (one == other || !same_question(one, other, &turned))
		return false;
	search.first = first_look(one);
	search.second = first_look(other);
	if (!search.first || !search.second || !is_behind(function, search.first, search.second))
		return false;
	for (unsigned way = 0; way < 2; way++)
		if (!turns_lead(function, one, way, visit_second) &&
		    turns_lead(function, one, 1 - way, visit_second) &&
		    !turns_lead(function, other, turned ? 1 - way : way, visit_change))
			return true;
	return false;
}

static unsigned find_conditions(LLVMValueRef function, LLVMValueRef *found, unsigned room)
{
	LLVMValueRef branches[MOST_BRANCHES];
	unsigned count = 0, found_count = 0;

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);

		if (!is_condition(end) || !first_look(end))
			continue;
		if (count == MOST_BRANCHES)
			return 0;
		branches[count++] = end;
	}
	for (unsigned i = 0; i < count && found_count < room; i++)
		for (unsigned j = 0; j < count; j++) {
			if (!asks_again(function, branches[j], branches[i]))
				continue;
			look_behind(function);
			if (writes_before(function) || !all_are_asked(function) || carries_over(function))
				continue;
			found[found_count++] = search.second;
			break;
		}
	return found_count;
}

static bool is_search(LLVMValueRef function, unsigned first, unsigned second)
{
	LLVMValueRef inside = search.inside[second];

	search.first = search.calls[first];
	search.second = search.calls[second];
	if (first == second || !util_has_room_behind(search.second))
		return false;
	if (inside ? !same_search_inside(search.first, search.second, inside)
		   : !same_search(search.first, search.second) || !may_search(search.second))
		return false;
	look_behind(function);
	return is_behind(function, search.first, search.second) && !writes_before(function) &&
	       (inside ? are_clean(search.second, DEPTH) : decides_in(function)) && !carries_over(function);
}

unsigned again_find(LLVMValueRef function, LLVMValueRef *found, unsigned room)
{
	unsigned found_count = 0;
	bool synchronises = false;

	search.count = 0;
	search.first = NULL;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			if (!util_is_call(i))
				continue;
			synchronises |= calls_synchronise(i);
			if (util_callee(i) && search.count < MOST_CALLS)
				search.calls[search.count++] = i;
		}
	if (!synchronises)
		return 0;
	for (unsigned i = 0; i < search.count; i++)
		search.inside[i] = search_inside(function, search.calls[i]);
	ways_begin(function);
	for (unsigned i = 0; i < search.count && found_count < room; i++)
		for (unsigned j = 0; j < search.count; j++)
			if (is_search(function, j, i)) {
				found[found_count++] = search.calls[i];
				break;
			}
	found_count += find_conditions(function, found + found_count, room - found_count);
	ways_end();
	return found_count;
}
