/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What has to be added to a clang command line so that the program comes out
 * instrumented. Each flag is one word, because build systems drop repeated
 * words and reorder the rest.
 */
#ifndef ATOMSAN_CLI_CCFLAGS_H
#define ATOMSAN_CLI_CCFLAGS_H

#include "base/err.h"

enum { CCFLAGS_MAX = 16 };

struct ccflags {
	char *words[CCFLAGS_MAX]; /* owned */
	int count;
};

/* Around other flags: a command line that only links, or only preprocesses, has
 * no use for some of them, and clang would say so. */
void ccflags_quietly(struct ccflags *flags, int begin);
/* Before the user's flags, so that the user's word about -g and macros is the last. `heal`: for a program
 * that is healed in the field, and is otherwise what it would be without us. */
int ccflags_compile(struct ccflags *flags, int heal, struct err *err);
/* After the user's flags: the user's own headers and those of the system come first. */
int ccflags_include(struct ccflags *flags, struct err *err);
/* For executables. */
int ccflags_link(struct ccflags *flags, struct err *err);
/* For executables that are to be healed in the field. */
int ccflags_link_heal(struct ccflags *flags, struct err *err);
/* For shared objects; last, to have the last word about undefined symbols. */
void ccflags_shared(struct ccflags *flags);
void ccflags_release(struct ccflags *flags);

/* The clang that the plugin was built for: its name, and where it is. The path
 * is the caller's to free; NULL with err set if it is not installed. */
const char *ccflags_compiler_name(int cxx);
char *ccflags_compiler(int cxx, struct err *err);

#endif
