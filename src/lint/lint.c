/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Runs the analyses one after the other. */
#include "lint/lint.h"

#include <string.h>

#include "lint/flow.h"
#include "lint/pause.h"
#include "lint/view.h"

const char *lint_text(struct lint *lint, char *text)
{
	vec_push(&lint->texts, text);
	return text;
}

uint32_t lint_block(const struct lint *lint, uint32_t inst)
{
	const struct program *p = &lint->program;
	uint32_t block = p->insts[inst].block;

	return block - p->functions[p->blocks[block].function].block;
}

/* A branch on a constant goes one way; guards of the C++ library have many. */
static void build_cfgs(struct lint *lint)
{
	const struct program *p = &lint->program;
	struct vec_u32 first = {0}, edges = {0};

	lint->cfgs = mem_zalloc(p->functions_count, sizeof(*lint->cfgs));
	for (uint32_t f = 1; f < p->functions_count; f++) {
		const struct program_function *function = &p->functions[f];

		if (!function->block_count)
			continue;
		first.count = edges.count = 0;
		for (uint32_t b = 0; b < function->block_count; b++) {
			const struct program_block *block = &p->blocks[function->block + b];
			const struct program_inst *end = &p->insts[block->inst + block->inst_count - 1];
			uint32_t condition = end->op == PROGRAM_BRANCH ? program_operand(p, end, 0) : 0;
			int only = condition && p->values[condition].kind == VALUE_NUMBER
					   ? (p->values[condition].number & 1 ? 0 : 1)
					   : -1;

			vec_push(&first, edges.count);
			for (uint32_t e = 0; e < block->edge_count; e++)
				if (only < 0 || (uint32_t)only == e)
					vec_push(&edges, p->edges[block->edge + e] - function->block);
		}
		vec_push(&first, edges.count);
		cfg_build(&lint->cfgs[f], function->block_count, first.at, edges.at);
		lint->effort->steps[EFFORT_CFG] +=
			edges.count + lint->cfgs[f].control_first[function->block_count];
	}
	vec_free(&first);
	vec_free(&edges);
}

void lint_part(struct lint *lint, enum effort_part part)
{
	effort_begin(lint->effort, part);
	if (part != EFFORT_PARTS && lint->options.step)
		lint->options.step(effort_title(part));
}

void lint_run(struct lint *lint)
{
	lint_part(lint, EFFORT_CFG);
	build_cfgs(lint);
	lint_part(lint, EFFORT_POINTERS);
	pointsto_build(&lint->pt, &lint->program, lint->options.known, lint->options.user,
		       &lint->effort->steps[EFFORT_POINTERS]);
	lint_part(lint, EFFORT_CALLS);
	callgraph_build(lint);
	lint_part(lint, EFFORT_THREADS);
	thread_build(lint);
	access_reach(lint);
	lint_part(lint, EFFORT_LOCKS);
	pause_build(lint);
	region_build(lint);
	lint_part(lint, EFFORT_ACCESSES);
	access_build(lint);
	lint_part(lint, EFFORT_CONTEXTS);
	context_build(lint);
	lint_part(lint, EFFORT_ACCESSES);
	access_share(lint);
	lint_part(lint, EFFORT_VIEWS);
	view_build(lint);
	lint_part(lint, EFFORT_FLOWS);
	flow_build(lint);
	lint_part(lint, EFFORT_PARTS);
}

void lint_release(struct lint *lint)
{
	flow_release(lint);
	view_release(lint);
	context_release(lint);
	access_release(lint);
	region_release(&lint->regions);
	pause_release(lint);
	thread_release(lint);
	callgraph_release(&lint->calls);
	pointsto_release(&lint->pt);
	for (uint32_t f = 0; lint->cfgs && f < lint->program.functions_count; f++)
		cfg_release(&lint->cfgs[f]);
	for (uint32_t f = 0; lint->below && f < lint->program.functions_count; f++)
		free(lint->below[f]);
	free(lint->below);
	free(lint->cfgs);
	for (uint32_t i = 0; i < lint->texts.count; i++)
		free(lint->texts.at[i]);
	vec_free(&lint->texts);
	memset(lint, 0, sizeof(*lint));
}
