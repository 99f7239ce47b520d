/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls that are made whichever way a condition goes. Each case of a switch that
 * ends by answering calls the same function to do so; what was asked decides
 * what it answers, and not whether it does.
 */
#include "lint/flowwork.h"

#include <string.h>

/* Conditions inside each other that are looked into. */
enum { MOST_NESTED = 6 };

static bool block_calls(const struct flow_work *w, uint32_t block, uint32_t callee)
{
	const struct program *p = &w->lint->program;
	const struct program_block *b = &p->blocks[w->block + block];

	for (uint32_t i = b->inst; i < b->inst + b->inst_count; i++)
		if (p->insts[i].op == PROGRAM_CALL && p->insts[i].callee == callee)
			return true;
	return false;
}

static bool always_calls(const struct flow_work *w, uint32_t by, uint32_t callee, int depth);

/* Is the function surely called if the condition at the end of `by` goes this way? */
static bool way_calls(const struct flow_work *w, uint32_t by, uint32_t edge, uint32_t callee, int depth)
{
	for (uint32_t n = w->controlled_first[by]; n < w->controlled_first[by + 1]; n++)
		if (w->controlled[n].edge == edge &&
		    (block_calls(w, w->controlled[n].block, callee) ||
		     (w->controlled[n].block != by &&
		      always_calls(w, w->controlled[n].block, callee, depth + 1))))
			return true;
	return false;
}

/* The default of a switch that does nothing: the cases are meant to be all that there is. */
static bool is_idle_default(const struct flow_work *w, uint32_t by, uint32_t edge)
{
	const struct program *p = &w->lint->program;
	const struct program_block *b = &p->blocks[w->block + by];

	return !edge && p->insts[b->inst + b->inst_count - 1].op == PROGRAM_SWITCH &&
	       w->cfg->edges[w->cfg->edge_first[by]] == w->cfg->postdominator[by];
}

static bool always_calls(const struct flow_work *w, uint32_t by, uint32_t callee, int depth)
{
	uint32_t ways = w->cfg->edge_first[by + 1] - w->cfg->edge_first[by];

	if (depth > MOST_NESTED || ways < 2)
		return false;
	for (uint32_t edge = 0; edge < ways; edge++)
		if (!is_idle_default(w, by, edge) && !way_calls(w, by, edge, callee, depth))
			return false;
	return true;
}

const uint64_t *flowways_control(struct flow_work *w, uint32_t block, uint32_t callee)
{
	const struct cfg *cfg = w->cfg;
	uint64_t *found = w->temporary;
	struct vec_u32 blocks = {0};

	memset(found, 0, w->words * PLANES * sizeof(*found));
	vec_push(&blocks, block);
	for (uint32_t i = 0; i < blocks.count; i++) {
		uint32_t b = blocks.at[i];

		for (uint32_t c = cfg->control_first[b]; c < cfg->control_first[b + 1]; c++) {
			uint32_t by = cfg->controls[c].block;

			if (callee && by != b && always_calls(w, by, callee, 0))
				vec_add(&blocks, by);
			else
				flowspread_condition(w, block, by, found);
		}
	}
	/* Nothing goes without saying. */
	if (blocks.count == 1)
		found = w->control + (size_t)block * w->words * PLANES;
	vec_free(&blocks);
	return found;
}
