/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes the module fit for analysis without losing the functions of the source.
 * Locals become values. Functions of the C++ library disappear into their
 * callers: a guard's constructor is then the lock that it takes, and no report
 * names them anyway. So do wrappers (see wrapper.c), which is the exact form of
 * a summary: each call has its own lock, its own piece of memory.
 */
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

#include "lower/lower.h"

/* Larger ones are not passed through; they stay functions. */
enum { MOST_LIBRARY_INSTRUCTIONS = 150 };

static unsigned kind_of(const char *name)
{
	return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

static void remove_attribute(LLVMValueRef function, const char *name)
{
	LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind_of(name));
}

bool prepare_is_library(const char *name)
{
	static const char *const beginnings[] = {
		"_ZNSt",  "_ZNKSt",     "_ZSt",     "_ZN9__gnu_cxx",   "_ZNK9__gnu_cxx",
		"_ZNOSt", "__gthread_", "__gthrw_", "_ZN10__cxxabiv1", "__clang_call_terminate"};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	if (!strncmp(name, "_ZL", 3) && (strstr(name, "__gthread_") || strstr(name, "__gthrw_")))
		return true;
	/* operator==(std::..., std::...) and the like begin with _Zeq, _Zpl: their arguments tell. */
	return !strncmp(name, "_Z", 2) && strlen(name) > 6 && name[2] >= 'a' && name[2] <= 'z' &&
	       !strncmp(name + 4, "RKSt", 4);
}

static unsigned instructions(LLVMValueRef function, unsigned most)
{
	unsigned count = 0;

	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b && count <= most;
	     b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && count <= most;
		     i = LLVMGetNextInstruction(i))
			count++;
	return count;
}

static int run_passes(LLVMModuleRef module, const char *passes, struct err *err)
{
	LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
	LLVMErrorRef failed = LLVMRunPasses(module, passes, NULL, options);

	LLVMDisposePassBuilderOptions(options);
	if (!failed)
		return 0;
	char *text = LLVMGetErrorMessage(failed);

	err_set(err, "LLVM's passes '%s' cannot be run: %s", passes, text);
	LLVMDisposeErrorMessage(text);
	return -1;
}

int prepare(LLVMModuleRef module, struct err *err)
{
	LLVMContextRef context = LLVMGetModuleContext(module);
	LLVMAttributeRef always = LLVMCreateEnumAttribute(context, kind_of("alwaysinline"), 0);
	size_t length;

	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		remove_attribute(f, "optnone");
		if (!LLVMIsDeclaration(f) && prepare_is_library(LLVMGetValueName2(f, &length)) &&
		    instructions(f, MOST_LIBRARY_INSTRUCTIONS) <= MOST_LIBRARY_INSTRUCTIONS) {
			remove_attribute(f, "noinline");
			LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, always);
		}
	}
	if (run_passes(module, "function(sroa<preserve-cfg>,instsimplify)", err))
		return -1;
	wrapper_mark(module);
	return run_passes(module, "always-inline,function(sroa<preserve-cfg>,instsimplify)", err);
}
