/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a compiler command line asks for, as far as the wrapper must know: does
 * it link, and what; is it something that atomsan cannot go along with; which
 * of its words are the wrapper's own. Clang reads the line again afterwards and
 * judges it, so a line that is wrong is left for clang to complain about.
 */
#ifndef ATOMSAN_CLI_CCLINE_H
#define ATOMSAN_CLI_CCLINE_H

#include "base/err.h"

enum ccline_link {
	CCLINE_NO_LINK,
	CCLINE_BARE_LINK, /* links without libc, or to a relocatable object: nothing is added */
	CCLINE_EXECUTABLE,
	CCLINE_SHARED,
};

struct ccline_word {
	char *text;
	int argument; /* index of the argument that it came from: itself, or a response file */
	int is_ours;  /* for the wrapper; clang must not see it */
};

struct ccline {
	char **arguments; /* as given; not owned */
	int argument_count;
	struct ccline_word *words; /* the same with response files read */
	int word_count;
	int end;    /* where flags can be added last: before "--" if there is one, else argument_count */
	int inputs; /* how many */
	enum ccline_link link;
	int no_bitcode, early;
	char *heal;  /* absolute path of the repository; NULL if it was not asked for */
	char *specs; /* absolute paths, separated by colons; NULL if none */
};

/* Returns -1 with err set for what atomsan refuses. Release it in either case. */
int ccline_read(struct ccline *line, int count, char **arguments, struct err *err);
void ccline_release(struct ccline *line);

/* What the line's output is called: the last -o, or a.out. */
const char *ccline_output(const struct ccline *line);

/* The arguments that clang shall see, [from, to) of the original ones; appended
 * to `out` (of *n words, room for all), which borrows from the line. */
void ccline_rest(const struct ccline *line, int from, int to, char **out, int *n);

#endif
