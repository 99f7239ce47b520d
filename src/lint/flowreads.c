/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which places of the objects that it is handed a function reads, itself or by
 * handing them on. What lies elsewhere in them, its caller's own, it does not use.
 */
#include "lint/flowwork.h"

static void read_anything(struct flow_reads *r)
{
	r->anything = true;
}

static void read_at(struct flow_reads *r, int64_t at)
{
	for (uint32_t i = 0; i < r->count; i++)
		if (r->at[i] == at)
			return;
	if (r->count == FLOW_READS)
		read_anything(r);
	else
		r->at[r->count++] = at;
}

/* The parameter whose object a pointer leads into, and where; NULL if it is none. *exact: nothing is added to
 * it that is not known. */
static struct flow_reads *into_parameter(struct flow_work *w, uint32_t pointer, int64_t *at, bool *exact)
{
	const struct program *p = &w->lint->program;
	const struct program_function *f = &p->functions[w->function];
	uint32_t value = pointer, base = flowset_base(p, pointer, at);

	if (base - f->parameter >= f->parameter_count || base - f->parameter >= FLOW_READS_PARAMS)
		return NULL;
	*exact = true;
	while (value != base) {
		const struct program_inst *inst = &p->insts[program_maker(p, value)];

		*exact &= inst->op != PROGRAM_OFFSET || !(inst->flags & PROGRAM_ARRAY);
		value = program_operand(p, inst, 0);
	}
	return &w->summaries[w->function].reads[base - f->parameter];
}

static void handed_on(struct flow_work *w, uint32_t call, uint32_t argument, struct flow_reads *r, int64_t at)
{
	uint32_t count;
	const struct call_edge *edges = callgraph_at(&w->lint->calls, call, &count);

	if (!count || argument >= FLOW_READS_PARAMS)
		read_anything(r);
	for (uint32_t e = 0; e < count && !r->anything; e++) {
		const struct flow_summary *s = &w->summaries[edges[e].callee];

		if (!s->has_reads || s->reads[argument].anything)
			read_anything(r);
		for (uint32_t i = 0; !r->anything && i < s->reads[argument].count; i++)
			read_at(r, at + s->reads[argument].at[i]);
	}
}

void flowreads_find(struct flow_work *w)
{
	const struct program *p = &w->lint->program;
	const struct program_function *f = &p->functions[w->function];

	for (uint32_t b = f->block; b < f->block + f->block_count; b++)
		for (uint32_t i = p->blocks[b].inst; i < p->blocks[b].inst + p->blocks[b].inst_count; i++) {
			const struct program_inst *inst = &p->insts[i];
			const struct known *known = pointsto_known(&w->lint->pt, inst);
			/* Steps of address computations are followed from where they end. */
			bool step = inst->op == PROGRAM_OFFSET ||
				    (inst->op == PROGRAM_COPY && inst->operand_count == 1);
			/* Behind a phi's values come its blocks. */
			uint32_t count =
				inst->op == PROGRAM_PHI ? inst->operand_count / 2 : inst->operand_count;

			if (known && (known->kind == KNOWN_LOCK || known->kind == KNOWN_UNLOCK))
				continue;
			for (uint32_t n = 0; !step && n < count; n++) {
				int64_t at;
				bool exact;
				struct flow_reads *r =
					into_parameter(w, program_operand(p, inst, n), &at, &exact);

				if (!r || inst->op == PROGRAM_COMPARE ||
				    (inst->op == PROGRAM_STORE && n == 1 && exact))
					continue;
				if (inst->op == PROGRAM_LOAD && exact)
					read_at(r, at);
				else if (inst->op == PROGRAM_CALL && exact &&
					 n < program_argument_count(inst))
					handed_on(w, i, n, r, at);
				else
					read_anything(r);
			}
		}
	w->summaries[w->function].has_reads = true;
}
