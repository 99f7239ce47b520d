/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where the block that begins on a line of C or C++ ends: of a function's or a
 * loop's first line the one with its last brace. A run knows where a unit
 * begins and where it was seen, and a reader wants to see all of it.
 */
#ifndef ATOMSAN_REPORT_BLOCK_H
#define ATOMSAN_REPORT_BLOCK_H

#include "report/source.h"

/* The last line, which is the same one for what has no block; 0 if it cannot be told or is too far away. */
uint32_t block_end(struct source_files *files, const char *path, uint32_t line);

#endif
