/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loops that wait until something holds: `while (!done) cv_wait(&c)`. Whoever
 * comes to one means others to work in between, also if it holds already and
 * nobody has to wait. Programs wrap the C library's functions, often in another
 * file, so a loop is noted with the names of what it calls, and so are functions
 * that do little else than call; model/waits.c puts the names together. A function
 * that waits in a loop of its own is no wrapper: what it waits for is its own
 * business.
 */
#include "pass/flow.h"
#include "pass/pass.h"

#include <stdio.h>
#include <string.h>

enum {
	MOST_NAMES = 8,
	MOST_CALLS = 4, /* of a wrapper */
	MOST_DEPTH = 4  /* of wrappers in one file */
};

struct names {
	const char *names[MOST_NAMES];
	unsigned count;
};

static void add_calls(struct names *names, LLVMValueRef function, unsigned depth);

static bool takes_a_pointer(LLVMValueRef call)
{
	for (unsigned n = 0; n < LLVMGetNumArgOperands(call); n++)
		if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, n))) == LLVMPointerTypeKind)
			return true;
	return false;
}

static void add_call(struct names *names, LLVMValueRef call, unsigned depth)
{
	LLVMValueRef callee = util_callee(call);
	const char *name;
	size_t length;

	if (!callee || !takes_a_pointer(call))
		return;
	if (!LLVMIsDeclaration(callee)) {
		add_calls(names, callee, depth);
		return;
	}
	name = note_text(LLVMGetValueName2(callee, &length));
	for (unsigned i = 0; i < names->count; i++)
		if (names->names[i] == name)
			return;
	if (names->count < MOST_NAMES)
		names->names[names->count++] = name;
}

/* A call that may synchronise, in a block whose innermost loop is this one; FLOW_NONE: in no loop. */
static bool is_in(const struct flow *flow, unsigned loop, LLVMValueRef instruction)
{
	unsigned block;

	if (!calls_synchronise(instruction))
		return false;
	block = flow ? flow_number(flow, LLVMGetInstructionParent(instruction)) : FLOW_NONE;
	return (block == FLOW_NONE ? FLOW_NONE : flow->inner[block]) == loop;
}

static unsigned find_calls(LLVMValueRef function, const struct flow *flow, unsigned loop, LLVMValueRef *calls,
			   unsigned room)
{
	unsigned count = 0;

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (is_in(flow, loop, i) && count++ < room)
				calls[count - 1] = i;
	return count;
}

static void add_calls(struct names *names, LLVMValueRef function, unsigned depth)
{
	LLVMValueRef calls[MOST_CALLS];
	struct flow flow;
	unsigned count;
	bool loops;

	if (depth == MOST_DEPTH)
		return;
	loops = flow_init(&flow, function);
	count = find_calls(function, loops ? &flow : NULL, FLOW_NONE, calls, MOST_CALLS);
	if (loops)
		flow_release(&flow);
	for (unsigned i = 0; i < count && count <= MOST_CALLS; i++)
		add_call(names, calls[i], depth + 1);
}

static const char *text_of(const struct names *names, const char *before)
{
	char text[4096];
	size_t used = (size_t)snprintf(text, sizeof text, "%s", before);

	for (unsigned i = 0; i < names->count; i++)
		if (used + strlen(names->names[i]) + 3 < sizeof text)
			used += (size_t)snprintf(text + used, sizeof text - used, "%s%c%s", used ? "\n" : "",
						 ATOMSAN_CALLS_WAIT, names->names[i]);
	return note_text(text);
}

const char *waits_function(LLVMValueRef function, const char *before)
{
	struct names names = {.count = 0};

	add_calls(&names, function, 0);
	return text_of(&names, before);
}

const char *waits_loop(LLVMValueRef function, const struct flow *flow, unsigned loop)
{
	LLVMValueRef calls[MOST_NAMES];
	struct names names = {.count = 0};
	unsigned count = find_calls(function, flow, loop, calls, MOST_NAMES);

	for (unsigned i = 0; i < count && i < MOST_NAMES; i++)
		add_call(&names, calls[i], 0);
	return text_of(&names, spins_loop(function, flow, loop) ? ATOMSAN_CALLS_SPINS : "");
}

bool waits_until(LLVMValueRef function)
{
	static const char *const prefixes[] = {"_ZNSt18condition_variable4waitI",
					       "_ZNSt18condition_variable8wait_forI",
					       "_ZNSt18condition_variable10wait_untilI",
					       "_ZNSt3_V222condition_variable_any4waitI",
					       "_ZNSt3_V222condition_variable_any8wait_forI",
					       "_ZNSt3_V222condition_variable_any10wait_untilI",
					       NULL};

	return util_named_like(function, prefixes);
}
