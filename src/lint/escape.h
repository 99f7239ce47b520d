/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Escape analysis on the shape graph. The graph is made for finding faults,
 * where a pointer that it loses track of costs a report. Here it would cost a
 * violation, so everything the graph does not follow to the end is exposed, with
 * all that can be reached from it: globals, what code outside the program gets
 * or gives (threads' arguments among it), parameters of functions whose address
 * is taken, arguments of computed calls, pointers that arithmetic on integers,
 * wide or narrow copies or variable indices take out of sight.
 *
 * What is not exposed is reached from the stacks and thread-local variables of
 * the thread that made it, and from nothing else. It still counts as shared if
 * it leads to something exposed: the checker learns from it what owns what.
 */
#ifndef ATOMSAN_LINT_ESCAPE_H
#define ATOMSAN_LINT_ESCAPE_H

#include "lint/lint.h"

struct escape {
	struct lint *lint;
	const struct program *p;
	struct shape *shape;
	uint32_t nodes;
	bool *exposed; /* by node */
	bool *fed;     /* exposed, or filled with copies of what is */
	bool *counted; /* reached by results of arithmetic on integers */
	bool *used;    /* something is accessed there: those that lead to it are pointers */
	struct vec_u32 waiting;
	uint64_t changes;
};

/* Every value has its node from here on, and no more are made. */
void escape_begin(struct escape *e, struct lint *lint);
void escape_end(struct escape *e);

static inline uint32_t escape_node(struct escape *e, uint32_t value)
{
	return value ? pointsto_cell(&e->lint->pt, value).node : 0;
}

static inline bool escape_has_objects(struct escape *e, uint32_t node)
{
	uint32_t cookie;

	return node && shape_first(e->shape, node, &cookie);
}

/* What the pointers in an object lead to, not the object. */
void escape_expose_contents(struct escape *e, uint32_t node);
bool escape_has_contents(struct escape *e, uint32_t node);
/* Does it have pointers to something exposed? `used`: that anybody follows. */
bool escape_leads_out(struct escape *e, uint32_t node, bool used);

/* ---- escapefed.c ---- */

/* Which nodes are fed. After all that is exposed is known. */
void escape_find_fed(struct escape *e);
/* May what is stored be a plain copy of what lies in a node that is fed? */
bool escape_is_fed(struct escape *e, uint32_t value);
/* Pointers that are copied byte by byte to an object are exposed. */
void escape_expose_pieces(struct escape *e, uint32_t value, uint32_t to);

#endif
