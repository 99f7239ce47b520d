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

/* Of functions, by their names. */
bool strings_keeps_nothing(const char *name); /* of pointers that it is given; it may return one of them */
bool strings_sets_text(const char *name);     /* of its first argument, to the second */
bool strings_gives_text(const char *name);    /* the pointer that it returns is to no string */
bool strings_may_move(const char *name);      /* the text of one string to another */
bool strings_only_looks(LLVMValueRef call, const char *name); /* and keeps nothing, nor gives a string back */

/* ---- strings_local.c ---- */

bool strings_is_local(LLVMValueRef value); /* a local that is a string */
enum strings_fate {
	STRINGS_GETS_AWAY,       /* others may reach it */
	STRINGS_STAYS,           /* nobody else can, */
	STRINGS_STAYS_WITH_TEXT, /* nor its text, wherever that lies */
};
enum strings_fate strings_fate(LLVMValueRef local);

/* How many; of calls of functions that are not defined here. */
unsigned strings_accesses(LLVMValueRef call, const char *name, struct strings_access *accesses);

#endif
