/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which functions are worth a frame, and which are seen through; see worth.c. */
#ifndef ATOMSAN_PASS_WORTH_H
#define ATOMSAN_PASS_WORTH_H

#include <llvm-c/Core.h>

#include <stdbool.h>

/* What a function does, what it does in those that are seen through included. */
struct worth {
	bool calls;          /* somebody who is not seen through */
	bool comes_back;     /* landing pads, setjmp */
	bool writes;         /* what others could see */
	unsigned accesses;   /* that others could see */
	unsigned asm_blocks; /* that are not empty */
	bool through;        /* what it does, its caller does */
	bool frame;          /* its entry and exits are marked */
	bool waits;          /* it would be seen through, but for a loop that waits (spins.c) */
};

/* Of all functions, as they are before any is marked. */
void worth_collect(LLVMModuleRef module);
void worth_forget(void);
const struct worth *worth_of(LLVMValueRef function);

bool worth_of_the_library(LLVMValueRef function);
bool worth_address_taken(LLVMValueRef function);
bool worth_returns_twice(LLVMValueRef call);

#endif
