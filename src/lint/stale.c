/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Stale values (MoTH, section 5.2): a value read in one region is used in
 * another, and a thread may write the variable in between. The paper's edges
 * (m1, x, m2) of the view dependency graph are flow's edges whose ends lie in
 * different regions, or in one that the value left and came back to.
 *
 * A use is any access in the second region that depends on the value, also a
 * read or an access to another variable: a copy into private memory with a stale
 * length writes nothing that is shared (StringBuffer).
 *
 * What the paper has no word for decides how sure we are. Permissive rules are
 * all in weigh().
 */
#include "lint/flow.h"
#include "lint/pair.h"
#include "lint/verdict.h"

/* Does some region of another moment access both, writing the first? Then they belong together. */
static bool belong_together(const struct lint *lint, uint32_t x, uint32_t y)
{
	const struct variable *v = &lint->accesses.variables.at[x];
	const struct variable *u = &lint->accesses.variables.at[y];

	if (x == y)
		return true;
	for (uint32_t i = 0; i < v->writes.count; i++) {
		uint32_t a = lint->accesses.at.at[v->writes.at[i]].inst;

		for (uint32_t kind = 0; kind < 2; kind++) {
			const struct vec_u32 *others = kind ? &u->writes : &u->reads;

			for (uint32_t n = 0; n < others->count; n++) {
				uint32_t b = lint->accesses.at.at[others->at[n]].inst;

				if (program_function_of(&lint->program, a) ==
					    program_function_of(&lint->program, b) &&
				    flow_same_regions(lint, a, b))
					return true;
			}
		}
	}
	return false;
}

/* Is the variable also written in the region in which it was read? */
static bool written_along(const struct lint *lint, uint32_t access)
{
	const struct access *a = &lint->accesses.at.at[access];
	const struct variable *v = &lint->accesses.variables.at[a->variable];

	if (lint->program.insts[a->inst].op == PROGRAM_UPDATE)
		return true;
	for (uint32_t i = 0; i < v->writes.count; i++) {
		uint32_t b = lint->accesses.at.at[v->writes.at[i]].inst;

		if (program_function_of(&lint->program, a->inst) == program_function_of(&lint->program, b) &&
		    flow_same_regions(lint, a->inst, b))
			return true;
	}
	return false;
}

/* The values that make up an address, as far as they are plain to see. */
static bool address_reads_written(const struct lint *lint, uint32_t value, uint32_t inst, int depth)
{
	const struct program *p = &lint->program;
	uint32_t maker = program_maker(p, value), count;
	const struct access *a;

	if (!maker || depth > 6)
		return false;
	a = access_at(lint, maker, &count);
	for (uint32_t i = 0; i < count; i++)
		if (!a[i].write && flow_same_regions(lint, maker, inst) &&
		    written_along(lint, (uint32_t)(&a[i] - lint->accesses.at.at)))
			return true;
	if (p->insts[maker].op == PROGRAM_PHI)
		return false;
	for (uint32_t i = 0; i < p->insts[maker].operand_count; i++)
		if (address_reads_written(lint, program_operand(p, &p->insts[maker], i), inst, depth + 1))
			return true;
	return false;
}

/* An element whose index moves on in the same region, or a place that is overwritten: it is taken out. */
static bool is_taken(const struct lint *lint, uint32_t access, bool *by_index)
{
	const struct access *a = &lint->accesses.at.at[access];
	const struct program_inst *inst = &lint->program.insts[a->inst];

	*by_index = inst->op == PROGRAM_LOAD &&
		    address_reads_written(lint, program_operand(&lint->program, inst, 0), a->inst, 0);
	return *by_index || written_along(lint, access);
}

/* The write that makes the value stale; one by the same function in another thread tells most. */
static uint32_t find_writer(const struct lint *lint, const struct flow_edge *e, struct verdict *v)
{
	const struct access *read = &lint->accesses.at.at[e->from.access];
	const struct variable *x = &lint->accesses.variables.at[read->variable];
	struct lockset held = pair_held(lint, e->function, e->from.via, e->to.via, e->around);
	uint32_t best = 0;
	int best_rank = -1;

	for (uint32_t t = 0; t < lint->threads.count; t++) {
		if (!(lint->threads.reach[e->function] >> t & 1))
			continue;
		for (uint32_t i = 0; i < x->writes.count; i++) {
			const struct access *w = &lint->accesses.at.at[x->writes.at[i]];
			uint32_t by = context_interferes(lint, w, t, e->to.via, &held);
			int rank = 0;

			if (!by || !context_interferes(lint, w, t, e->from.via, &held))
				continue;
			rank += 2 * pair_in_scope(lint, w->inst, e->function);
			rank += region_state(lint, w->inst)->held_count != 0;
			if (rank > best_rank) {
				best_rank = rank;
				best = x->writes.at[i];
				v->thread = t;
				v->other_thread = by - 1;
			}
		}
	}
	return best;
}

/* How sure, from 0 to 1. Every lenient rule is here. */
static double weigh(const struct lint *lint, const struct flow_edge *e, struct verdict *v)
{
	const struct access *a = &lint->accesses.at.at[e->from.access];
	const struct access *b = &lint->accesses.at.at[e->to.access];
	bool same = a->variable == b->variable, by_index, guarded = false;
	const struct variable *x = &lint->accesses.variables.at[a->variable];
	const struct variable *y = &lint->accesses.variables.at[b->variable];
	bool together = belong_together(lint, a->variable, b->variable);
	double c;

	for (uint32_t i = 0; i < e->to.guard_count; i++)
		guarded |= e->to.guards[i] == a->variable;
	v->taken = is_taken(lint, e->from.access, &by_index);
	if (e->data) {
		c = same ? (b->write ? 0.9 : 0.7) : together ? 0.75 : x->set == y->set ? 0.6 : 0.45;
		if (e->to.kind == USE_ADDRESSES)
			c -= 0.05;
		v->checked_again = guarded && e->to.compared;
		/* Taken out of a queue, it is the taker's own. The variable itself, read and written in one
		 * go and then written again, is not. */
		if (v->taken && (!same || by_index))
			c *= 0.4;
	} else {
		c = same ? (b->write ? 0.7 : 0.5) : together ? 0.6 : x->set == y->set ? 0.3 : 0.15;
		v->checked_again = guarded;
		/* A ticket: nobody else gets the same. */
		if (v->taken)
			c *= 0.5;
		if (e->again)
			c *= 0.7;
		if (pair_is_root(lint, e->function))
			c *= 0.8;
	}
	if (v->checked_again)
		c = 0.1;
	return c;
}

void stale_judge(struct lint *lint, struct verdicts *verdicts)
{
	const struct flows *f = lint->flows;

	for (uint32_t i = 0; i < f->edges.count; i++) {
		const struct flow_edge *e = &f->edges.at[i];
		struct verdict v = {.rule = VERDICT_STALE,
				    .function = e->function,
				    .first = e->from.access,
				    .second = e->to.access,
				    .first_via = e->from.via,
				    .second_via = e->to.via,
				    .data = e->data,
				    .again = e->again};

		v.first_region = e->from.region ? e->from.region : flow_region(lint, e->from.via);
		v.second_region = e->to.region ? e->to.region : flow_region(lint, e->to.via);
		/* Outside any region there is a race, or the region is a caller's. */
		if (!v.first_region || !v.second_region)
			continue;
		/* One region that is never left in between. */
		if (!e->from.region && !e->to.region && !e->around &&
		    flow_same_regions(lint, e->from.via, e->to.via))
			continue;
		v.other = find_writer(lint, e, &v);
		if (!v.other)
			continue;
		v.confidence = weigh(lint, e, &v);
		verdicts->count[VERDICT_STALE]++;
		vec_push(&verdicts->at, v);
	}
}
