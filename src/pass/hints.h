/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Calls that are made because of a hint, of which the function that is called makes sure; see hints.c. */
#ifndef ATOMSAN_PASS_HINTS_H
#define ATOMSAN_PASS_HINTS_H

#include <llvm-c/Core.h>

#include <stdbool.h>
#include <stdint.h>

/* Early, before anything is marked. */
void hints_collect(LLVMModuleRef module);
unsigned hints_find(LLVMValueRef function, LLVMValueRef *calls, unsigned most);
void hints_forget(void);

/* ---- hint_reasons.c: what of the data that others could change a value depends on ---- */

enum { HINT_MOST = 32 };

/* A member, of whichever object, or a variable. */
struct hint_reason {
	LLVMValueRef variable; /* or NULL */
	LLVMTypeRef type;
	uint64_t member; /* a hash of the way to it */
	uint64_t asked;  /* 0, or a hash of the constant that it is asked to be or not to be */
};

struct hint_reasons {
	struct hint_reason at[HINT_MOST];
	unsigned count;
	LLVMValueRef seen[2 * HINT_MOST]; /* variables, functions and branches that were looked at */
	unsigned seen_count;
	bool lost; /* there may be more */
};

void hint_reasons_of(struct hint_reasons *reasons, LLVMValueRef value);
/* What lies there, alone. */
void hint_reasons_at(struct hint_reasons *reasons, LLVMValueRef pointer);
/* That this instruction is come to. */
void hint_reasons_to_come(struct hint_reasons *reasons, LLVMValueRef instruction);
/* Is all of the first among the second? */
bool hint_reasons_within(const struct hint_reasons *reasons, const struct hint_reasons *others);

/* ---- hint_keeps.c ---- */

/* Does the function keep to itself what it has seen before this call? */
bool hint_keeps(LLVMValueRef function, LLVMValueRef call);

#endif
