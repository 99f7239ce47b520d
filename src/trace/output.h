/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A file that appears whole or not at all: it is written beside its target and
 * takes the target's name at the end. What was there before stays until then.
 */
#ifndef ATOMSAN_TRACE_OUTPUT_H
#define ATOMSAN_TRACE_OUTPUT_H

#include "base/err.h"

#include <stdio.h>

/* Must stay where it is while it is open: file points to it. */
struct output {
	FILE *file;
	char *path; /* the target */
	char *temporary;
	int fd;
	int failed; /* errno of the first write that failed */
};

int output_open(struct output *output, const char *path, struct err *err);
/* Flushes and renames. Whether it worked or not, the output is closed. */
int output_commit(struct output *output, struct err *err);
/* Closes and removes what was written. */
void output_abandon(struct output *output);

#endif
