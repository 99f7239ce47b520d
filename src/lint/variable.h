/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which variable an access is of. A variable is a member of a struct type, or a global, in one node
 * of the shape graph: finer than the papers' (class, field), which keeps apart
 * objects that nothing in the program brings together.
 */
#ifndef LINT_VARIABLE_H
#define LINT_VARIABLE_H

#include "base/map.h"
#include "lint/lint.h"

/* An object that tells what a node is. */
struct telling {
	uint32_t object; /* 0: there is none */
	bool sure;       /* there is no other */
};

struct naming {
	struct map by_key; /* node and text -> variable */
	struct map by_node;
	struct map told;    /* node -> its place in telling + 1 */
	struct map globals; /* node and a global's name -> object */
	VEC(struct telling) telling;
};

/*
 * A member is known by the struct that declares it; what that lies in differs
 * with the way to it (database.results.count, table.count), and the longest way
 * gives the name and the set. Accesses that lost the former go by the latter.
 */
uint32_t variable_of(struct lint *lint, struct naming *naming, uint32_t node, uint32_t note, bool *whole);
void variable_release(struct naming *naming);

/* A global that changes, and is every thread's. */
bool variable_is_plain(const struct program *p, uint32_t global);
/* Of a name in a node. */
uint64_t variable_key(uint32_t node, const char *name);

#endif
