/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/rounds.h"

enum { DEPTH = 8 };

struct question {
	const struct lint *lint;
	const struct cfg *cfg;
	uint32_t first; /* block of the function */
	uint32_t loop;
};

/* Is the value another one in every round: a counter, a pointer that moves on, something kept on the stack?
 */
static bool steps_on(const struct question *q, uint32_t value, int depth)
{
	const struct program *p = &q->lint->program;
	uint32_t maker = program_maker(p, value);
	const struct program_inst *inst = &p->insts[maker];
	uint32_t count;

	if (!maker || depth > DEPTH)
		return false;
	if (inst->op == PROGRAM_ALLOCA)
		return true;
	if (!cfg_inside(q->cfg, inst->block - q->first, q->loop))
		return false;
	if (inst->op == PROGRAM_PHI && inst->block - q->first == q->cfg->loops[q->loop].header)
		return true;
	count = inst->op == PROGRAM_PHI ? inst->operand_count / 2 : inst->operand_count;
	for (uint32_t i = 0; i < count; i++)
		if (steps_on(q, program_operand(p, inst, i), depth + 1))
			return true;
	return false;
}

/* Does nothing that the loop steps on with decide whether it goes on? */
static bool is_work(const struct lint *lint, uint32_t function, uint32_t loop)
{
	const struct program *p = &lint->program;
	const struct question q = {.lint = lint,
				   .cfg = &lint->cfgs[function],
				   .first = p->functions[function].block,
				   .loop = loop};

	for (uint32_t b = 0; b < q.cfg->count; b++) {
		const struct program_block *block = &p->blocks[q.first + b];
		const struct program_inst *end = &p->insts[block->inst + block->inst_count - 1];
		bool leaves = false;

		if (!cfg_inside(q.cfg, b, loop))
			continue;
		for (uint32_t e = q.cfg->edge_first[b]; e < q.cfg->edge_first[b + 1]; e++)
			leaves |= !cfg_inside(q.cfg, q.cfg->edges[e], loop);
		if (leaves && steps_on(&q, program_operand(p, end, 0), 0))
			return false;
	}
	return true;
}

bool rounds_part(const struct lint *lint, uint32_t a, uint32_t b)
{
	uint32_t function = program_function_of(&lint->program, a);
	const struct cfg *cfg = &lint->cfgs[function];
	uint32_t blocks[2] = {lint_block(lint, a), lint_block(lint, b)};

	for (int i = 0; i < 2; i++)
		for (uint32_t loop = cfg->loop[blocks[i]];
		     loop != CFG_NONE && !cfg_inside(cfg, blocks[!i], loop); loop = cfg->loops[loop].parent)
			if (is_work(lint, function, loop))
				return true;
	return false;
}
