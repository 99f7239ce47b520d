/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A search: a loop looks at one thing after the other, each in a region of its
 * own, and goes on only while none fits; what fits it claims, by a mark. That the
 * earlier ones did not fit may be old by then (MoTH's Elevator).
 */
#ifndef ATOMSAN_LINT_SEARCH_H
#define ATOMSAN_LINT_SEARCH_H

#include "lint/flow.h"

/* Does the value of one round decide, in a later one, about another thing of the kind? */
bool search_is(struct lint *lint, const struct flow_edge *edge);

#endif
