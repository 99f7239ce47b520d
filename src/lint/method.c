/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Method consistency (von Praun & Gross, section 3.3). The method view of a
 * function has every variable that is touched while it runs; the lock views of
 * all threads that overlap with it must form a chain. A lock view has one entry
 * per variable, r or u (written); {(x,r)} and {(x,u)} are not nested, which is
 * what finds the account. Views are partitioned by atomic set, the paper's
 * classes.
 *
 * Of C's functions only those are looked at that have two lock scopes on the
 * set, or one in a loop: a getter that locks in its body is not split, while in
 * Java its lock lies outside of it. Only the lowest of the functions that call
 * each other is reported.
 */
#include <string.h>

#include "lint/pair.h"
#include "lint/verdict.h"
#include "lint/view.h"

enum { MOST_PLACES = 96, MOST_VARIABLES = 64 };

/* A lock view on one set: variables, and which of them are written. */
struct lock_view {
	uint32_t variables[MOST_VARIABLES];
	bool updated[MOST_VARIABLES];
	uint32_t count;
};

static void add_variable(struct lock_view *v, uint32_t variable, bool updated)
{
	for (uint32_t i = 0; i < v->count; i++)
		if (v->variables[i] == variable) {
			v->updated[i] |= updated;
			return;
		}
	if (v->count == MOST_VARIABLES)
		return;
	v->variables[v->count] = variable;
	v->updated[v->count++] = updated;
}

/* As the paper has it: over all ways through the region. */
static void lock_view_of(const struct lint *lint, uint32_t region, const char *set, struct lock_view *v)
{
	const struct view_set *s = &lint->views->regions[region];

	v->count = 0;
	for (uint32_t i = 0; i < s->at.count; i++)
		for (uint32_t n = 0; n < s->at.at[i].items.count; n++) {
			uint32_t item = s->at.at[i].items.at[n];

			if (!strcmp(lint->accesses.variables.at[item / 2].set, set))
				add_variable(v, item / 2, item & 1);
		}
}

static int find(const struct lock_view *v, uint32_t variable)
{
	for (uint32_t i = 0; i < v->count; i++)
		if (v->variables[i] == variable)
			return (int)i;
	return -1;
}

/* Restricted to the method view, is the one part of the other? */
static bool nested(const struct lock_view *a, const struct lock_view *b, const struct lock_view *method)
{
	for (uint32_t i = 0; i < a->count; i++) {
		int at = find(b, a->variables[i]);

		if (find(method, a->variables[i]) < 0)
			continue;
		if (at < 0 || a->updated[i] != b->updated[at])
			return false;
	}
	return true;
}

static bool overlaps(const struct lock_view *a, const struct lock_view *method)
{
	for (uint32_t i = 0; i < a->count; i++)
		if (find(method, a->variables[i]) >= 0)
			return true;
	return false;
}

/* Taken while it is held already, whoever calls: no scope of its own. */
static bool always_nested(const struct lint *lint, uint32_t region)
{
	const struct region *r = &lint->regions.regions.at[region];
	uint32_t always = lint->contexts.always[r->function];

	if (always == UINT32_MAX || !lint->regions.locks.at[r->lock].is_one)
		return always == UINT32_MAX;
	for (uint32_t i = 0; i < lint->contexts.locksets.at[always].count; i++)
		if (lint->contexts.locksets.at[always].locks[i] == r->lock)
			return true;
	return false;
}

struct place {
	uint32_t inst, region;
};

/* Lock scopes of the function on the set: where in it they begin. */
static uint32_t places_of(const struct lint *lint, uint32_t f, const char *set, struct place *out)
{
	const struct program *p = &lint->program;
	const struct program_function *function = &p->functions[f];
	struct lock_view v;
	uint32_t count = 0;

	for (uint32_t b = 0; b < function->block_count; b++) {
		const struct program_block *block = &p->blocks[function->block + b];

		for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++) {
			uint32_t edge_count, own = lint->regions.by_inst[i];
			const struct call_edge *edges = callgraph_at(&lint->calls, i, &edge_count);

			if (own && !always_nested(lint, own)) {
				lock_view_of(lint, own, set, &v);
				if (v.count && count < MOST_PLACES)
					out[count++] = (struct place){i, own};
			}
			for (uint32_t e = 0; e < edge_count; e++) {
				const struct vec_u32 *below = &lint->views->scopes[edges[e].callee];

				for (uint32_t n = 0; n < below->count && count < MOST_PLACES; n++) {
					if (always_nested(lint, below->at[n]))
						continue;
					lock_view_of(lint, below->at[n], set, &v);
					if (v.count)
						out[count++] = (struct place){i, below->at[n]};
				}
			}
		}
	}
	return count;
}

static bool is_candidate(const struct lint *lint, const struct place *places, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct cfg *c = &lint->cfgs[program_function_of(&lint->program, places[i].inst)];

		if (places[i].inst != places[0].inst || c->on_cycle[lint_block(lint, places[i].inst)])
			return true;
	}
	return false;
}

/* Some access of the view that can be shown. */
static uint32_t shown_access(const struct lint *lint, uint32_t region, const struct lock_view *v,
			     const struct lock_view *method)
{
	for (int write = 1; write >= 0; write--)
		for (uint32_t i = 0; i < v->count; i++) {
			uint32_t a = find(method, v->variables[i]) >= 0 && (v->updated[i] || !write)
					     ? view_access(lint, region, v->variables[i], write)
					     : 0;

			if (a)
				return a;
		}
	return 0;
}

/* A write by a concurrent thread to something in the method view. */
static bool find_writer(const struct lint *lint, struct verdict *v, const struct lock_view *method)
{
	struct lockset held = pair_held(lint, v->function, v->first_via, v->second_via, v->again);

	for (uint32_t i = 0; i < method->count; i++) {
		const struct variable *x = &lint->accesses.variables.at[method->variables[i]];

		for (uint32_t n = 0; n < x->writes.count; n++)
			for (uint32_t t = 0; t < lint->threads.count; t++) {
				uint32_t by;

				if (!(lint->threads.reach[v->function] >> t & 1))
					continue;
				by = context_interferes(lint, &lint->accesses.at.at[x->writes.at[n]], t,
							v->second_via, &held);
				if (!by)
					continue;
				v->other = x->writes.at[n];
				v->thread = t;
				v->other_thread = by - 1;
				return true;
			}
	}
	return false;
}

static bool judge(struct lint *lint, struct verdicts *verdicts, uint32_t f, const char *set)
{
	struct place places[MOST_PLACES];
	uint32_t count = places_of(lint, f, set, places);
	struct lock_view method = {0}, a, b;

	if (!is_candidate(lint, places, count))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		lock_view_of(lint, places[i].region, set, &a);
		for (uint32_t n = 0; n < a.count; n++)
			add_variable(&method, a.variables[n], a.updated[n]);
	}
	for (uint32_t i = 0; i < count; i++) {
		lock_view_of(lint, places[i].region, set, &a);
		for (uint32_t r = 1; r < lint->regions.regions.count; r++) {
			if (!lint->regions.regions.at[r].lock || r == places[i].region ||
			    always_nested(lint, r))
				continue;
			lock_view_of(lint, r, set, &b);
			if (!overlaps(&a, &method) || !overlaps(&b, &method) || nested(&a, &b, &method) ||
			    nested(&b, &a, &method))
				continue;
			/* Another scope of the function, to show the two that are split. */
			uint32_t other = i;

			for (uint32_t k = 0; k < count; k++)
				if (places[k].inst != places[i].inst && (other == i || places[k].region == r))
					other = k;
			struct verdict v = {.rule = VERDICT_METHOD,
					    .function = f,
					    .first_via = places[i < other ? i : other].inst,
					    .second_via = places[i < other ? other : i].inst,
					    .first_region = places[i < other ? i : other].region,
					    .second_region = places[i < other ? other : i].region,
					    .again = other == i,
					    .confidence = 0.3};

			lock_view_of(lint, v.first_region, set, &a);
			lock_view_of(lint, v.second_region, set, &b);
			v.first = shown_access(lint, v.first_region, &a, &method);
			v.second = shown_access(lint, v.second_region, &b, &method);
			lock_view_of(lint, places[i].region, set, &a);
			if (!v.first || !v.second || !find_writer(lint, &v, &method))
				continue;
			if (pair_same_object(lint, v.first_via, v.second_via) < 0)
				v.confidence -= 0.15;
			verdicts->count[VERDICT_METHOD]++;
			vec_push(&verdicts->at, v);
			return true;
		}
	}
	return false;
}

void method_judge(struct lint *lint, struct verdicts *verdicts)
{
	VEC(const char *) sets = {0};
	struct vec_u32 found = {0};

	for (uint32_t i = 1; i < lint->accesses.variables.count; i++) {
		const struct variable *v = &lint->accesses.variables.at[i];
		bool known = !v->shared;

		for (uint32_t n = 0; n < sets.count && !known; n++)
			known = !strcmp(sets.at[n], v->set);
		if (!known)
			vec_push(&sets, v->set);
	}
	for (uint32_t s = 0; s < sets.count; s++) {
		found.count = 0;
		for (uint32_t n = 0; n < lint->calls.order_count; n++) {
			uint32_t f = lint->calls.order[n];
			bool below = false;

			if (!lint->threads.reach[f] || !lint->views->scopes[f].count)
				continue;
			for (uint32_t k = 0; k < found.count && !below; k++)
				below = callgraph_below(lint, f, found.at[k]);
			if (!below && judge(lint, verdicts, f, sets.at[s]))
				vec_push(&found, f);
		}
	}
	vec_free(&sets);
	vec_free(&found);
}
