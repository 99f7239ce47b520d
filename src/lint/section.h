/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the static side can tell the others, as a JSON document
 * (docs/sections.md): atomic sections by pattern (AtomRace, section 4), getters
 * and setters, and which variables threads share.
 */
#ifndef ATOMSAN_LINT_SECTION_H
#define ATOMSAN_LINT_SECTION_H

#include <stdio.h>

#include "lint/lint.h"

void section_write(FILE *out, struct lint *lint, const char *program);

#endif
