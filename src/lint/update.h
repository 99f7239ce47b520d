/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reads that are half of an update: x++ reads x, but nobody learns what it was. Such
 * a read sees no state that another one might contradict.
 */
#ifndef ATOMSAN_LINT_UPDATE_H
#define ATOMSAN_LINT_UPDATE_H

#include "lint/lint.h"

struct updates {
	const struct lint *lint;
	uint32_t *users; /* by value: how many instructions have it as an operand, 2 for more */
	uint32_t *user;  /* by value: one of them */
};

void update_begin(struct updates *updates, const struct lint *lint);
void update_end(struct updates *updates);
/* Does the read's value go nowhere but into what is written to the same variable? */
bool update_is(const struct updates *updates, const struct access *read);

/*
 * A count of those who use an object: it goes up and down by one, or is set to
 * begin with. It says nothing of what is in the object, so that it changes in a
 * region of its own takes nothing apart.
 */
bool update_counts_users(const struct lint *lint, uint32_t variable);
/* Is the access to such a count, and does its function add one to it? */
bool update_counts_up(const struct lint *lint, const struct access *access);

#endif
