/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls of the functions of inlined.c, put before the program's instructions. They
 * are linked into the module when it begins, and the inliner takes them apart
 * right after the pass.
 */
#ifndef ATOMSAN_PASS_EMIT_H
#define ATOMSAN_PASS_EMIT_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <stddef.h>
#include <stdint.h>

/* The module at hand; NULL: none. */
extern struct emit {
	LLVMModuleRef module;
	LLVMContextRef context;
	LLVMTargetDataRef layout;
	LLVMBuilderRef builder;
} emit;

void emit_begin(LLVMModuleRef module);
/* The same with other functions than those of inlined.c. */
void emit_begin_with(LLVMModuleRef module, const void *bitcode, size_t size);
void emit_end(void);

/* The builder goes in front of it, and what it builds has its line. */
void emit_before(LLVMValueRef instruction);
LLVMValueRef emit_hook(const char *name);
LLVMValueRef emit_call(const char *name, LLVMValueRef *arguments, unsigned count);

LLVMValueRef emit_number(uint64_t n);        /* a constant of 64 bits */
LLVMValueRef emit_widen(LLVMValueRef value); /* to 64 bits */

#endif
