/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Functions that work on an object by calling others: print_line(w) writes the
 * text to w->stream and then the end of the line. The pointer is a member of the
 * receiver, and two calls are given it, or one in a loop. If the function holds a
 * lock over these calls it means them to be one step (model/sections.c). Asked of
 * unoptimised code, where each variable has an alloca.
 */
#include "pass/flow.h"
#include "pass/pass.h"

#include <stdio.h>
#include <string.h>

/* More than that many members nobody calls functions on. */
enum { MOST_MEMBERS = 16 };

struct called {
	const char *member, *type;
	bool again;
};

static bool in_a_loop(const struct flow *flow, bool loops, LLVMValueRef call)
{
	unsigned block = loops ? flow_number(flow, LLVMGetInstructionParent(call)) : FLOW_NONE;

	return block != FLOW_NONE && flow->inner[block] != FLOW_NONE;
}

/* Is the member one of this struct? */
static bool member_of(const char *member, const char *type)
{
	size_t length = strlen(type);

	return !strncmp(member, type, length) && member[length] == '.';
}

static void note_call(LLVMValueRef call, const char *receiver_type, bool loop, struct called *called,
		      unsigned *count)
{
	for (unsigned n = 0; n < LLVMGetNumArgOperands(call); n++) {
		LLVMValueRef argument = LLVMGetOperand(call, n);
		const char *member, *type;
		unsigned i = 0;

		if (!LLVMIsALoadInst(argument) ||
		    LLVMGetTypeKind(LLVMTypeOf(argument)) != LLVMPointerTypeKind)
			continue;
		member = describe_pointer(argument, &type);
		if (!member || !*type || !member_of(member, receiver_type))
			continue;
		while (i < *count && strcmp(called[i].member, member))
			i++;
		if (i == MOST_MEMBERS)
			return;
		if (i == *count)
			called[(*count)++] = (struct called){.member = member, .type = type, .again = loop};
		else
			called[i].again = true;
	}
}

const char *calls_on(LLVMValueRef function)
{
	struct called called[MOST_MEMBERS];
	const char *receiver_type;
	char text[2600] = "";
	unsigned count = 0;
	struct flow flow;
	bool loops;

	if (describe_receiver(function, &receiver_type) == ATOMSAN_NO_RECEIVER || !*receiver_type)
		return "";
	loops = flow_init(&flow, function);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (util_is_call(i) && !(util_callee(i) && LLVMGetIntrinsicID(util_callee(i))))
				note_call(i, receiver_type, in_a_loop(&flow, loops, i), called, &count);
	if (loops)
		flow_release(&flow);
	for (unsigned i = 0; i < count; i++) {
		size_t used = strlen(text);

		if (called[i].again && used + strlen(called[i].type) + 2 < sizeof text)
			snprintf(text + used, sizeof text - used, "%s%s", used ? "\n" : "", called[i].type);
	}
	return note_text(text);
}
