/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pass/emit.h"

#include "pass/inlined_bitcode.h"
#include "pass/pass.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct emit emit;

LLVMValueRef emit_hook(const char *name)
{
	LLVMValueRef function = LLVMGetNamedFunction(emit.module, name);

	if (!function) {
		fprintf(stderr, "atomsan: the plugin has no hook %s\n", name);
		abort();
	}
	return function;
}

LLVMValueRef emit_call(const char *name, LLVMValueRef *arguments, unsigned count)
{
	LLVMValueRef function = emit_hook(name);
	LLVMValueRef call = LLVMBuildCall2(emit.builder, LLVMGlobalGetValueType(function), function,
					   arguments, count, "");

	LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(function));
	return call;
}

void emit_before(LLVMValueRef instruction)
{
	LLVMPositionBuilderBefore(emit.builder, instruction);
	LLVMSetCurrentDebugLocation2(emit.builder, LLVMInstructionGetDebugLoc(instruction));
}

LLVMValueRef emit_number(uint64_t n)
{
	return LLVMConstInt(LLVMInt64TypeInContext(emit.context), n, false);
}

LLVMValueRef emit_widen(LLVMValueRef value)
{
	return LLVMBuildZExtOrBitCast(emit.builder, value, LLVMInt64TypeInContext(emit.context), "");
}

/* Is the emit.module compiled for an executable? Then so is the runtime's thread state. */
static bool for_executable(void)
{
	return LLVMGetModuleFlag(emit.module, "PIE Level", 9) ||
	       !LLVMGetModuleFlag(emit.module, "PIC Level", 9);
}

/* For the inliner and nobody else. */
static void link_inlined(const void *bitcode, size_t size)
{
	LLVMMemoryBufferRef bytes = LLVMCreateMemoryBufferWithMemoryRange(bitcode, size, "inlined", false);
	LLVMModuleRef inlined;
	LLVMValueRef used, thread;

	if (LLVMParseBitcodeInContext2(emit.context, bytes, &inlined)) {
		fprintf(stderr, "atomsan: the plugin's own bitcode cannot be read\n");
		abort();
	}
	LLVMDisposeMemoryBuffer(bytes);
	used = LLVMGetNamedGlobal(inlined, "llvm.used");
	if (!used)
		used = LLVMGetNamedGlobal(inlined, "llvm.compiler.used");
	if (used)
		LLVMDeleteGlobal(used);
	LLVMSetTarget(inlined, LLVMGetTarget(emit.module));
	LLVMSetDataLayout(inlined, LLVMGetDataLayoutStr(emit.module));
	/* One operand instead of a load of the offset and one. */
	thread = LLVMGetNamedGlobal(inlined, "__atomsan_thread");
	if (thread && for_executable())
		LLVMSetThreadLocalMode(thread, LLVMLocalExecTLSModel);
	LLVMLinkModules2(emit.module, inlined);
	for (LLVMValueRef f = LLVMGetFirstFunction(emit.module); f; f = LLVMGetNextFunction(f)) {
		size_t length;
		const char *name = LLVMGetValueName2(f, &length);

		if (strncmp(name, "__atomsan_inl_", 14) || LLVMIsDeclaration(f))
			continue;
		LLVMSetLinkage(f, LLVMInternalLinkage);
		util_add_attribute(f, "alwaysinline");
	}
}

void emit_begin_with(LLVMModuleRef module, const void *bitcode, size_t size)
{
	emit.module = module;
	emit.context = LLVMGetModuleContext(module);
	emit.layout = LLVMGetModuleDataLayout(module);
	emit.builder = LLVMCreateBuilderInContext(emit.context);
	link_inlined(bitcode, size);
}

void emit_begin(LLVMModuleRef module)
{
	emit_begin_with(module, inlined_bitcode, sizeof inlined_bitcode);
}

void emit_end(void)
{
	LLVMDisposeBuilder(emit.builder);
	emit.module = NULL;
}
