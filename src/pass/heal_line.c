/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Locks that a program has made itself. They are taken by an atomic operation
 * that reads and writes, and nothing else tells of them. Who has such a lock and
 * waits for a section, whose thread wants the lock next, waits for ever; so units
 * that are whole stand in line before the first such operation in them, as they
 * do before a lock of libc's (rt/heal_early.c). Called is what does so in the
 * unit and in what it calls, as far as this module knows.
 */
#include "pass/heal.h"

#include <stdlib.h>
#include <string.h>

struct reached {
	LLVMValueRef *functions;
	size_t count, room;
};

static void reach(struct reached *reached, LLVMValueRef function)
{
	for (size_t i = 0; i < reached->count; i++)
		if (reached->functions[i] == function)
			return;
	if (reached->count == reached->room) {
		size_t room = reached->room ? reached->room * 2 : 64;
		LLVMValueRef *more = realloc(reached->functions, room * sizeof(*more));

		if (!more)
			return;
		reached->functions = more;
		reached->room = room;
	}
	reached->functions[reached->count++] = function;
}

static bool is_whole_unit(const struct heal_plan *plan, LLVMValueRef function)
{
	LLVMMetadataRef subprogram = LLVMGetSubprogram(function);

	if (!subprogram)
		return false;
	for (uint32_t i = 0; i < plan->section_count; i++)
		if (!plan->lost[i] && !plan->local[i] && atomicity_is_whole(&plan->sections[i]) &&
		    !strcmp(di_name(subprogram), heal_unit_function(&plan->sections[i])) &&
		    !strcmp(atomicity_last_part(di_file(subprogram)),
			    atomicity_last_part(heal_unit_file(&plan->sections[i]))))
			return true;
	return false;
}

static void instrument(LLVMBuilderRef builder, LLVMValueRef line, LLVMTypeRef type, LLVMValueRef operation)
{
	LLVMPositionBuilderBefore(builder, operation);
	LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(operation));
	/* As all of these: the runtime tells by the stack whose unit it is. */
	LLVMSetTailCallKind(LLVMBuildCall2(builder, type, line, NULL, 0, ""), LLVMTailCallKindNoTail);
}

void heal_line(LLVMModuleRef module, const struct heal_plan *plan)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, false);
	LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
	struct reached reached = {0};
	LLVMValueRef line = NULL;

	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f) && is_whole_unit(plan, f))
			reach(&reached, f);
	for (size_t n = 0; n < reached.count; n++)
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(reached.functions[n]); b;
		     b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
				bool calls = util_is_call(i);
				LLVMValueRef callee = calls ? LLVMGetCalledValue(i) : NULL;

				if (callee && LLVMIsAFunction(callee) && !LLVMIsDeclaration(callee))
					reach(&reached, callee);
				if (!LLVMIsAAtomicRMWInst(i) && !LLVMIsAAtomicCmpXchgInst(i))
					continue;
				if (!line) {
					line = LLVMAddFunction(module, "__atomsan_heal_line", type);
					util_add_attribute(line, "nounwind");
				}
				instrument(builder, line, type, i);
			}
	LLVMDisposeBuilder(builder);
	free(reached.functions);
}
