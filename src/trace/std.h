/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * RAPID's STD text: one event a line, `thread|op(name)|place`, in total order.
 * op is r, w, acq, rel, fork, join, begin or end; name is a variable, a lock or
 * a thread; begin and end may go without. An imported trace keeps all names, so
 * its export has the same lines. docs/trace-format.md has the mapping.
 */
#ifndef ATOMSAN_TRACE_STD_H
#define ATOMSAN_TRACE_STD_H

#include "trace/cursor.h"

#include <stdio.h>

#define STD_OPS(X)        \
	X(R, "r")         \
	X(W, "w")         \
	X(ACQ, "acq")     \
	X(REL, "rel")     \
	X(FORK, "fork")   \
	X(JOIN, "join")   \
	X(BEGIN, "begin") \
	X(END, "end")

enum std_op {
#define X(name, text) STD_##name,
	STD_OPS(X)
#undef X
		STD_OP_COUNT
};

/* One line, taken apart; the parts lie in the line. */
struct std_line {
	enum std_op op;
	const char *thread, *name, *place;
	size_t thread_length, name_length, place_length;
	bool bare; /* begin or end without parentheses */
};

/* Returns NULL, or what is wrong with the line: half a sentence that follows
 * "line N". */
const char *std_parse(const char *line, size_t length, struct std_line *parts);

/* Writes the trace that the text describes to the file `to`; path is for
 * messages. Empty lines are skipped. */
int std_import(const char *text, size_t size, const char *path, const char *to, struct err *err);

/* A trace, or STD text, which is imported on the way. */
struct trace *std_open(const char *path, struct err *err);

struct std_options {
	bool functions; /* outermost functions are units, beside those that the program marks */
};

/* Whoever gave `out` looks for write errors there. */
int std_export(struct trace *trace, FILE *out, const struct std_options *options, struct err *err);

#endif
