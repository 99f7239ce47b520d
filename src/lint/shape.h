/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The heap shape graph: what may point to what, by unification (Steensgaard's
 * analysis with members, as in Ruf's shape graphs that von Praun and Gross
 * build on). A node stands for objects that the analysis does not tell apart;
 * a cell is a place in a node; every place holds at most one cell, the target of
 * all pointers stored there. What may point to the same is made the same.
 *
 * Nodes are merged with a shift, so that a pointer into the middle of an object
 * (container_of, base classes) does not spoil it. Where one object would have to
 * lie at two places of another, the node is flat from then on: one place.
 */
#ifndef ATOMSAN_LINT_SHAPE_H
#define ATOMSAN_LINT_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

struct shape_cell {
	uint32_t node; /* 0: no place */
	int64_t at;
};

struct shape;

struct shape *shape_new(void);
void shape_free(struct shape *shape);

/* A node for an object, or (object 0) for what is not known yet. */
uint32_t shape_node(struct shape *shape, uint32_t object);

/* The cell as things stand: equal cells are one place. */
struct shape_cell shape_find(struct shape *shape, struct shape_cell cell);
bool shape_same(struct shape *shape, struct shape_cell a, struct shape_cell b);
void shape_unify(struct shape *shape, struct shape_cell a, struct shape_cell b);
void shape_flatten(struct shape *shape, uint32_t node);
bool shape_is_flat(struct shape *shape, uint32_t node);

/* What the place points to; made if there is nothing yet. */
struct shape_cell shape_target(struct shape *shape, struct shape_cell cell);
/* The same, but node 0 if there is nothing. */
struct shape_cell shape_peek(struct shape *shape, struct shape_cell cell);
/* Places of a node that hold pointers, one by one: i from 0; false at the end. */
bool shape_field(struct shape *shape, uint32_t node, uint32_t i, int64_t *at, struct shape_cell *target);
/* Objects of a node: begin with shape_first, 0 at the end. Cookies are node numbers. */
uint32_t shape_first(struct shape *shape, uint32_t node, uint32_t *cookie);
uint32_t shape_next(struct shape *shape, uint32_t *cookie);
/* How many there are: as long as that is the same, so are they. */
uint32_t shape_objects(struct shape *shape, uint32_t node);

uint64_t shape_changes(const struct shape *shape); /* grows whenever something becomes the same */
uint32_t shape_count(const struct shape *shape);   /* nodes, merged ones too */

#endif
