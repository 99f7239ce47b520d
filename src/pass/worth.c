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
 * The same holds for functions that call themselves or each other in a circle,
 * and for those that get memory or give it back. But these are the functions on
 * a tree, a list or a queue, and who calls push() twice does not mean the two to
 * be one. So they are seen through only where they are part of a unit anyway:
 * their callers give them nothing but what they are units for (belongs.c).
 *
 * A caller is decided on after those that it calls, in whatever order they stand:
 * clang writes static functions down behind those that call them. A circle is
 * decided on as a whole (Tarjan 1972): if one of it needs a frame, the others
 * call somebody who has one.
 */
#include "pass/worth.h"
#include "pass/functions.h"
#include "pass/pass.h"

#include <stdlib.h>
#include <string.h>

struct node {
	enum { UNSEEN, UNDER_WAY, DECIDED } state;
	struct worth worth;
	size_t order;  /* in which they were come to */
	size_t lowest; /* of those under way that it leads to */
	bool circle;   /* it is called by itself, or others are with it */
	bool narrow;   /* seen through only if its callers are units for what they give it */
};
static struct functions functions;
static struct node *nodes; /* by function */

/* Those under way whose circle may have more. */
static size_t *stack;
static size_t stack_count, come_to;

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

/* May a thread begin with it? std::thread calls a lambda by its name, in a function that is made for it. */
static bool may_be_started(LLVMValueRef function)
{
	static const char *const invoke[] = {"_ZSt13__invoke_impl", NULL};

	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (util_is_call(user) &&
		    util_named_like(LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)), invoke))
			return true;
	}
	return worth_address_taken(function);
}

/* Main, and what may be a thread's start function, are no units; what they call is one by itself. */
static bool is_start(LLVMValueRef function)
{
	size_t length;

	return !strcmp(LLVMGetValueName2(function, &length), "main") || may_be_started(function);
}

/* Through a pointer anybody may call it. */
static bool may_be_called_from_start(LLVMValueRef function)
{
	if (may_be_started(function))
		return true;
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (util_is_call(user) && is_start(LLVMGetBasicBlockParent(LLVMGetInstructionParent(user))))
			return true;
	}
	return false;
}

/* ---- what a function does ---- */

static void decide(size_t number);

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

static void add(struct worth *worth, const struct worth *inner)
{
	worth->accesses += inner->accesses;
	worth->writes |= inner->writes;
}

static void look_at_callee(struct node *node, LLVMValueRef callee)
{
	size_t number = callee ? functions_find(&functions, callee) : FUNCTIONS_NONE;
	struct node *inner = number != FUNCTIONS_NONE ? &nodes[number] : NULL;

	if (!inner || LLVMIsDeclaration(callee) || select_function_ignored(callee)) {
		node->worth.calls = true;
		return;
	}
	decide(number);
	if (inner->state == UNDER_WAY) {
		/* In one circle; what each does is put together when all is known. */
		if (inner->lowest < node->lowest)
			node->lowest = inner->lowest;
		node->circle = true;
	} else if (inner->worth.through) {
		add(&node->worth, &inner->worth);
		node->narrow |= inner->narrow;
	} else {
		node->worth.calls = true;
	}
}

static void look_at_call(LLVMValueRef call, struct node *node)
{
	struct worth *worth = &node->worth;
	LLVMValueRef callee = util_callee(call);
	size_t length;

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
	if (calls_allocator(call)) {
		node->narrow = true;
		return;
	}
	look_at_callee(node, callee);
}

/* A landing pad of what must not throw, as comparisons of strings, from which nothing goes on. */
static bool ends_program(LLVMBasicBlockRef pad)
{
	return LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(pad));
}

static void look(LLVMValueRef function, struct node *node)
{
	struct worth *worth = &node->worth;

	/* It may be left in the middle, and go on elsewhere. */
	worth->calls = util_is_coroutine(function);
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
				look_at_call(i, node);
		}
	}
}

/* ---- what follows from it ---- */

static bool is_local(LLVMValueRef function)
{
	return LLVMGetLinkage(function) == LLVMInternalLinkage ||
	       LLVMGetLinkage(function) == LLVMPrivateLinkage;
}

/* What writes, where there may be no unit around it. */
static bool is_unit(LLVMValueRef function, const struct worth *worth)
{
	return worth->writes && worth->accesses > 1 && !accessor_is(function) &&
	       may_be_called_from_start(function);
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
	worth->frame = is_unit(function, worth);
	/* A loop that waits is to be marked, and only functions with a frame have such. */
	worth->waits = !worth->frame && spins_somewhere(function);
	worth->frame |= worth->waits;
	worth->through = !worth->frame;
}

/* Is a circle seen through? *all: what it does. */
static bool judge_circle(const size_t *members, size_t count, struct worth *all)
{
	*all = (struct worth){.through = true};
	for (size_t i = 0; i < count; i++)
		add(all, &nodes[members[i]].worth);
	for (size_t i = 0; i < count; i++) {
		LLVMValueRef function = functions.at[members[i]];
		const struct worth *own = &nodes[members[i]].worth;

		if (own->calls || own->comes_back || own->asm_blocks || !is_local(function) ||
		    worth_of_the_library(function) || spins_somewhere(function))
			return false;
	}
	return true;
}

/* One function, or those of a circle. */
static void settle(const size_t *members, size_t count)
{
	struct worth all;
	bool circle = nodes[members[0]].circle, through;

	through = circle && judge_circle(members, count, &all);
	for (size_t i = 0; i < count; i++) {
		struct node *node = &nodes[members[i]];

		if (through) {
			node->worth = all;
			node->narrow = true;
		} else {
			/* One of a circle calls another that has a frame. */
			node->worth.calls |= circle;
			judge(functions.at[members[i]], &node->worth);
		}
		node->state = DECIDED;
	}
}

static void decide(size_t number)
{
	struct node *node = &nodes[number];
	LLVMValueRef function = functions.at[number];
	size_t first = stack_count;

	if (node->state != UNSEEN || LLVMIsDeclaration(function) || select_function_ignored(function))
		return;
	node->state = UNDER_WAY;
	node->order = node->lowest = ++come_to;
	stack[stack_count++] = number;
	look(function, node);
	/* It leads to nobody who leads to it that was come to before: its circle is known. */
	if (node->lowest == node->order) {
		settle(&stack[first], stack_count - first);
		stack_count = first;
	}
}

/* ---- what callers say to it ---- */

/* Is who calls it a unit for what it is given, or seen through itself, so that its caller is? */
static bool is_within_caller(LLVMValueRef call)
{
	LLVMValueRef caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
	const struct worth *worth = worth_of(caller);

	if (worth->through)
		return belongs_to_caller(call, true);
	return worth->frame && !is_start(caller) && !util_is_coroutine(caller) &&
	       belongs_to_caller(call, false);
}

static bool is_within_callers(LLVMValueRef function)
{
	if (worth_address_taken(function))
		return false;
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use))
		if (!is_within_caller(LLVMGetUser(use)))
			return false;
	return true;
}

/* It has a frame after all, and whoever is seen through and calls it. */
static void call_somebody(LLVMValueRef function)
{
	struct worth *worth = &nodes[functions_find(&functions, function)].worth;
	bool through = worth->through;

	worth->calls = true;
	worth->through = worth->waits = false;
	worth->frame |= !worth_of_the_library(function);
	if (!through)
		return;
	for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use))
		if (util_is_call(LLVMGetUser(use)))
			call_somebody(LLVMGetBasicBlockParent(LLVMGetInstructionParent(LLVMGetUser(use))));
}

/* Who gets a frame has one receiver instead of parameters that are all its caller's, so others may follow. */
static void narrow_down(void)
{
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < functions.count; i++) {
			const struct node *node = &nodes[i];

			if (node->worth.through && node->narrow && node->worth.accesses &&
			    !is_within_callers(functions.at[i])) {
				call_somebody(functions.at[i]);
				changed = true;
			}
		}
	}
}

void worth_collect(LLVMModuleRef module)
{
	worth_forget();
	private_forget();
	functions_collect(&functions, module);
	nodes = calloc(functions.count + 1, sizeof *nodes);
	stack = calloc(functions.count + 1, sizeof *stack);
	for (size_t i = 0; i < functions.count; i++)
		decide(i);
	free(stack);
	stack = NULL;
	narrow_down();
}

void worth_forget(void)
{
	free(nodes);
	nodes = NULL;
	stack_count = come_to = 0;
	functions_release(&functions);
}

const struct worth *worth_of(LLVMValueRef function)
{
	static const struct worth none;
	size_t number = functions_find(&functions, function);

	return number != FUNCTIONS_NONE ? &nodes[number].worth : &none;
}
