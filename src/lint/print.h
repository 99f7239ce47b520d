/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program as the analyses see it, for whoever wants to know why they say what they say. */
#ifndef ATOMSAN_LINT_PRINT_H
#define ATOMSAN_LINT_PRINT_H

#include <stdio.h>

#include "lint/lint.h"

void print_program(FILE *out, struct lint *lint);

#endif
