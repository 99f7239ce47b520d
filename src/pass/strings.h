/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What functions of the C++ library do to strings; see strings.c. */
#ifndef ATOMSAN_PASS_STRINGS_H
#define ATOMSAN_PASS_STRINGS_H

#include <llvm-c/Core.h>

#include <stdbool.h>

enum { STRINGS_SIZE = 32, STRINGS_MOST = 2 };

struct strings_access {
	unsigned argument; /* the string */
	bool writes;
};

/* How many; of calls of functions that are not defined here. */
unsigned strings_accesses(LLVMValueRef call, const char *name, struct strings_access *accesses);

#endif
