/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pass/functions.h"

#include <stdlib.h>

static int by_address(const void *a, const void *b)
{
	const LLVMValueRef *one = a, *other = b;

	return *one < *other ? -1 : *one > *other;
}

void functions_collect(struct functions *functions, LLVMModuleRef module)
{
	size_t room = 0;

	*functions = (struct functions){.at = NULL};
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
		if (functions->count == room) {
			room = room ? room * 2 : 256;
			functions->at = realloc(functions->at, room * sizeof(*functions->at));
		}
		functions->at[functions->count++] = f;
	}
	if (functions->count)
		qsort(functions->at, functions->count, sizeof(*functions->at), by_address);
}

void functions_release(struct functions *functions)
{
	free(functions->at);
	*functions = (struct functions){.at = NULL};
}

size_t functions_find(const struct functions *functions, LLVMValueRef function)
{
	const LLVMValueRef *found = functions->count ? bsearch(&function, functions->at, functions->count,
							       sizeof(function), by_address)
						     : NULL;

	return found ? (size_t)(found - functions->at) : FUNCTIONS_NONE;
}
