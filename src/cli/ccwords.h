/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef ATOMSAN_CLI_CCWORDS_H
#define ATOMSAN_CLI_CCWORDS_H

#include "cli/ccline.h"

/* Fills line->words from line->arguments. A response file that cannot be read
 * stays one word, as clang has it. */
void ccwords_read(struct ccline *line);

#endif
