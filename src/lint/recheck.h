/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A second look in a region of its own: what was read in one region decides
 * whether it is read again in another, and a third goes by that. The first look is
 * not what the third relies on.
 */
#ifndef ATOMSAN_LINT_RECHECK_H
#define ATOMSAN_LINT_RECHECK_H

#include "base/map.h"
#include "lint/flow.h"

struct recheck {
	const struct lint *lint;
	struct map looks;    /* one read because of another of the same variable: both -> 1 */
	struct map by_use;   /* use and variable -> an edge that ends there + 1 */
	uint32_t *next_edge; /* by edge: the next one there + 1 */
};

void recheck_begin(struct recheck *recheck, const struct lint *lint);
void recheck_end(struct recheck *recheck);
/* Does the use at the edge's end depend as well on a later look at what the edge's value is of? */
bool recheck_is(const struct recheck *recheck, const struct flow_edge *edge);

/* Is it counted in the function when a second look, in what the edge's end calls, says something else? Then
 * somebody relied on the first. */
bool recheck_is_noted(const struct lint *lint, const struct flow_edge *edge);

#endif
