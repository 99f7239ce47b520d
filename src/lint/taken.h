/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What was read was taken away in the same region, so that nobody else will find it. */
#ifndef ATOMSAN_LINT_TAKEN_H
#define ATOMSAN_LINT_TAKEN_H

#include "lint/lint.h"

/* Is the variable also written in the region in which it was read? 2: a constant, or the rest of a list,
 * behind the read. */
int taken_along(const struct lint *lint, uint32_t access);
/* An element whose index moves on in the same region, or a place that is emptied: it is taken out, and who
 * has it owns it. */
bool taken_is(const struct lint *lint, uint32_t access);
/* Does the write take the first out of a list, leaving the rest? */
bool taken_by(const struct lint *lint, uint32_t access);

#endif
