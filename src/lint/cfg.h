/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What follows from a function's flow of control alone: dominators and
 * postdominators (Cooper, Harvey and Kennedy), control dependence (Ferrante,
 * Ottenstein and Warren), natural loops, and which blocks lie on a cycle at
 * all, which also holds where a loop has several entries. Blocks are numbers
 * from 0, the entry is 0.
 *
 * Every block has a postdominator: code that never ends is given an imaginary
 * way out, and `count` is the exit that all ways lead to.
 */
#ifndef ATOMSAN_LINT_CFG_H
#define ATOMSAN_LINT_CFG_H

#include <stdbool.h>
#include <stdint.h>

#define CFG_NONE UINT32_MAX

struct cfg_control {
	uint32_t block; /* whose end decides */
	uint32_t edge;  /* by going this way (number of the successor) */
};

struct cfg_loop {
	uint32_t header;
	uint32_t parent; /* loop around it, or CFG_NONE */
};

struct cfg {
	uint32_t count;
	uint32_t *edge_first, *edges; /* successors of b: edges[edge_first[b]] .. edges[edge_first[b + 1]] */
	uint32_t *pred_first, *preds;
	uint32_t *order; /* reverse postorder of what can be reached */
	uint32_t order_count;
	uint32_t *number;        /* place in the order, or CFG_NONE */
	uint32_t *dominator;     /* immediate; the entry's is itself; CFG_NONE if not reached */
	uint32_t *postdominator; /* immediate, at most `count` */
	uint32_t *control_first;
	struct cfg_control *controls;
	bool *on_cycle;
	struct cfg_loop *loops; /* outer ones after inner ones */
	uint32_t loop_count;
	uint32_t *loop; /* innermost natural loop of a block, or CFG_NONE */
};

/* Copies what it needs; edge_first has count + 1 entries. */
void cfg_build(struct cfg *cfg, uint32_t count, const uint32_t *edge_first, const uint32_t *edges);
void cfg_release(struct cfg *cfg);

bool cfg_dominates(const struct cfg *cfg, uint32_t a, uint32_t b);
bool cfg_postdominates(const struct cfg *cfg, uint32_t a, uint32_t b);
/* Does the block lie in the loop, or in one inside it? */
bool cfg_inside(const struct cfg *cfg, uint32_t block, uint32_t loop);

#endif
