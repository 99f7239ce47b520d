/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Late: loads of what was loaded a moment ago, in the same call and with nothing
 * recorded in between: `if (s->conf) use(s->conf->size)`, where the optimiser could not make
 * one load of the two. The filter knows such a read already, for in a program without
 * races nobody comes between (docs/architecture.md). Where there is a race
 * it is the one that matters, and prediction must know that it is there. So it
 * is recorded, if the first of the two was.
 */
#ifndef ATOMSAN_PASS_REREAD_H
#define ATOMSAN_PASS_REREAD_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>

struct reread;

/* Looks at the function's instructions, in their order, before any is added. */
struct reread *reread_plan(const LLVMValueRef *instructions, size_t count);
void reread_free(struct reread *plan);

/* Is there one that loads again what this one does? */
bool reread_is_first(const struct reread *plan, LLVMValueRef load);
/* What tells at run time whether the first was recorded. */
void reread_told(struct reread *plan, LLVMValueRef load, LLVMValueRef recorded);
/* The same for the one that comes second; NULL: it does not, or nobody could tell. */
LLVMValueRef reread_is_second(const struct reread *plan, LLVMValueRef load);

#endif
