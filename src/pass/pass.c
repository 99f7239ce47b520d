/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pass/pass.h"
#include "pass/hints.h"
#include "pass/worth.h"

#include <stdlib.h>
#include <string.h>

/* Accesses before optimisation, on request: every one of the source is seen then. */
static bool accesses_early(void)
{
	const char *wish = getenv("ATOMSAN_EARLY");

	return wish && !strcmp(wish, "1");
}

/*
 * A build may stop at bitcode and go on from there (-emit-llvm), and both halves
 * load this plugin. The mark travels with the instrumented bitcode, not with the
 * pristine one; once set, it tells the later pass nothing, hence the variable.
 */
static bool finished_before;
static const char mark[] = "atomsan.instrumented";

void pass_early(LLVMModuleRef module)
{
	types_forget();
	notes_forget();
	finished_before = LLVMGetNamedMetadata(module, mark, strlen(mark)) != NULL;
	if (finished_before)
		return;
	if (heal_wanted()) {
		LLVMGetOrInsertNamedMetadata(module, mark, strlen(mark));
		heal_instrument(module);
		return;
	}
	embed_bitcode(module);
	LLVMGetOrInsertNamedMetadata(module, mark, strlen(mark));
	select_begin(module);
	sites_begin(module);
	di_begin(module);
	types_collect(module);
	variables_collect(module);
	annotations_collect(module);
	variables_keep_whole(module);
	calls_collect(module);
	worth_collect(module);
	hints_collect(module);
	loaded_learn(module);
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		private_forget();
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
	hints_forget();
	worth_forget();
	calls_forget();
	if (accesses_early()) {
		instrument_module(module);
		return;
	}
	/* All of them, for only likes are inlined into each other. */
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f))
			lanes_forbid_speculation(f);
}

void pass_late(LLVMModuleRef module)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
		lanes_allow_speculation(f);
	if (!finished_before && heal_wanted())
		heal_bare(module);
	else if (!accesses_early() && !finished_before)
		instrument_module(module);
	types_forget();
	notes_forget();
}
