/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which functions are worth a frame. Not those that do nothing another thread
 * could see, nor those of the C++ library. A static function that calls nobody,
 * a plain getter or setter above all, is seen through: what it does, its caller
 * does, and its sites name it all the same. So is one that calls nobody but
 * such, functions that only look at memory (memcmp, strlen) and functions that
 * give up (abort). None of them
 * synchronises, so nothing of another thread can come in between of what one
 * does, unless it races with it. But where there may be no unit around it, what
 * writes is one.
 *
 * A caller is decided on after those that it calls, in whatever order they stand:
 * clang writes static functions down behind those that call them. Functions that
 * call each other in a circle are worth a frame.
 */
#include "pass/worth.h"
#include "pass/functions.h"
#include "pass/pass.h"

#include <stdlib.h>
#include <string.h>

struct node {
	enum { UNSEEN, UNDER_WAY, DECIDED } state;
	struct worth worth;
};
static struct functions functions;
static struct node *nodes; /* by function */

bool worth_returns_twice(LLVMValueRef call)
{
	return util_call_attribute(call, "returns_twice");
}

bool worth_of_the_library(LLVMValueRef function)
{
	/* Two Z: of a class or a lambda inside of one. */
	static const char *const prefixes[] = {"_ZNSt",         "_ZNKSt",         "_ZSt",
					       "_ZZNSt",        "_ZZNKSt",        "_ZZSt",
					       "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx", NULL};

	const char *name;
	size_t length;

	if (util_named_like(function, prefixes))
		return true;
	/* What std::mutex and its kin call: static functions of a header of the library,
	 * _ZL20__gthread_mutex_lock... */
	name = LLVMGetValueName2(function, &length);
	if (strncmp(name, "_ZL", 3) != 0)
		return false;
	name += 3;
	name += strspn(name, "0123456789");
	return !strncmp(name, "__gthread_", 10);
}

bool worth_address_taken(LLVMValueRef function)
{
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (!util_is_call(user) || LLVMGetCalledValue(user) != function)
			return true;
	}
	return false;
}

/* Main, and what may be a thread's start function, are no units; what they call is one by itself. Through a
 * pointer anybody may call it. */
static bool may_be_called_from_start(LLVMValueRef function)
{
	if (worth_address_taken(function))
		return true;
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use), caller;
		size_t length;

		if (!LLVMIsACallInst(user) && !LLVMIsAInvokeInst(user))
			continue;
		caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
		if (!strcmp(LLVMGetValueName2(caller, &length), "main") || worth_address_taken(caller))
			return true;
	}
	return false;
}

/* ---- what a function does ---- */

static const struct worth *decide(size_t number);

/*
 * A failed assertion, a throw, a message and an end: nothing is left to be a
 * unit. A function that never returns because it serves for ever is no such: of
 * those that the program has they are the ones without a branch.
 */
static bool gives_up(LLVMValueRef function)
{
	static const char *const names[] = {"abort",         "exit",          "_exit",
					    "_Exit",         "quick_exit",    "longjmp",
					    "_longjmp",      "siglongjmp",    "__assert_fail",
					    "__cxa_throw",   "__cxa_rethrow", "_ZSt9terminatev",
					    "__longjmp_chk", "__assert",      "__assert_perror_fail"};
	size_t length;
	const char *name = LLVMGetValueName2(function, &length);

	if (!LLVMIsDeclaration(function))
		return LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(function)));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return !strncmp(name, "_ZSt", 4) && strstr(name, "__throw_");
}

static void look_at_call(LLVMValueRef call, struct worth *worth)
{
	LLVMValueRef callee = util_callee(call);
	const struct worth *inner;
	size_t length, number;

	if (LLVMIsAInlineAsm(LLVMGetCalledValue(call))) {
		/* An empty one is a barrier for the compiler and does nothing. */
		LLVMGetInlineAsmAsmString(LLVMGetCalledValue(call), &length);
		worth->asm_blocks += length != 0;
		return;
	}
	worth->comes_back |= worth_returns_twice(call);
	if (callee && LLVMGetIntrinsicID(callee)) {
		worth->accesses += 2 * util_is_intrinsic(call, "llvm.mem");
		return;
	}
	if (callee && LLVMIsDeclaration(callee) && calls_only_read(call)) {
		worth->accesses += 2;
		return;
	}
	if (callee && gives_up(callee))
		return;
	number = callee ? functions_find(&functions, callee) : FUNCTIONS_NONE;
	inner = number != FUNCTIONS_NONE ? decide(number) : NULL;
	if (!inner || !inner->through) {
		worth->calls = true;
		return;
	}
	worth->accesses += inner->accesses;
	worth->writes |= inner->writes;
}

/* A landing pad of what must not throw, as comparisons of strings, from which nothing goes on. */
static bool ends_program(LLVMBasicBlockRef pad)
{
	return LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(pad));
}

static void look(LLVMValueRef function, struct worth *worth)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
			LLVMOpcode opcode = LLVMGetInstructionOpcode(i);

			if (opcode == LLVMLandingPad && !ends_program(b))
				worth->comes_back = true;
			if ((opcode == LLVMLoad || opcode == LLVMStore) &&
			    !private_pointer(LLVMGetOperand(i, opcode == LLVMStore))) {
				worth->accesses++;
				worth->writes |= opcode == LLVMStore;
			}
			if (opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg) {
				worth->accesses++;
				worth->writes = true;
			}
			if (opcode == LLVMCall || opcode == LLVMInvoke)
				look_at_call(i, worth);
		}
	}
}

/* ---- what follows from it ---- */

static bool is_local(LLVMValueRef function)
{
	return LLVMGetLinkage(function) == LLVMInternalLinkage ||
	       LLVMGetLinkage(function) == LLVMPrivateLinkage;
}

static void judge(LLVMValueRef function, struct worth *worth)
{
	/* What tests what it waits for has a loop to be marked (waits.c). */
	if (worth->asm_blocks || waits_until(function)) {
		worth->frame = true;
		return;
	}
	/* Where it catches exceptions control comes back to its caller's frame. */
	if (worth_of_the_library(function))
		return;
	if (worth->comes_back) {
		worth->frame = true;
		return;
	}
	if (!is_local(function) || worth->calls) {
		worth->frame = worth->accesses || worth->calls;
		return;
	}
	worth->frame = worth->writes && worth->accesses > 1 && !accessor_is(function) &&
		       may_be_called_from_start(function);
	/* A loop that waits is to be marked, and only functions with a frame have such. */
	worth->waits = !worth->frame && spins_somewhere(function);
	worth->frame |= worth->waits;
	worth->through = !worth->frame;
}

static const struct worth *decide(size_t number)
{
	struct node *node = &nodes[number];
	LLVMValueRef function = functions.at[number];

	if (node->state == DECIDED)
		return &node->worth;
	/* In a circle: not seen through. */
	if (node->state == UNDER_WAY || LLVMIsDeclaration(function) || select_function_ignored(function))
		return NULL;
	node->state = UNDER_WAY;
	look(function, &node->worth);
	judge(function, &node->worth);
	node->state = DECIDED;
	return &node->worth;
}

void worth_collect(LLVMModuleRef module)
{
	worth_forget();
	private_forget();
	functions_collect(&functions, module);
	nodes = calloc(functions.count + 1, sizeof *nodes);
	for (size_t i = 0; i < functions.count; i++)
		decide(i);
}

void worth_forget(void)
{
	free(nodes);
	nodes = NULL;
	functions_release(&functions);
}

const struct worth *worth_of(LLVMValueRef function)
{
	static const struct worth none;
	size_t number = functions_find(&functions, function);

	return number != FUNCTIONS_NONE ? &nodes[number].worth : &none;
}
