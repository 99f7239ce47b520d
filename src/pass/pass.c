/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pass/pass.h"

#include <stdlib.h>
#include <string.h>

/* Accesses before optimisation, on request: every one of the source is seen then. */
static bool accesses_early(void)
{
	const char *wish = getenv("ATOMSAN_EARLY");

	return wish && !strcmp(wish, "1");
}

void pass_early(LLVMModuleRef module)
{
	notes_forget();
	sites_forget();
	embed_bitcode(module);
	select_begin(module);
	sites_begin(module);
	di_types_collect(module);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		select_forget_answers();
		if (LLVMIsDeclaration(f))
			continue;
		/* Inlined into others, what is ignored here would be seen there. */
		if (select_function_ignored(f)) {
			unsigned inlined = LLVMGetEnumAttributeKindForName("alwaysinline", 12);

			if (!LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, inlined))
				util_add_attribute(f, "noinline");
			continue;
		}
		describe_function(f);
		mark_function(f);
	}
	di_types_forget();
	if (accesses_early())
		instrument_module(module);
}

void pass_late(LLVMModuleRef module)
{
	if (!accesses_early())
		instrument_module(module);
	notes_forget();
	sites_forget();
}
