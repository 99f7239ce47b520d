/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The functions of a module, each with a number, for what is to be noted of every one of them. */
#ifndef ATOMSAN_PASS_FUNCTIONS_H
#define ATOMSAN_PASS_FUNCTIONS_H

#include <llvm-c/Core.h>

#include <stddef.h>

#define FUNCTIONS_NONE ((size_t)-1)

struct functions {
	LLVMValueRef *at; /* in order of their addresses, for the search */
	size_t count;
};

/* Those that are there now, declarations, too. */
void functions_collect(struct functions *functions, LLVMModuleRef module);
void functions_release(struct functions *functions);
/* The number of one, or FUNCTIONS_NONE. */
size_t functions_find(const struct functions *functions, LLVMValueRef function);

#endif
