/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Verdicts that make up one finding: all that is said of the same function and
 * the same atomic set. How sure a finding is follows from all of them, and from
 * what is said of functions that it calls.
 */
#ifndef ATOMSAN_LINT_GROUP_H
#define ATOMSAN_LINT_GROUP_H

#include "lint/verdict.h"

struct group {
	uint32_t function, other_function;
	const char *set;
	uint32_t best;               /* verdict */
	uint32_t pairs;              /* of regions, that are sure enough to be told */
	uint32_t from_line, to_line; /* in the function: from the first to the last of these */
	double confidence;
	double by_rule[VERDICT_RULES];
};

struct groups {
	VEC(struct group) at;
};

/* The surest first. */
void group_build(struct lint *lint, const struct verdicts *verdicts, double threshold, struct groups *groups);

#endif
