/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pass/pass.h"

#include <stdlib.h>
#include <string.h>

LLVMValueRef util_callee(LLVMValueRef call)
{
	LLVMValueRef callee = LLVMGetCalledValue(call);

	return callee && LLVMIsAFunction(callee) ? callee : NULL;
}

bool util_is_intrinsic(LLVMValueRef call, const char *prefix)
{
	LLVMValueRef callee = util_callee(call);
	size_t length;

	return callee && LLVMGetIntrinsicID(callee) &&
	       !strncmp(LLVMGetValueName2(callee, &length), prefix, strlen(prefix));
}

LLVMAttributeRef util_attribute(LLVMModuleRef module, const char *name, uint64_t value)
{
	return LLVMCreateEnumAttribute(LLVMGetModuleContext(module),
				       LLVMGetEnumAttributeKindForName(name, strlen(name)), value);
}

void util_add_attribute(LLVMValueRef function, const char *name)
{
	LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
				util_attribute(LLVMGetGlobalParent(function), name, 0));
}

void util_keep(LLVMModuleRef module, LLVMValueRef global)
{
	LLVMTypeRef pointer = LLVMPointerTypeInContext(LLVMGetModuleContext(module), 0);
	LLVMValueRef old = LLVMGetNamedGlobal(module, "llvm.used"), used;
	unsigned count = 0;
	LLVMValueRef *list;

	if (old && LLVMGetInitializer(old))
		count = (unsigned)LLVMGetNumOperands(LLVMGetInitializer(old));
	list = malloc((count + 1) * sizeof *list);
	for (unsigned i = 0; i < count; i++)
		list[i] = LLVMGetOperand(LLVMGetInitializer(old), i);
	list[count] = global;
	if (old)
		LLVMDeleteGlobal(old);
	used = LLVMAddGlobal(module, LLVMArrayType2(pointer, count + 1), "llvm.used");
	LLVMSetInitializer(used, LLVMConstArray2(pointer, list, count + 1));
	LLVMSetLinkage(used, LLVMAppendingLinkage);
	LLVMSetSection(used, "llvm.metadata");
	free(list);
}
