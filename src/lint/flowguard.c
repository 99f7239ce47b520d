/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What is looked at again: an access in a region may depend on a value from
 * outside, but be guarded by something that is read in the same region, so that
 * an old value does no harm.
 */
#include "lint/flowwork.h"

#include <string.h>

/* Control dependence the other way round. */
void flowguard_prepare(struct flow_work *w)
{
	uint32_t count = w->cfg->control_first[w->cfg->count];

	w->controlled_first = mem_zalloc(w->cfg->count + 2, sizeof(*w->controlled_first));
	w->controlled = mem_alloc((count + 1) * sizeof(*w->controlled));
	for (uint32_t c = 0; c < count; c++)
		w->controlled_first[w->cfg->controls[c].block + 1]++;
	for (uint32_t b = 0; b < w->cfg->count; b++)
		w->controlled_first[b + 1] += w->controlled_first[b];
	for (uint32_t b = w->cfg->count; b-- > 0;)
		for (uint32_t c = w->cfg->control_first[b]; c < w->cfg->control_first[b + 1]; c++)
			w->controlled[--w->controlled_first[w->cfg->controls[c].block + 1]] =
				(struct cfg_control){b, w->cfg->controls[c].edge};
	/* Each first is now one too far to the right. */
	memmove(w->controlled_first, w->controlled_first + 1, w->cfg->count * sizeof(*w->controlled_first));
	w->controlled_first[w->cfg->count] = count;
}

/* Does a condition depend on something that came from outside the region? */
static bool compares_old(struct flow_work *w, const uint64_t *set, uint32_t inst)
{
	for (uint32_t s = 0; s < flowset_symbols(w); s++)
		if (flowset_has_any(w, set, s) &&
		    (s < w->params
			     ? w->lint->program.values[w->lint->program.functions[w->function].parameter + s]
						       .kind == VALUE_PARAMETER &&
				       !pointsto_is_pointer(
					       &w->lint->pt,
					       w->lint->program.functions[w->function].parameter + s)
			     : !flow_same_regions(w->lint, w->sources.at[s - w->params].via, inst)))
			return true;
	return false;
}

/* If the condition goes the other way, is something written in the region all the same? Then it is no check
 * after which nothing happens. */
static bool acts_otherwise(struct flow_work *w, uint32_t by, uint32_t edge, uint32_t inst)
{
	const struct program *p = &w->lint->program;

	for (uint32_t n = w->controlled_first[by]; n < w->controlled_first[by + 1]; n++) {
		const struct program_block *block = &p->blocks[w->block + w->controlled[n].block];

		if (w->controlled[n].edge == edge)
			continue;
		for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++) {
			uint32_t count;
			const struct access *a = access_at(w->lint, i, &count);

			for (uint32_t k = 0; k < count; k++)
				if (a[k].write && !a[k].fresh && flow_same_regions(w->lint, i, inst))
					return true;
		}
	}
	return false;
}

/* The way that a branch goes if the two values that the condition compares are equal, or -1. */
static int equal_edge(const struct program *p, uint32_t condition, int depth)
{
	uint32_t maker = program_maker(p, condition);
	const struct program_inst *inst = &p->insts[maker];
	int found = -1;

	if (!maker || depth > 6)
		return -1;
	switch ((enum program_op)inst->op) {
	case PROGRAM_COPY:
		return inst->operand_count == 1 ? equal_edge(p, program_operand(p, inst, 0), depth + 1) : -1;
	case PROGRAM_COMPARE: {
		const struct program_value *with = &p->values[program_operand(p, inst, 1)];
		bool equal = inst->sub == SUB_EQUAL;

		if (inst->sub != SUB_EQUAL && inst->sub != SUB_UNEQUAL)
			return -1;
		if (with->kind == VALUE_NUMBER && !with->number &&
		    (found = equal_edge(p, program_operand(p, inst, 0), depth + 1)) >= 0)
			return equal ? !found : found;
		return equal ? 0 : 1;
	}
	case PROGRAM_COMPUTE:
		if (inst->sub == SUB_XOR) {
			found = equal_edge(p, program_operand(p, inst, 0), depth + 1);
			return found < 0 ? -1 : !found;
		}
		if (inst->sub != SUB_AND)
			return -1;
		/* fall through */
	case PROGRAM_PHI:
		/* All of several must hold. */
		for (uint32_t i = 0; i < 2 && i < inst->operand_count && found != 0; i++)
			found = equal_edge(p, program_operand(p, inst, i), depth + 1);
		return found == 0 ? 0 : -1;
	default:
		return -1;
	}
}

void flowguard_find(struct flow_work *w, uint32_t inst, uint32_t block, struct flow_use *use)
{
	const struct program *p = &w->lint->program;
	struct vec_u32 waiting = {0}, seen = {0};

	w->conditions.count = 0;
	if (!region_state(w->lint, inst)->held_count)
		return;
	vec_push(&waiting, block);
	while (waiting.count) {
		uint32_t b = waiting.at[--waiting.count];

		if (!vec_add(&seen, b))
			continue;
		for (uint32_t c = w->cfg->control_first[b]; c < w->cfg->control_first[b + 1]; c++) {
			uint32_t by = w->cfg->controls[c].block;
			const struct program_block *pb = &p->blocks[w->block + by];
			uint32_t end = pb->inst + pb->inst_count - 1;
			const uint64_t *set;
			bool checks = false;

			vec_push(&waiting, by);
			if (!p->insts[end].operand_count || !flow_same_regions(w->lint, end, inst) ||
			    !(set = flowset_of(w, program_operand(p, &p->insts[end], 0))))
				continue;
			bool acts = acts_otherwise(w, by, w->cfg->controls[c].edge, inst);

			for (uint32_t s = w->params; s < flowset_symbols(w); s++) {
				const struct flow_source *source = &w->sources.at[s - w->params];
				uint32_t variable, g = 0;

				if (!flowset_has_any(w, set, s) ||
				    !flow_same_regions(w->lint, source->via, inst))
					continue;
				if (acts) {
					use->acts = true;
					break;
				}
				checks = true;
				variable = w->lint->accesses.at.at[source->access].variable;
				while (g < use->guard_count && use->guards[g] != variable)
					g++;
				if (g == use->guard_count && g < FLOW_GUARDS)
					use->guards[use->guard_count++] = variable;
				if (g < FLOW_GUARDS && compares_old(w, set, inst))
					use->versions |= 1u << g;
			}
			uint32_t condition = program_operand(p, &p->insts[end], 0);

			if (checks && equal_edge(p, condition, 0) == (int)w->cfg->controls[c].edge)
				vec_push(&w->conditions, condition);
		}
	}
	vec_free(&waiting);
	vec_free(&seen);
}
