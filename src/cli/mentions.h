/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Does the program have a word anywhere: as the name, or a part of the name, of whatever its sources declare?
 * The bitcode in its files is looked through, which has all names before anything was optimised. Yes, too, if
 * that cannot be told: a file is not there, is another build's, or has no bitcode.
 */
#ifndef ATOMSAN_CLI_MENTIONS_H
#define ATOMSAN_CLI_MENTIONS_H

#include "elf/units.h"
#include "trace/reader.h"

struct mentions {
	const struct trace *trace;
	struct units units;
	bool looked, unknown;
};

/* The user is a struct mentions with the trace alone. */
bool mentions_word(void *user, const char *word);
void mentions_release(struct mentions *mentions);

#endif
