/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Bare locks. Healing has to know which locks a thread holds where a section
 * begins, and under which lock a variable is used. Most locks of a program have
 * nothing to do with either: from the call that takes one to the calls that let
 * it go, in the same function, there is no call of healing, and none that could
 * lead to one. Such a lock need not be remembered while nobody has anything to
 * do with gates, and the call becomes a look at that and libc's own function
 * (heal_inlined.c).
 *
 * A bare lock that is taken inside of another one tells the runtime of the outer
 * one if it may come to wait. So an outer one must be held for certain where the
 * inner one is taken: the call that takes it comes before on all ways (it
 * dominates), and there is no way from where it is let go to the inner one but
 * by taking it again. Any other lock inside, one that is not bare, makes the
 * outer one not bare, too.
 *
 * Done behind the optimiser, when guards of C++ have been inlined. Only in a
 * module that calls healing: another one is to be what clang makes of it.
 */
#include "pass/emit.h"
#include "pass/heal.h"
#include "pass/pass.h"
#include "pass/ways.h"

#include "pass/heal_inlined_bitcode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct lock_kind {
	const char *locks, *unlocks, *inlined;
} kinds[ATOMSAN_HEAL_LOCKS] = {
	[ATOMSAN_HEAL_MUTEX] = {"pthread_mutex_lock", "pthread_mutex_unlock", "mutex"},
	[ATOMSAN_HEAL_MTX] = {"mtx_lock", "mtx_unlock", "mtx"},
	[ATOMSAN_HEAL_SPIN] = {"pthread_spin_lock", "pthread_spin_unlock", "spin"},
	[ATOMSAN_HEAL_RDLOCK] = {"pthread_rwlock_rdlock", "pthread_rwlock_unlock", "rdlock"},
	[ATOMSAN_HEAL_WRLOCK] = {"pthread_rwlock_wrlock", "pthread_rwlock_unlock", "wrlock"},
};

enum {
	NONE = -1,
	FACTS = 4,
	MOST = 256,  /* locks of a function; one with more is left alone */
	ALIKE = 8,   /* steps that two addresses are followed for */
	LONGEST = 64 /* of a name */
};

/* What is certain where a lock is taken: `if (a != b) lock(b); ... if (a != b) unlock(b);`. */
struct fact {
	LLVMValueRef condition;
	unsigned way; /* the successor that was gone to */
};

/* A call that locks. */
struct lock {
	LLVMValueRef call, address;
	int kind;
	bool bare;
	int outer;          /* the bare lock that it is inside of, or NONE */
	bool inside[MOST];  /* which locks are taken while it is held */
	LLVMValueRef *ends; /* the calls that let it go */
	unsigned end_count;
	struct fact facts[FACTS];
	unsigned fact_count;
};
static struct lock *locks;
static int lock_count;

/* ---- what a call is ---- */

static const char *called(LLVMValueRef instruction)
{
	LLVMValueRef callee = LLVMIsACallInst(instruction) ? util_callee(instruction) : NULL;
	size_t length;

	return callee && LLVMIsDeclaration(callee) ? LLVMGetValueName2(callee, &length) : "";
}

static bool has_lock_type(LLVMValueRef call)
{
	LLVMTypeRef type = LLVMGetCalledFunctionType(call), result = LLVMGetReturnType(type), parameter;

	if (LLVMCountParamTypes(type) != 1 || LLVMIsFunctionVarArg(type))
		return false;
	LLVMGetParamTypes(type, &parameter);
	return LLVMGetTypeKind(parameter) == LLVMPointerTypeKind &&
	       LLVMGetTypeKind(result) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(result) == 32;
}

static int kind_of(LLVMValueRef instruction)
{
	const char *name = called(instruction);

	for (int kind = 0; *name && kind < ATOMSAN_HEAL_LOCKS; kind++)
		if (!strcmp(name, kinds[kind].locks) && has_lock_type(instruction))
			return kind;
	return NONE;
}

/* Lets a lock of this kind go. */
static bool unlocks(LLVMValueRef instruction, int kind)
{
	return !strcmp(called(instruction), kinds[kind].unlocks) && has_lock_type(instruction);
}

static bool unlocks_any(LLVMValueRef instruction)
{
	for (int kind = 0; kind < ATOMSAN_HEAL_LOCKS; kind++)
		if (unlocks(instruction, kind))
			return true;
	return false;
}

/* Leaves the function, and whatever is held. */
static bool jumps(LLVMValueRef instruction)
{
	return strstr(called(instruction), "longjmp") != NULL;
}

static int number_of(LLVMValueRef call)
{
	for (int i = 0; i < lock_count; i++)
		if (locks[i].call == call)
			return i;
	return NONE;
}

static LLVMValueRef address_of(LLVMValueRef call)
{
	return LLVMGetOperand(call, 0);
}

/* ---- what is known where a lock is held ---- */

static LLVMValueRef condition_of(LLVMValueRef end)
{
	return LLVMIsABranchInst(end) && LLVMIsConditional(end) ? LLVMGetCondition(end) : NULL;
}

/* Which way a call that locks is gone on from if it returned 0; others have not got the lock, or go by the
 * runtime. False: it is not this that is asked for. */
static bool way_of_success(LLVMValueRef end, LLVMValueRef call, LLVMBasicBlockRef *way)
{
	LLVMValueRef asked = condition_of(end), number;

	if (LLVMIsASwitchInst(end) && LLVMGetOperand(end, 0) == call) {
		*way = LLVMGetSwitchDefaultDest(end);
		/* The first successor is the default. */
		for (unsigned i = 1; i < LLVMGetNumSuccessors(end); i++)
			if (!LLVMConstIntGetZExtValue(LLVMGetSwitchCaseValue(end, i)))
				*way = LLVMGetSuccessor(end, i);
		return true;
	}
	if (!asked || !LLVMIsAICmpInst(asked) || LLVMGetOperand(asked, 0) != call)
		return false;
	number = LLVMGetOperand(asked, 1);
	if (!LLVMIsAConstantInt(number) ||
	    (LLVMGetICmpPredicate(asked) != LLVMIntEQ && LLVMGetICmpPredicate(asked) != LLVMIntNE))
		return false;
	*way = LLVMGetSuccessor(
		end, (LLVMGetICmpPredicate(asked) == LLVMIntEQ) == !LLVMConstIntGetZExtValue(number) ? 0 : 1);
	return true;
}

/* Is this way out of a block open to one who has taken the lock? */
static bool is_open(LLVMValueRef end, unsigned way, void *with)
{
	const struct lock *lock = with;
	LLVMValueRef condition = condition_of(end);
	LLVMBasicBlockRef only;

	if (way_of_success(end, lock->call, &only))
		return LLVMGetSuccessor(end, way) == only;
	for (unsigned i = 0; condition && i < lock->fact_count; i++)
		if (lock->facts[i].condition == condition)
			return lock->facts[i].way == way;
	return true;
}

/* ---- which are bare ---- */

/*
 * Is this one of the ends of a lock? The optimiser makes one call of two that let
 * different locks go; then it depends on where one comes from. `all`: by no way
 * that was walked from the lock does one come to let another one go.
 */
static bool is_end(LLVMValueRef call, const struct lock *lock, bool all)
{
	LLVMValueRef address = address_of(call);
	bool some = false;

	if (!LLVMIsAPHINode(address) || address == lock->address)
		return util_alike(address, lock->address, ALIKE);
	/* What it was before the lock was taken is another one, as in a walk from lock to lock. */
	if (!ways_came_to(LLVMGetInstructionParent(address)))
		return false;
	for (unsigned i = 0; i < LLVMCountIncoming(address); i++) {
		LLVMBasicBlockRef from = LLVMGetIncomingBlock(address, i);
		bool same = util_alike(LLVMGetIncomingValue(address, i), lock->address, ALIKE);

		if (from != LLVMGetInstructionParent(lock->call) && !ways_came_to(from))
			continue;
		if (all && !same)
			return false;
		some |= same;
	}
	return some;
}

static enum ways_step visit_held(LLVMValueRef i, void *with)
{
	struct lock *lock = with;
	int inner;

	if (unlocks(i, lock->kind) && is_end(i, lock, false)) {
		lock->ends = realloc(lock->ends, (lock->end_count + 1) * sizeof *lock->ends);
		lock->ends[lock->end_count++] = i;
		return WAYS_STOP;
	}
	/* It may be another value from here on. */
	for (unsigned n = 0; n < lock->fact_count; n++)
		if (lock->facts[n].condition == i)
			return WAYS_LOST;
	inner = number_of(i);
	if (inner != NONE) {
		lock->inside[inner] = true;
		/* Taken twice, it is not over where it is let go first. */
		return locks[inner].kind == lock->kind &&
				       util_alike(locks[inner].address, lock->address, ALIKE)
			       ? WAYS_LOST
			       : WAYS_GO_ON;
	}
	/* Held beyond the function, or where something is healed perhaps. */
	if (jumps(i) || LLVMIsAReturnInst(i) || LLVMIsAResumeInst(i) ||
	    (calls_synchronise(i) && !unlocks_any(i)))
		return WAYS_LOST;
	return LLVMIsACallBrInst(i) ? WAYS_LOST : WAYS_GO_ON;
}

static bool is_bare(LLVMValueRef function, struct lock *lock)
{
	if (!ways_walk(function, lock->call, &(struct ways_visitor){visit_held, is_open, lock}))
		return false;
	for (unsigned i = 0; i < lock->end_count; i++)
		if (!is_end(lock->ends[i], lock, true))
			return false;
	return true;
}

struct passing {
	LLVMValueRef by, to;
};

/* Is there a way to one and not by the other? */
static enum ways_step visit_around(LLVMValueRef i, void *with)
{
	const struct passing *passing = with;

	return i == passing->to ? WAYS_LOST : i == passing->by ? WAYS_STOP : WAYS_GO_ON;
}

/* Is the outer one held whenever the inner one is taken? */
static bool is_certain(LLVMValueRef function, const struct lock *outer, const struct lock *inner)
{
	struct passing passing = {outer->call, inner->call};

	if (!ways_walk(function, NULL, &(struct ways_visitor){visit_around, NULL, &passing}))
		return false;
	for (unsigned i = 0; i < outer->end_count; i++)
		if (!ways_walk(function, outer->ends[i],
			       &(struct ways_visitor){visit_around, NULL, &passing}))
			return false;
	return true;
}

/* The only block that leads here; NULL: there are several, or none. */
static LLVMBasicBlockRef before(LLVMBasicBlockRef block)
{
	LLVMBasicBlockRef only = NULL;

	for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		/* A block's address, or the second way of one branch. */
		if (only || !LLVMIsATerminatorInst(user))
			return NULL;
		only = LLVMGetInstructionParent(user);
	}
	return only;
}

static void find_facts(struct lock *lock)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(lock->call), from;

	for (unsigned steps = 0; steps < FACTS && (from = before(block)); steps++, block = from) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(from), condition = condition_of(end);

		if (condition)
			lock->facts[lock->fact_count++] =
				(struct fact){condition, LLVMGetSuccessor(end, 0) == block ? 0 : 1};
	}
}

static void collect(LLVMValueRef function)
{
	lock_count = 0;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			int kind = kind_of(i);

			if (kind == NONE)
				continue;
			if (lock_count == MOST) {
				lock_count = 0;
				return;
			}
			locks[lock_count++] = (struct lock){
				.call = i, .address = address_of(i), .kind = kind, .outer = NONE};
			find_facts(&locks[lock_count - 1]);
		}
}

/* Those that one lock is inside of: at most one may be bare, for no more can be told of. */
static bool look_around(int inner)
{
	int outer = NONE;
	bool changed = false;

	for (int i = 0; i < lock_count; i++)
		if (locks[i].bare && locks[i].inside[inner]) {
			if (outer != NONE || !locks[inner].bare)
				locks[i].bare = false, changed = true;
			else
				outer = i;
		}
	locks[inner].outer = outer;
	return changed;
}

static void choose(LLVMValueRef function)
{
	bool changed = true;

	for (int i = 0; i < lock_count; i++)
		locks[i].bare = is_bare(function, &locks[i]);
	for (int i = 0; i < lock_count; i++)
		for (int j = 0; j < lock_count && locks[i].bare; j++)
			if (locks[i].inside[j] && !is_certain(function, &locks[i], &locks[j]))
				locks[i].bare = false;
	while (changed) {
		changed = false;
		for (int i = 0; i < lock_count; i++)
			changed |= look_around(i);
	}
}

/* ---- what becomes of them ---- */

static LLVMValueRef inlined(const char *before, int kind, const char *behind)
{
	char name[LONGEST];

	snprintf(name, sizeof name, "__atomsan_inl_heal_%s%s%s", before, kinds[kind].inlined, behind);
	return emit_hook(name);
}

static void replace(LLVMValueRef call, LLVMValueRef function, LLVMValueRef *arguments, unsigned count)
{
	LLVMValueRef made;

	emit_before(call);
	made = LLVMBuildCall2(emit.builder, LLVMGlobalGetValueType(function), function, arguments, count, "");
	/* A function that ends by letting the lock go has nothing to come back for. */
	LLVMSetTailCall(made, LLVMIsTailCall(call));
	LLVMReplaceAllUsesWith(call, made);
	LLVMInstructionEraseFromParent(call);
}

static void change_lock(const struct lock *lock)
{
	const struct lock *outer = lock->outer == NONE ? NULL : &locks[lock->outer];
	LLVMValueRef arguments[3] = {lock->address};

	if (outer) {
		arguments[1] = outer->address;
		arguments[2] =
			LLVMConstInt(LLVMInt32TypeInContext(emit.context), (unsigned)outer->kind, false);
	}
	replace(lock->call, inlined("", lock->kind, outer ? "_in" : ""), arguments, outer ? 3 : 1);
}

/* Several locks may have an end in common. */
static void change_ends(const struct lock *lock)
{
	for (unsigned i = 0; i < lock->end_count; i++) {
		LLVMValueRef end = lock->ends[i], address = address_of(end);

		for (struct lock *other = locks; other < locks + lock_count; other++)
			for (unsigned j = 0; other != lock && j < other->end_count; j++)
				if (other->ends[j] == end)
					other->ends[j--] = other->ends[--other->end_count];
		replace(end, inlined("un", lock->kind, ""), &address, 1);
	}
}

static void look_at(LLVMValueRef function)
{
	collect(function);
	if (!lock_count)
		return;
	ways_begin(function);
	choose(function);
	for (int i = 0; i < lock_count; i++)
		if (locks[i].bare) {
			if (!emit.module)
				emit_begin_with(LLVMGetGlobalParent(function), heal_inlined_bitcode,
						sizeof heal_inlined_bitcode);
			change_lock(&locks[i]);
			change_ends(&locks[i]);
		}
	for (int i = 0; i < lock_count; i++)
		free(locks[i].ends);
}

static bool is_healed(LLVMModuleRef module)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		size_t length;

		if (!strncmp(LLVMGetValueName2(f, &length), "__atomsan_heal_", 15))
			return true;
	}
	return false;
}

void heal_bare(LLVMModuleRef module)
{
	if (!is_healed(module))
		return;
	locks = calloc(MOST, sizeof *locks);
	calls_collect(module);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f))
			look_at(f);
	if (emit.module)
		emit_end();
	calls_forget();
	free(locks);
	ways_end();
}
