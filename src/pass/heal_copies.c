/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Structs that are copied whole: `a = b`, memcpy and its kin, arguments by value.
 * A copy is two accesses, one of what it reads and one of what it writes, of so
 * many bytes, as in a program that is built to be tested (instrument.c).
 *
 * Whoever is let make an access is told of it by a call behind it. For a copy
 * that would be too late for what it reads, if what it writes is asked for in
 * between, and an argument by value is read by the call itself. There the
 * struct is read into a local first, and copied on from it.
 */
#include "pass/heal.h"

enum { LOCAL_MOST = 4096 }; /* bytes: a thread's stack is small */

unsigned heal_copies(LLVMValueRef call, struct heal_copy copies[HEAL_COPIES])
{
	unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5), arguments = LLVMGetNumArgOperands(call);
	LLVMModuleRef module = LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(call)));
	unsigned count = 0;

	if (util_is_intrinsic(call, "llvm.memcpy") || util_is_intrinsic(call, "llvm.memmove")) {
		copies[count++] = (struct heal_copy){LLVMGetOperand(call, 1), LLVMGetOperand(call, 2), false};
		copies[count++] = (struct heal_copy){LLVMGetOperand(call, 0), LLVMGetOperand(call, 2), true};
		return count;
	}
	if (util_is_intrinsic(call, "llvm.memset")) {
		copies[count++] = (struct heal_copy){LLVMGetOperand(call, 0), LLVMGetOperand(call, 2), true};
		return count;
	}
	/* What a call in the place of the return gets must not be a local of ours. */
	if (LLVMIsACallInst(call) && LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail)
		return 0;
	for (unsigned i = 0; i < arguments && count < HEAL_COPIES; i++) {
		LLVMAttributeRef attribute = LLVMGetCallSiteEnumAttribute(call, i + 1, byval);

		if (attribute)
			copies[count++] = (struct heal_copy){
				LLVMGetOperand(call, i),
				LLVMConstInt(LLVMInt64TypeInContext(LLVMGetModuleContext(module)),
					     LLVMABISizeOfType(LLVMGetModuleDataLayout(module),
							       LLVMGetTypeAttributeValue(attribute)),
					     false),
				false};
	}
	return count;
}

/* Reads it into a local, in front of the instruction, which has the local for its operand from then on. */
static void read_first(LLVMBuilderRef builder, struct heal_found *found, unsigned operand, unsigned alignment)
{
	LLVMValueRef before = found->instruction;
	LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(before));
	LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
	LLVMTypeRef bytes = LLVMArrayType2(LLVMInt8TypeInContext(context), found->size);
	LLVMValueRef local;

	LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
	LLVMSetCurrentDebugLocation2(builder, NULL);
	local = LLVMBuildAlloca(builder, bytes, "");
	LLVMSetAlignment(local, alignment);
	LLVMPositionBuilderBefore(builder, before);
	LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(before));
	found->instruction = LLVMBuildMemCpy(builder, local, alignment, found->pointer, 1, found->length);
	LLVMSetOperand(before, operand, local);
}

static unsigned alignment_of(LLVMValueRef call, unsigned operand)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
	LLVMAttributeRef given = LLVMGetCallSiteEnumAttribute(call, operand + 1, kind);
	uint64_t alignment = given ? LLVMGetEnumAttributeValue(given) : 0;

	return alignment > 16 ? (unsigned)alignment : 16;
}

/* The argument by value that it is. */
static unsigned argument_of(LLVMValueRef call, LLVMValueRef pointer)
{
	unsigned byval = LLVMGetEnumAttributeKindForName("byval", 5), i = 0;

	while (LLVMGetOperand(call, i) != pointer || !LLVMGetCallSiteEnumAttribute(call, i + 1, byval))
		i++;
	return i;
}

/* More than a stack should hold, or volatile, which must not be read twice. */
static bool stays_whole(const struct heal_found *copy)
{
	return !copy->size || copy->size > LOCAL_MOST ||
	       LLVMConstIntGetZExtValue(LLVMGetOperand(copy->instruction, 3));
}

void heal_copies_part(struct heal_plan *plan)
{
	LLVMBuilderRef builder = NULL;

	for (uint64_t i = 0; i < plan->access_count; i++) {
		struct heal_found *found = &plan->accesses[i];
		bool copy = found->length && util_is_intrinsic(found->instruction, "llvm.mem");
		struct heal_found *write = copy && i + 1 < plan->access_count ? found + 1 : NULL;
		unsigned operand;

		if (!found->length || !found->reads || !found->wanted)
			continue;
		if (copy && (!write || write->instruction != found->instruction || !write->wanted))
			continue;
		if (copy && stays_whole(found)) {
			struct heal_found read = *found;

			/* What is asked for last is done with when the copy is: a write, or what ends a
			 * section. */
			if (read.role_count && !write->role_count) {
				*found = *write;
				*write = read;
			}
			i++;
			continue;
		}
		if (!builder)
			builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(LLVMGetGlobalParent(
				LLVMGetBasicBlockParent(LLVMGetInstructionParent(found->instruction)))));
		operand = copy ? 1 : argument_of(found->instruction, found->pointer);
		read_first(builder, found, operand, alignment_of(found->instruction, operand));
	}
	if (builder)
		LLVMDisposeBuilder(builder);
}
