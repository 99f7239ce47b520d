/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/search.h"

#include "lint/view.h"

/* Values that are made of others are looked into so far. */
enum { DEPTH = 8 };

/* Is the value another one in each round of the loop? It is if it is made of one that the loop carries on. */
static bool varies(const struct lint *lint, uint32_t value, uint32_t header, int depth)
{
	const struct program *p = &lint->program;
	uint32_t maker = program_maker(p, value);
	const struct program_inst *inst = &p->insts[maker];

	if (!maker || depth > DEPTH)
		return false;
	switch ((enum program_op)inst->op) {
	case PROGRAM_PHI:
		return inst->block == header;
	case PROGRAM_OFFSET:
	case PROGRAM_COPY:
	case PROGRAM_COMPUTE:
		for (uint32_t i = 0; i < inst->operand_count; i++)
			if (varies(lint, program_operand(p, inst, i), header, depth + 1))
				return true;
		return false;
	case PROGRAM_LOAD:
		/* From a table of pointers. */
		return varies(lint, program_operand(p, inst, 0), header, depth + 1);
	default:
		return false;
	}
}

/* Is what an access or a call is about another thing in each round? */
static bool moves_on(const struct lint *lint, uint32_t inst, uint32_t header)
{
	const struct program *p = &lint->program;
	const struct program_inst *i = &p->insts[inst];

	switch ((enum program_op)i->op) {
	case PROGRAM_LOAD:
	case PROGRAM_UPDATE:
		return varies(lint, program_operand(p, i, 0), header, 0);
	case PROGRAM_STORE:
		return varies(lint, program_operand(p, i, 1), header, 0);
	case PROGRAM_CALL:
		for (uint32_t n = 0; n < program_argument_count(i); n++)
			if (varies(lint, program_operand(p, i, n), header, 0))
				return true;
		return false;
	default:
		return false;
	}
}

static bool is_made_of(const struct program *p, uint32_t value, uint32_t from, int depth)
{
	uint32_t maker = program_maker(p, value);

	if (value == from)
		return true;
	if (!maker || depth > DEPTH || p->insts[maker].op == PROGRAM_PHI ||
	    p->insts[maker].op == PROGRAM_LOAD || p->insts[maker].op == PROGRAM_CALL)
		return false;
	for (uint32_t i = 0; i < p->insts[maker].operand_count; i++)
		if (is_made_of(p, program_operand(p, &p->insts[maker], i), from, depth + 1))
			return true;
	return false;
}

/* Does what was read decide whether the instruction runs, which is in the same function? */
static bool decides(const struct lint *lint, uint32_t read, uint32_t inst)
{
	const struct program *p = &lint->program;
	uint32_t function = program_function_of(p, inst), block = lint_block(lint, inst);
	const struct cfg *cfg = &lint->cfgs[function];

	for (uint32_t c = cfg->control_first[block]; c < cfg->control_first[block + 1]; c++) {
		const struct program_block *by =
			&p->blocks[p->functions[function].block + cfg->controls[c].block];
		const struct program_inst *end = &p->insts[by->inst + by->inst_count - 1];

		if (end->operand_count && is_made_of(p, program_operand(p, end, 0), p->insts[read].value, 0))
			return true;
	}
	return false;
}

/* Is the variable marked in the region: a constant is written to it, and whether is up to what it was? */
static bool is_marked(const struct lint *lint, uint32_t region, uint32_t variable)
{
	const struct program *p = &lint->program;
	const struct variable *v = &lint->accesses.variables.at[variable];
	uint32_t function = lint->regions.regions.at[region].function, write_count, read_count;
	const uint32_t *writes = access_within(lint, &v->writes, function, &write_count);
	const uint32_t *reads = access_within(lint, &v->reads, function, &read_count);

	for (uint32_t i = 0; i < write_count; i++) {
		uint32_t write = lint->accesses.at.at[writes[i]].inst;
		const struct program_inst *inst = &p->insts[write];

		if (inst->op != PROGRAM_STORE ||
		    p->values[program_operand(p, inst, 0)].kind != VALUE_NUMBER ||
		    flow_region(lint, write) != region)
			continue;
		for (uint32_t n = 0; n < read_count; n++) {
			uint32_t read = lint->accesses.at.at[reads[n]].inst;

			if (p->insts[read].op == PROGRAM_LOAD && flow_region(lint, read) == region &&
			    decides(lint, read, write))
				return true;
		}
	}
	return false;
}

/* Does the region mark something, and is the variable that, or what is looked at along with it? */
static bool region_claims(struct lint *lint, uint32_t region, uint32_t variable)
{
	const struct view_set *s = &lint->views->regions[region];

	for (uint32_t i = 0; i < s->at.count; i++)
		for (uint32_t n = 0; n < s->at.at[i].items.count; n++) {
			uint32_t marked = s->at.at[i].items.at[n] / 2;

			if (s->at.at[i].items.at[n] & 1 && view_reads(&s->at.at[i], marked) &&
			    is_marked(lint, region, marked) &&
			    (marked == variable || view_read_together(lint, marked, variable)))
				return true;
		}
	return false;
}

/* The same of the regions that an instruction lies in, or that who is called has itself: who marks something
 * further down does so for its own ends. */
static bool claims(struct lint *lint, uint32_t inst, uint32_t variable)
{
	uint32_t count, region = flow_region(lint, inst);
	const struct call_edge *edges = callgraph_at(&lint->calls, inst, &count);

	if (region && region_claims(lint, region, variable))
		return true;
	for (uint32_t e = 0; e < count; e++) {
		const struct vec_u32 *scope = &lint->views->scopes[edges[e].callee];

		for (uint32_t i = 0; i < scope->count; i++)
			if (lint->regions.regions.at[scope->at[i]].function == edges[e].callee &&
			    region_claims(lint, scope->at[i], variable))
				return true;
	}
	return false;
}

bool search_is(struct lint *lint, const struct flow_edge *edge)
{
	const struct program *p = &lint->program;
	const struct cfg *cfg = &lint->cfgs[edge->function];
	uint32_t loop, header, block = p->functions[edge->function].block;

	if (edge->data || !edge->in_rounds)
		return false;
	loop = cfg->loop[lint_block(lint, edge->from.via)];
	while (loop != CFG_NONE && !cfg_inside(cfg, lint_block(lint, edge->to.via), loop))
		loop = cfg->loops[loop].parent;
	if (loop == CFG_NONE)
		return false;
	header = block + cfg->loops[loop].header;
	/* Each round has regions of its own. */
	if (flow_same_regions(lint, p->blocks[header].inst, edge->from.via) ||
	    flow_same_regions(lint, p->blocks[header].inst, edge->to.via))
		return false;
	return moves_on(lint, edge->from.via, header) && moves_on(lint, edge->to.via, header) &&
	       claims(lint, edge->from.via, lint->accesses.at.at[edge->from.access].variable) &&
	       claims(lint, edge->to.via, lint->accesses.at.at[edge->to.access].variable);
}
