/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Wrappers. A function that returns with a lock taken or released is no block
 * that was meant to be atomic, it is the lock operation of its caller. A
 * function that returns memory fresh from the allocator is the allocation of
 * its caller. Both are inlined, if they are small; wrappers of wrappers are
 * found by going round until nothing is new.
 */
#include <stdlib.h>
#include <string.h>

#include "lower/lower.h"

enum { MOST_INSTRUCTIONS = 80, MOST_BLOCKS = 24, MOST_ROUNDS = 8 };

struct net {
	LLVMValueRef function;
	int depth; /* locks held more at its end than at its beginning */
};
static struct net *nets;
static size_t net_count;

static const char *callee_name(LLVMValueRef call, LLVMValueRef *function)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);
	size_t length;

	*function = callee && LLVMIsAFunction(callee) ? callee : NULL;
	return *function ? LLVMGetValueName2(*function, &length) : "";
}

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

static const char *const takes[] = {"pthread_mutex_lock",    "pthread_spin_lock", "pthread_rwlock_rdlock",
				    "pthread_rwlock_wrlock", "mtx_lock",          NULL};
static const char *const tries[] = {"pthread_mutex_trylock",
				    "pthread_spin_trylock",
				    "pthread_rwlock_tryrdlock",
				    "pthread_rwlock_trywrlock",
				    "mtx_trylock",
				    "mtx_timedlock",
				    "pthread_mutex_timedlock",
				    "pthread_mutex_clocklock",
				    NULL};
static const char *const gives[] = {"pthread_mutex_unlock", "pthread_spin_unlock", "pthread_rwlock_unlock",
				    "mtx_unlock", NULL};
static const char *const allocates[] = {
	"malloc", "calloc",   "aligned_alloc",        "_Znwm",   "_Znam",
	"valloc", "memalign", "_ZnwmSt11align_val_t", "realloc", "reallocarray",
	NULL};

static int net_of(LLVMValueRef call)
{
	LLVMValueRef function;
	const char *name = callee_name(call, &function);

	if (is_one_of(name, takes) || is_one_of(name, tries))
		return 1;
	if (is_one_of(name, gives))
		return -1;
	for (size_t i = 0; function && i < net_count; i++)
		if (nets[i].function == function)
			return nets[i].depth;
	return 0;
}

static bool is_call(LLVMValueRef i)
{
	return LLVMIsACallInst(i) || LLVMIsAInvokeInst(i);
}

static bool is_small(LLVMValueRef function)
{
	unsigned count = 0;

	if (LLVMCountBasicBlocks(function) > MOST_BLOCKS)
		return false;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			LLVMValueRef callee;

			if (++count > MOST_INSTRUCTIONS)
				return false;
			if (is_call(i) && (callee_name(i, &callee), callee == function))
				return false;
		}
	return true;
}

struct content {
	bool takes, tries, gives;
};

static struct content content_of(LLVMValueRef function)
{
	struct content c = {0};

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			LLVMValueRef callee;
			const char *name = is_call(i) ? callee_name(i, &callee) : "";

			c.takes |= is_one_of(name, takes);
			c.tries |= is_one_of(name, tries);
			c.gives |= is_one_of(name, gives);
		}
	return c;
}

/* Locks held at some return, as far as a walk that enters each block once tells. */
static int depth_at_end(LLVMValueRef function)
{
	LLVMBasicBlockRef blocks[MOST_BLOCKS], waiting[MOST_BLOCKS];
	int depths[MOST_BLOCKS];
	unsigned count = 0, waits = 0;
	int found = 0;

	blocks[count] = waiting[waits++] = LLVMGetEntryBasicBlock(function);
	depths[count++] = 0;
	while (waits) {
		LLVMBasicBlockRef b = waiting[--waits];
		unsigned at = 0;

		while (blocks[at] != b)
			at++;
		int depth = depths[at];

		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (is_call(i))
				depth += net_of(i);
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);

		if (!end)
			continue;
		if (LLVMIsAReturnInst(end) && depth)
			found = depth;
		for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
			LLVMBasicBlockRef next = LLVMGetSuccessor(end, s);
			unsigned n = 0;

			while (n < count && blocks[n] != next)
				n++;
			if (n == count) {
				blocks[count] = waiting[waits++] = next;
				depths[count++] = depth;
			}
		}
	}
	return found;
}

static bool passes_on(LLVMValueRef value, int depth, LLVMValueRef const *wrappers, size_t wrapper_count)
{
	LLVMValueRef function;

	if (depth > 6)
		return false;
	if (is_call(value)) {
		const char *name = callee_name(value, &function);

		if (is_one_of(name, allocates))
			return true;
		for (size_t i = 0; function && i < wrapper_count; i++)
			if (wrappers[i] == function)
				return true;
		return false;
	}
	if (LLVMIsAPHINode(value)) {
		for (unsigned i = 0; i < LLVMCountIncoming(value); i++)
			if (passes_on(LLVMGetIncomingValue(value, i), depth + 1, wrappers, wrapper_count))
				return true;
		return false;
	}
	if (LLVMIsASelectInst(value))
		return passes_on(LLVMGetOperand(value, 1), depth + 1, wrappers, wrapper_count) ||
		       passes_on(LLVMGetOperand(value, 2), depth + 1, wrappers, wrapper_count);
	return false;
}

static bool returns_fresh(LLVMValueRef function, LLVMValueRef const *wrappers, size_t wrapper_count)
{
	if (LLVMGetTypeKind(LLVMGetReturnType(LLVMGlobalGetValueType(function))) != LLVMPointerTypeKind)
		return false;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(b);

		if (end && LLVMIsAReturnInst(end) && LLVMGetNumOperands(end) &&
		    passes_on(LLVMGetOperand(end, 0), 0, wrappers, wrapper_count))
			return true;
	}
	return false;
}

static void inline_it(LLVMModuleRef module, LLVMValueRef function)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	unsigned noinline = LLVMGetEnumAttributeKindForName("noinline", 8);

	LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, noinline);
	LLVMAddAttributeAtIndex(
		function, LLVMAttributeFunctionIndex,
		LLVMCreateEnumAttribute(context, LLVMGetEnumAttributeKindForName("alwaysinline", 12), 0));
}

void wrapper_mark(LLVMModuleRef module)
{
	size_t room = 0, count = 0;
	LLVMValueRef *small = NULL, *fresh = NULL;
	size_t fresh_count = 0;

	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		size_t length;

		if (LLVMIsDeclaration(f) || !is_small(f) || !strcmp(LLVMGetValueName2(f, &length), "main"))
			continue;
		if (count == room) {
			room = room ? room * 2 : 256;
			small = mem_resize(small, room, sizeof(*small));
		}
		small[count++] = f;
	}
	/* First how many locks each leaves held, all of them again until that is settled: who takes a lock
	 * and who gives it back must be known before anybody is judged by calling them. */
	nets = mem_zalloc(count + 1, sizeof(*nets));
	for (size_t i = 0; i < count; i++)
		nets[i].function = small[i];
	net_count = count;
	for (int round = 0, changed = 1; round < MOST_ROUNDS && changed; round++) {
		changed = 0;
		for (size_t i = 0; i < count; i++) {
			struct content has = content_of(small[i]);
			/* Tries, and gives back what it got: how often depends on the way. */
			int depth = has.tries && has.gives ? 0 : depth_at_end(small[i]);

			changed |= depth != nets[i].depth;
			nets[i].depth = depth;
		}
	}
	for (size_t i = 0; i < count; i++)
		if (nets[i].depth)
			inline_it(module, small[i]);
	fresh = mem_zalloc(count + 1, sizeof(*fresh));
	for (int round = 0, changed = 1; round < MOST_ROUNDS && changed; round++) {
		changed = 0;
		for (size_t i = 0; i < count; i++) {
			struct content has = content_of(small[i]);
			size_t n = 0;

			while (n < fresh_count && fresh[n] != small[i])
				n++;
			if (n < fresh_count || nets[i].depth || has.takes || has.tries || has.gives ||
			    !returns_fresh(small[i], fresh, fresh_count))
				continue;
			fresh[fresh_count++] = small[i];
			inline_it(module, small[i]);
			changed = 1;
		}
	}
	free(nets);
	free(small);
	free(fresh);
	nets = NULL;
	net_count = 0;
}
