/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/recheck.h"

#include "lint/pair.h"

static uint32_t variable_of(const struct recheck *r, uint32_t access)
{
	return r->lint->accesses.at.at[access].variable;
}

static uint64_t look_key(uint32_t first, uint32_t second)
{
	return (uint64_t)first << 32 | second;
}

/* Where others of the same use and variable are found; several may share one. */
static uint64_t use_key(const struct recheck *r, const struct flow_edge *e)
{
	uint64_t key = map_hash((uint64_t)e->to.via << 32 | e->to.access);

	return key ^ map_hash(variable_of(r, e->from.access) + 1ull) << 1 ^ 1;
}

void recheck_begin(struct recheck *r, const struct lint *lint)
{
	const struct flows *f = lint->flows;

	*r = (struct recheck){.lint = lint,
			      .next_edge = mem_zalloc(f->edges.count + 1ull, sizeof(*r->next_edge))};
	for (uint32_t i = 0; i < f->edges.count; i++) {
		const struct flow_edge *e = &f->edges.at[i];
		uint64_t key = use_key(r, e);

		r->next_edge[i] = map_get(&r->by_use, key);
		map_set(&r->by_use, key, i + 1);
		if (!lint->accesses.at.at[e->to.access].write && !e->data && !e->again && !e->carried &&
		    variable_of(r, e->from.access) == variable_of(r, e->to.access))
			map_set(&r->looks, look_key(e->from.access, e->to.access), 1);
	}
}

void recheck_end(struct recheck *r)
{
	map_release(&r->looks);
	map_release(&r->by_use);
	free(r->next_edge);
}

bool recheck_is(const struct recheck *r, const struct flow_edge *edge)
{
	const struct flows *f = r->lint->flows;

	if (edge->data)
		return false;
	for (uint32_t i = map_get(&r->by_use, use_key(r, edge)); i; i = r->next_edge[i - 1]) {
		const struct flow_edge *other = &f->edges.at[i - 1];

		if (other->function == edge->function && other->to.via == edge->to.via &&
		    other->to.access == edge->to.access && other->from.access != edge->from.access &&
		    !other->again && !other->carried &&
		    variable_of(r, other->from.access) == variable_of(r, edge->from.access) &&
		    map_get(&r->looks, look_key(edge->from.access, other->from.access)) &&
		    (other->from.via == edge->from.via ||
		     pair_same_object(r->lint, edge->from.via, other->from.via) > 0))
			return true;
	}
	return false;
}

/* ---- looks that contradict each other ---- */

enum { DEPTH = 6 };

/* Is the value the call's result, or made of it by casts? */
static bool is_result(const struct program *p, uint32_t value, uint32_t call)
{
	for (int depth = 0; depth < DEPTH; depth++) {
		uint32_t maker = program_maker(p, value);

		if (maker == call)
			return true;
		if (!maker || p->insts[maker].op != PROGRAM_COPY || p->insts[maker].operand_count != 1)
			return false;
		value = program_operand(p, &p->insts[maker], 0);
	}
	return false;
}

/* 1: is true if the call's result is 0; -1: if it is not; 0: has nothing to do with it. */
static int is_failure(const struct program *p, uint32_t value, uint32_t call, int depth)
{
	uint32_t maker = program_maker(p, value);
	const struct program_inst *inst = &p->insts[maker];
	const struct program_value *with;
	int inside;

	if (is_result(p, value, call))
		return -1;
	if (!maker || depth > DEPTH)
		return 0;
	inside = is_failure(p, program_operand(p, inst, 0), call, depth + 1);
	if (inst->op == PROGRAM_COPY && inst->operand_count == 1)
		return inside;
	with = &p->values[program_operand(p, inst, 1)];
	if (inst->operand_count != 2 || with->kind != VALUE_NUMBER)
		return 0;
	if (inst->op == PROGRAM_COMPUTE && inst->sub == SUB_XOR && with->number)
		return -inside;
	if (inst->op == PROGRAM_COMPARE && !with->number && inst->sub == SUB_EQUAL)
		return -inside;
	if (inst->op == PROGRAM_COMPARE && !with->number && inst->sub == SUB_UNEQUAL)
		return inside;
	return 0;
}

/* A sum that a loop carries on. */
static bool is_count(const struct program *p, const struct program_inst *inst)
{
	for (uint32_t i = 0; inst->op == PROGRAM_COMPUTE && inst->sub == SUB_ADD && i < inst->operand_count;
	     i++) {
		uint32_t maker = program_maker(p, program_operand(p, inst, i));

		if (maker && p->insts[maker].op == PROGRAM_PHI)
			return true;
	}
	return false;
}

/* Does the branch decide whether a loop around it goes on? */
static bool is_exit(const struct cfg *cfg, uint32_t block)
{
	for (uint32_t e = cfg->edge_first[block]; e < cfg->edge_first[block + 1]; e++)
		if (cfg->loop[block] != CFG_NONE && !cfg_inside(cfg, cfg->edges[e], cfg->loop[block]))
			return true;
	return false;
}

/* Does the block run only if the call's result is 0? To go on because of that is to try again. */
static bool is_after_failure(const struct lint *lint, uint32_t function, uint32_t block, uint32_t call)
{
	const struct program *p = &lint->program;
	const struct cfg *cfg = &lint->cfgs[function];

	for (uint32_t c = cfg->control_first[block]; c < cfg->control_first[block + 1]; c++) {
		const struct program_block *by =
			&p->blocks[p->functions[function].block + cfg->controls[c].block];
		const struct program_inst *end = &p->insts[by->inst + by->inst_count - 1];
		int failure =
			end->op == PROGRAM_BRANCH ? is_failure(p, program_operand(p, end, 0), call, 0) : 0;

		if (failure && !is_exit(cfg, cfg->controls[c].block) &&
		    (failure > 0) == !cfg->controls[c].edge)
			return true;
	}
	return false;
}

bool recheck_is_noted(const struct lint *lint, const struct flow_edge *edge)
{
	const struct program *p = &lint->program;
	const struct program_function *f = &p->functions[edge->function];

	if (p->insts[edge->to.via].op != PROGRAM_CALL || !p->insts[edge->to.via].value)
		return false;
	for (uint32_t b = 0; b < f->block_count; b++) {
		const struct program_block *block = &p->blocks[f->block + b];

		for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++) {
			const struct program_inst *inst = &p->insts[i];

			if (!is_count(p, inst))
				continue;
			for (uint32_t n = 0; n < inst->operand_count; n++)
				if (is_failure(p, program_operand(p, inst, n), edge->to.via, 0) > 0)
					return true;
			if (is_after_failure(lint, edge->function, b, edge->to.via))
				return true;
		}
	}
	return false;
}
