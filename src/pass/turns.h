/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where one way of a branch leads. In C++ both ways may lead to where guards are
 * destroyed, and on from there by a switch: a variable says which way it was.
 *
 * Between ways_begin() and ways_end(); the branch is not alone in its block.
 */
#ifndef ATOMSAN_PASS_TURNS_H
#define ATOMSAN_PASS_TURNS_H

#include "pass/ways.h"

/* Is all lost, as the visitor has it, behind this way of the branch? */
bool turns_lead(LLVMValueRef function, LLVMValueRef branch, unsigned way,
		enum ways_step (*look)(LLVMValueRef instruction, void *with));
/* Is it a variable that is only ever set to constants? It says which way was gone: other branches decided. */
bool turns_is_told(LLVMValueRef condition);

#endif
