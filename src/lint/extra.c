/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Three rules that the papers do not have. A variable that one function writes in
 * two regions shows an intermediate value to whoever comes in between, whether
 * or not the second write knows of the first. A lock that is held over two regions
 * of another, and over nothing else that is changed, is there to make them one; if
 * others need not hold it, it does not (PrintWriter). And a lock that no two
 * threads can both take makes no region at all, whatever it was meant to do.
 */
#include <string.h>

#include "lint/flow.h"
#include "lint/pair.h"
#include "lint/pause.h"
#include "lint/verdict.h"
#include "lint/view.h"

enum { MOST_PLACES = 64 };

/* ---- writes in two regions ---- */

static uint32_t written_in_all(const struct lint *lint, uint32_t a, uint32_t b)
{
	const struct view_set *s = &lint->views->regions[a], *t = &lint->views->regions[b];

	for (uint32_t i = 0; i < s->at.count; i++)
		for (uint32_t n = 0; n < s->at.at[i].items.count; n++) {
			uint32_t item = s->at.at[i].items.at[n];

			/* Blind: what is read first is somebody's update. */
			if (!(item & 1) || view_reads(&s->at.at[i], item / 2))
				continue;
			for (uint32_t k = 0; k < t->at.count; k++)
				if (view_has_item(&t->at.at[k], item) && !view_reads(&t->at.at[k], item / 2))
					return item / 2;
		}
	return 0;
}

static void split_pair(struct lint *lint, struct verdicts *verdicts, struct verdict v)
{
	uint32_t x = written_in_all(lint, v.first_region, v.second_region);
	const struct variable *variable = &lint->accesses.variables.at[x];
	struct lockset held = pair_held(lint, v.function, v.first_via, v.second_via, false);

	v.first = x ? view_access(lint, v.first_region, x, true) : 0;
	v.second = x ? view_access(lint, v.second_region, x, true) : 0;
	if (!v.first || !v.second || pause_splits(lint, &v))
		return;
	for (uint32_t i = 0; i < variable->reads.count; i++)
		for (uint32_t t = 0; t < lint->threads.count; t++) {
			uint32_t by;

			lint->effort->steps[EFFORT_EXTRA]++;
			if (!(lint->threads.reach[v.function] >> t & 1))
				continue;
			by = context_interferes(lint, &lint->accesses.at.at[variable->reads.at[i]], t,
						v.second_via, &held);
			if (!by)
				continue;
			v.other = variable->reads.at[i];
			v.thread = t;
			v.other_thread = by - 1;
			verdicts->count[VERDICT_SPLIT]++;
			vec_push(&verdicts->at, v);
			return;
		}
}

/* ---- two regions that a lock around them was to make one ---- */

static bool region_writes(const struct lint *lint, uint32_t region, uint32_t item)
{
	const struct view_set *s = &lint->views->regions[region];

	for (uint32_t i = 0; i < s->at.count; i++)
		if (view_has_item(&s->at.at[i], item))
			return true;
	return false;
}

/* Is all that the outer region writes written in the inner two? */
static bool writes_no_more(const struct lint *lint, uint32_t outer, uint32_t a, uint32_t b)
{
	const struct view_set *s = &lint->views->regions[outer];

	for (uint32_t i = 0; i < s->at.count; i++)
		for (uint32_t n = 0; n < s->at.at[i].items.count; n++) {
			uint32_t item = s->at.at[i].items.at[n];

			if (item & 1 && !region_writes(lint, a, item) && !region_writes(lint, b, item))
				return false;
		}
	return true;
}

/* Does the view write something else of the variable's set? A mere count stands for nothing else. */
static bool writes_along(const struct lint *lint, const struct view *v, uint32_t variable)
{
	const struct variable *variables = lint->accesses.variables.at;

	for (uint32_t i = 0; i < v->items.count; i++)
		if (v->items.at[i] & 1 && v->items.at[i] / 2 != variable &&
		    !strcmp(variables[v->items.at[i] / 2].set, variables[variable].set))
			return true;
	return false;
}

/* A variable that both update, by what it was before, along with something else. */
static uint32_t updated_in_both(const struct lint *lint, uint32_t a, uint32_t b)
{
	const struct view_set *s = &lint->views->regions[a];

	for (uint32_t i = 0; i < s->at.count; i++)
		for (uint32_t n = 0; n < s->at.at[i].items.count; n++) {
			uint32_t item = s->at.at[i].items.at[n];

			if (item & 1 && view_reads(&s->at.at[i], item / 2) &&
			    writes_along(lint, &s->at.at[i], item / 2) && region_writes(lint, b, item) &&
			    region_writes(lint, b, item - 1))
				return item / 2;
		}
	return 0;
}

static void whole_pair(struct lint *lint, struct verdicts *verdicts, struct verdict v)
{
	uint32_t outer = flow_region(lint, v.first_via);
	uint32_t inner = lint->regions.regions.at[v.first_region].lock;
	uint32_t x = updated_in_both(lint, v.first_region, v.second_region);
	const struct variable *variable = &lint->accesses.variables.at[x];
	struct lockset held = pair_held(lint, v.function, v.first_via, v.second_via, false);

	if (!x || !outer || outer == v.first_region || outer != flow_region(lint, v.second_via) || !inner ||
	    inner != lint->regions.regions.at[v.second_region].lock ||
	    inner == lint->regions.regions.at[outer].lock ||
	    !writes_no_more(lint, outer, v.first_region, v.second_region))
		return;
	v.first = view_access(lint, v.first_region, x, true);
	v.second = view_access(lint, v.second_region, x, true);
	if (!v.first || !v.second || pause_splits(lint, &v))
		return;
	for (uint32_t i = 0; i < variable->writes.count; i++)
		for (uint32_t t = 0; t < lint->threads.count; t++) {
			uint32_t by = 0;

			if (lint->threads.reach[v.function] >> t & 1)
				by = context_interferes(lint, &lint->accesses.at.at[variable->writes.at[i]],
							t, v.second_via, &held);
			if (!by)
				continue;
			v.other = variable->writes.at[i];
			v.thread = t;
			v.other_thread = by - 1;
			v.outer = lint->regions.regions.at[outer].lock;
			verdicts->count[VERDICT_WHOLE]++;
			vec_push(&verdicts->at, v);
			return;
		}
}

/* ---- pairs of regions, one after the other ---- */

static void judge_pairs(struct lint *lint, struct verdicts *verdicts)
{
	for (uint32_t n = 0; n < lint->calls.order_count; n++) {
		uint32_t f = lint->calls.order[n], count = 0;
		uint32_t insts[MOST_PLACES], regions[MOST_PLACES];
		const struct cfg *c = &lint->cfgs[f];

		if (!lint->threads.reach[f] || !lint->views->scopes[f].count)
			continue;
		for (uint32_t e = lint->calls.first[f]; e < lint->calls.first[f + 1]; e++) {
			const struct vec_u32 *below = &lint->views->scopes[lint->calls.edges[e].callee];

			for (uint32_t k = 0; k < below->count && count < MOST_PLACES; k++) {
				insts[count] = lint->calls.edges[e].inst;
				regions[count++] = below->at[k];
			}
		}
		for (uint32_t k = 0; k < lint->views->scopes[f].count && count < MOST_PLACES; k++) {
			uint32_t r = lint->views->scopes[f].at[k];

			if (lint->regions.regions.at[r].function == f) {
				insts[count] = lint->regions.regions.at[r].inst;
				regions[count++] = r;
			}
		}
		for (uint32_t i = 0; i < count; i++)
			for (uint32_t k = 0; k < count; k++) {
				uint32_t x = lint_block(lint, insts[i]), y = lint_block(lint, insts[k]);

				/* One surely after the other, on the same object. */
				if (insts[i] == insts[k] || !cfg_dominates(c, x, y) ||
				    !cfg_postdominates(c, y, x) || (x == y && insts[k] < insts[i]) ||
				    pair_same_object(lint, insts[i], insts[k]) <= 0)
					continue;
				struct verdict v = {.rule = VERDICT_SPLIT,
						    .function = f,
						    .first_via = insts[i],
						    .second_via = insts[k],
						    .first_region = regions[i],
						    .second_region = regions[k],
						    .confidence = 0.25};

				split_pair(lint, verdicts, v);
				v.rule = VERDICT_WHOLE;
				v.confidence = 0.6;
				whole_pair(lint, verdicts, v);
			}
	}
}

/* ---- locks that exclude nobody ---- */

static void judge_private(struct lint *lint, struct verdicts *verdicts)
{
	const struct lockset none = {0};

	for (uint32_t w = 1; w < lint->accesses.at.count; w++) {
		const struct access *write = &lint->accesses.at.at[w];
		const struct lock_state *s = region_state(lint, write->inst);
		const struct variable *x = &lint->accesses.variables.at[write->variable];
		uint32_t f = program_function_of(&lint->program, write->inst);
		bool all = s->held_count != 0;

		for (uint32_t i = 0; i < s->held_count; i++)
			all &= lint->regions.locks.at[s->held[i].lock].is_private;
		if (!all || !write->write || !x->shared || write->fresh || write->quiet)
			continue;
		lint->effort->steps[EFFORT_EXTRA] += x->reads.count;
		for (uint32_t r = 0; r < x->reads.count; r++) {
			uint32_t read = lint->accesses.at.at[x->reads.at[r]].inst, by = 0;
			struct verdict v = {.rule = VERDICT_PRIVATE_LOCK,
					    .function = f,
					    .first = x->reads.at[r],
					    .second = w,
					    .first_via = read,
					    .second_via = write->inst,
					    .confidence = 0.7};

			if (program_function_of(&lint->program, read) != f ||
			    !flow_same_regions(lint, read, write->inst))
				continue;
			v.first_region = v.second_region = flow_region(lint, write->inst);
			for (uint32_t t = 0; t < lint->threads.count && !by; t++)
				for (uint32_t i = 0; i < x->writes.count && !by; i++)
					if (lint->threads.reach[f] >> t & 1 &&
					    (by = context_interferes(lint,
								     &lint->accesses.at.at[x->writes.at[i]],
								     t, write->inst, &none))) {
						v.other = x->writes.at[i];
						v.thread = t;
						v.other_thread = by - 1;
					}
			if (!by)
				continue;
			verdicts->count[VERDICT_PRIVATE_LOCK]++;
			vec_push(&verdicts->at, v);
			break;
		}
	}
}

void extra_judge(struct lint *lint, struct verdicts *verdicts)
{
	judge_pairs(lint, verdicts);
	judge_private(lint, verdicts);
}
