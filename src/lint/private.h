/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Places of the program whose accesses are all to data that one thread alone
 * can reach, as statements of the spec file language (docs/spec-file.md). Where
 * there is doubt a place is not among them.
 */
#ifndef ATOMSAN_LINT_PRIVATE_H
#define ATOMSAN_LINT_PRIVATE_H

#include <stdio.h>

#include "lint/lint.h"

void private_write(FILE *out, struct lint *lint, const char *program);

#endif
