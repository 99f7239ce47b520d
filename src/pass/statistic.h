/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Numbers that only count: `misses++`, and in all of the module nobody goes by how
 * many there are, or sets them to anything but a constant. To whom it
 * happened first does not matter then, nor what else happened in between. Asked early, of
 * unoptimised code.
 */
#ifndef ATOMSAN_PASS_STATISTIC_H
#define ATOMSAN_PASS_STATISTIC_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* Is the instruction a store that adds to such a number? */
bool statistic_adds(LLVMValueRef instruction);

#endif
