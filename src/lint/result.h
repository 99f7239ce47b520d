/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Verdicts to findings: all that is said of the same function and the same
 * atomic set, with the same function in between, is one finding, told by the
 * verdict that is surest.
 */
#ifndef ATOMSAN_LINT_RESULT_H
#define ATOMSAN_LINT_RESULT_H

#include "finding/finding.h"
#include "lint/verdict.h"

/* Adds findings of at least this confidence to the list, the surest first, and says what was looked at. */
void result_add(struct lint *lint, const struct verdicts *verdicts, double threshold,
		struct finding_list *list);

#endif
