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
#include <stdint.h>

struct reread;

/* Looks at the function's instructions, in their order, before any is added. */
struct reread *reread_plan(const LLVMValueRef *instructions, size_t count);
void reread_free(struct reread *plan);

/* The check of a load that is one of two, where the builder of emit.h is; room for one argument more. False:
 * it is none. */
bool reread_emit(struct reread *plan, LLVMValueRef load, LLVMValueRef *arguments, uint64_t size);

#endif
