/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The shared objects that the dynamic linker would load for a program, found
 * without running it: DT_NEEDED, looked up in DT_RPATH (of the object and of
 * those that led to it, unless there is a DT_RUNPATH), LD_LIBRARY_PATH,
 * DT_RUNPATH, the linker's cache and its default folders, in this order; see
 * ld.so(8).
 */
#ifndef ATOMSAN_ELF_NEEDED_H
#define ATOMSAN_ELF_NEEDED_H

#include "base/err.h"

struct needed {
	char **paths; /* each file once, without the program itself */
	int count;
	char **missing; /* "libx.so needed by PATH", not found anywhere */
	int missing_count;
};

/* Returns -1 with err set if the program cannot be read. A program without a
 * dynamic section needs nothing. */
int needed_read(struct needed *needed, const char *program, struct err *err);
void needed_release(struct needed *needed);

#endif
