/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loops that do nothing but take a lock: `while (pthread_mutex_trylock(&m)) sched_yield()`,
 * sem_wait() until no signal interrupts it, or two locks of which the first is given back
 * while the second cannot be had. They synchronise, but they are no worker's loop: who has
 * come out of one goes on with what it was about.
 *
 * Asked of unoptimised code, where variables are allocas.
 */
#include "pass/pass.h"
#include "pass/worth.h"

#include <string.h>

enum { MOST_DEPTH = 8 /* of calls that are looked into */ };

bool acquires_or_gives_back(const char *name)
{
	static const char *const names[] = {
		"pthread_mutex_lock",
		"pthread_mutex_trylock",
		"pthread_mutex_timedlock",
		"pthread_mutex_clocklock",
		"pthread_rwlock_rdlock",
		"pthread_rwlock_tryrdlock",
		"pthread_rwlock_timedrdlock",
		"pthread_rwlock_clockrdlock",
		"pthread_rwlock_wrlock",
		"pthread_rwlock_trywrlock",
		"pthread_rwlock_timedwrlock",
		"pthread_rwlock_clockwrlock",
		"pthread_spin_lock",
		"pthread_spin_trylock",
		"sem_wait",
		"sem_trywait",
		"sem_timedwait",
		"sem_clockwait",
		"mtx_lock",
		"mtx_trylock",
		"mtx_timedlock",
		"pthread_mutex_unlock",
		"pthread_rwlock_unlock",
		"pthread_spin_unlock",
		"sem_post",
		"mtx_unlock",
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static bool is_local(LLVMValueRef pointer)
{
	return LLVMIsAAllocaInst(private_base(pointer));
}

/* A way to the lock, or what the last call said of itself. */
static bool is_aside(LLVMValueRef load)
{
	LLVMValueRef from = LLVMGetOperand(load, 0),
		     callee = LLVMIsACallInst(from) ? util_callee(from) : NULL;
	size_t length;

	if (LLVMGetVolatile(load) || LLVMGetOrdering(load) != LLVMAtomicOrderingNotAtomic)
		return false;
	return is_local(from) || LLVMGetTypeKind(LLVMTypeOf(load)) == LLVMPointerTypeKind ||
	       (callee && !strcmp(LLVMGetValueName2(callee, &length), "__errno_location"));
}

static bool does_more(LLVMValueRef i, unsigned depth)
{
	LLVMValueRef callee;
	size_t length;
	/* Of a guard, say, which is a local of who calls it. */
	bool own = depth && worth_of_the_library(LLVMGetBasicBlockParent(LLVMGetInstructionParent(i)));

	if (LLVMIsAStoreInst(i))
		return !own && !is_local(LLVMGetOperand(i, 1));
	if (LLVMIsALoadInst(i))
		return !own && !is_aside(i);
	if (!LLVMIsACallInst(i) && !LLVMIsAInvokeInst(i))
		return LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i);
	if (spins_idle(i) || util_call_attribute(i, "noreturn"))
		return false;
	callee = util_callee(i);
	if (!callee || depth == MOST_DEPTH)
		return true;
	if (LLVMIsDeclaration(callee))
		return !acquires_or_gives_back(LLVMGetValueName2(callee, &length));
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(callee); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef inner = LLVMGetFirstInstruction(b); inner;
		     inner = LLVMGetNextInstruction(inner))
			if (does_more(inner, depth + 1))
				return true;
	return false;
}

bool acquires_more(LLVMValueRef instruction)
{
	return does_more(instruction, 0);
}
