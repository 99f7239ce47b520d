/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Who may change what others could see; see changes.c. Asked early. */
#ifndef ATOMSAN_PASS_CHANGES_H
#define ATOMSAN_PASS_CHANGES_H

#include <llvm-c/Core.h>

#include <stdbool.h>

/* Up to a certain point: what calls make of a local does not matter if they are behind that. */
bool changes_by(LLVMValueRef instruction, bool (*is_late)(LLVMValueRef call));
bool changes_in(LLVMValueRef function); /* whatever it is given */

#endif
