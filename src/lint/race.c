/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * High-level races (MoTH, section 5.1): one thread handles two variables in two
 * regions that another handles in one.
 *
 * Definition 9 pairs maximal read views with write views and the other way
 * round; as printed it intersects pairs (kind, variable) of different kinds,
 * which is always empty, so kinds are dropped before intersecting. Two views
 * that do not form a chain differ by some x in the first and some y in the
 * second; for reads they must also be used together (common correlation), which
 * flow's joints are. For writes the paper asks for nothing more; we ask that one
 * function spans both regions, and look at how they lie in it.
 */
#include <string.h>

#include "lint/flow.h"
#include "lint/pair.h"
#include "lint/verdict.h"
#include "lint/view.h"

enum { MOST_REGIONS = 96, MOST_ITEMS = 64 };

/* A view of the region that has x and not y. */
static bool view_with(const struct lint *lint, uint32_t region, uint32_t x, uint32_t y, bool write)
{
	const struct view_set *s = &lint->views->regions[region];

	for (uint32_t i = 0; i < s->at.count; i++)
		if (write ? view_writes(&s->at.at[i], x) && !view_writes(&s->at.at[i], y)
			  : view_reads(&s->at.at[i], x) && !view_reads(&s->at.at[i], y))
			return true;
	return false;
}

static bool is_pure(const struct view *v, bool write)
{
	for (uint32_t i = 0; i < v->items.count; i++)
		if ((v->items.at[i] & 1) != write)
			return false;
	return true;
}

static bool any_reads(const struct lint *lint, uint32_t region, uint32_t x)
{
	const struct view_set *s = &lint->views->regions[region];

	for (uint32_t i = 0; i < s->at.count; i++)
		if (view_reads(&s->at.at[i], x))
			return true;
	return false;
}

/* Regions of other threads that have both variables on one way. */
static uint32_t find_others(struct lint *lint, const struct verdict *v, uint32_t x, uint32_t y, bool write,
			    struct verdict_other *others)
{
	const struct views *views = lint->views;
	struct lockset held = pair_held(lint, v->function, v->first_via, v->second_via, v->again);
	uint32_t places = write ? views->writers[x].count : views->readers[x].count, count = 0;

	for (uint32_t i = 0; i < places; i++) {
		struct view_place place = write ? views->writers[x].at[i] : views->readers[x].at[i];
		const struct view *view = &views->regions[place.region].at.at[place.view];
		uint32_t a, b;

		if (write ? !view_writes(view, y) : !view_reads(view, y))
			continue;
		a = view_access(lint, place.region, x, write);
		b = view_access(lint, place.region, y, write);
		if (!a || !b)
			continue;
		for (uint32_t t = 0; t < lint->threads.count; t++) {
			uint32_t by;

			if (!(lint->threads.reach[v->function] >> t & 1))
				continue;
			by = context_interferes(lint, &lint->accesses.at.at[a], t, v->second_via, &held);
			if (!by ||
			    !context_interferes(lint, &lint->accesses.at.at[b], t, v->first_via, &held))
				continue;
			count = verdict_add_other(
				lint, others, count,
				(struct verdict_other){
					a, b, t, by - 1,
					/* The same function in another thread tells most, then one
					 * that does nothing else. */
					2 * pair_in_scope(lint, lint->accesses.at.at[a].inst, v->function) +
						is_pure(view, write)});
		}
	}
	return count;
}

static bool same_set(const struct lint *lint, uint32_t x, uint32_t y)
{
	const struct variable *a = &lint->accesses.variables.at[x], *b = &lint->accesses.variables.at[y];

	return !strcmp(a->set, b->set);
}

/* ---- reads ---- */

static void judge_reads(struct lint *lint, struct verdicts *verdicts)
{
	for (uint32_t i = 0; i < lint->flows->joints.count; i++) {
		const struct flow_joint *j = &lint->flows->joints.at[i];
		uint32_t x = lint->accesses.at.at[j->a.access].variable;
		uint32_t y = lint->accesses.at.at[j->b.access].variable;
		struct verdict v = {.rule = VERDICT_READS,
				    .function = j->function,
				    .first = j->a.access,
				    .second = j->b.access,
				    .first_via = j->a.via,
				    .second_via = j->b.via,
				    .data = j->data};
		struct verdict_other others[VERDICT_OTHERS];
		uint32_t count;

		v.first_region = j->a.region ? j->a.region : flow_region(lint, j->a.via);
		v.second_region = j->b.region ? j->b.region : flow_region(lint, j->b.via);
		if (!v.first_region || !v.second_region ||
		    (v.first_region == v.second_region && !j->a.region && !j->b.region))
			continue;
		if (!view_with(lint, v.first_region, x, y, false) ||
		    !view_with(lint, v.second_region, y, x, false) ||
		    !(count = find_others(lint, &v, x, y, true, others)))
			continue;
		v.confidence = j->data ? 0.75 : 0.45;
		if (!same_set(lint, x, y))
			v.confidence -= 0.2;
		if (pair_same_object(lint, v.first_via, v.second_via) < 0)
			v.confidence -= 0.25;
		if (pair_is_root(lint, v.function) && !j->data)
			v.confidence -= 0.1;
		/* On another way it does read both. */
		if (any_reads(lint, v.first_region, y) || any_reads(lint, v.second_region, x))
			v.confidence -= 0.15;
		verdicts->count[VERDICT_READS]++;
		verdict_add(verdicts, &v, others, count);
	}
}

/* ---- writes ---- */

struct occurrence {
	uint32_t inst, region;
};

/* Regions that begin in the function, or below a call in it. */
static uint32_t occurrences(const struct lint *lint, uint32_t f, struct occurrence *out)
{
	const struct program *p = &lint->program;
	const struct program_function *function = &p->functions[f];
	uint32_t count = 0;

	for (uint32_t b = 0; b < function->block_count; b++) {
		const struct program_block *block = &p->blocks[function->block + b];

		if (lint->cfgs[f].number[b] == CFG_NONE)
			continue;
		for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++) {
			uint32_t edges_count;
			const struct call_edge *edges = callgraph_at(&lint->calls, i, &edges_count);

			if (lint->regions.by_inst[i] && count < MOST_REGIONS)
				out[count++] = (struct occurrence){i, lint->regions.by_inst[i]};
			for (uint32_t e = 0; e < edges_count; e++) {
				const struct vec_u32 *below = &lint->views->scopes[edges[e].callee];

				for (uint32_t n = 0; n < below->count && count < MOST_REGIONS; n++)
					out[count++] = (struct occurrence){i, below->at[n]};
			}
		}
	}
	return count;
}

static bool overlap(const struct view *a, const struct view *b)
{
	for (uint32_t i = 0; i < a->items.count; i++)
		if (a->items.at[i] & 1 && view_has_item(b, a->items.at[i]))
			return true;
	return false;
}

static double weigh_writes(const struct lint *lint, const struct verdict *v, uint32_t x, uint32_t y,
			   bool overlapping)
{
	double c = same_set(lint, x, y) ? 0.6 : 0.35;

	/* Both also write the same: each keeps the whole in order. */
	if (overlapping)
		c -= 0.3;
	if (pair_same_object(lint, v->first_via, v->second_via) < 0)
		c -= 0.25;
	if (!cfg_postdominates(&lint->cfgs[v->function], lint_block(lint, v->second_via),
			       lint_block(lint, v->first_via)))
		c -= 0.15;
	if (lint->regions.regions.at[v->second_region].after_wait)
		c -= 0.3;
	return c < 0.05 ? 0.05 : c;
}

/* Variables that one region writes and the other does not, and that somebody reads together. */
struct candidate {
	uint32_t x, y;
	bool overlapping;
};

enum { MOST_CANDIDATES = 3 };

struct candidates {
	struct candidate at[MOST_CANDIDATES];
	uint32_t count;
};

static int worth(const struct lint *lint, const struct candidate *c)
{
	return 2 * same_set(lint, c->x, c->y) - c->overlapping;
}

static void add_candidate(const struct lint *lint, struct candidates *all, struct candidate c)
{
	uint32_t at;

	for (at = 0; at < all->count; at++)
		if (all->at[at].x == c.x && all->at[at].y == c.y)
			return;
	if (all->count < MOST_CANDIDATES)
		all->count++;
	else if (worth(lint, &all->at[all->count - 1]) >= worth(lint, &c))
		return;
	for (at = all->count - 1; at && worth(lint, &all->at[at - 1]) < worth(lint, &c); at--)
		all->at[at] = all->at[at - 1];
	all->at[at] = c;
}

/* The same two regions meet in many functions, so they are compared once. */
struct pairs {
	struct map known;
	VEC(struct candidates) at;
};

static const struct candidates *candidates_of(struct lint *lint, struct pairs *pairs, uint32_t first,
					      uint32_t second)
{
	const struct view_set *a = &lint->views->regions[first], *b = &lint->views->regions[second];
	uint64_t key = (uint64_t)first << 32 | second;
	uint32_t known = map_get(&pairs->known, key);
	struct candidates found = {.count = 0};

	if (known)
		return &pairs->at.at[known - 1];
	for (uint32_t i = 0; i < a->at.count; i++)
		for (uint32_t k = 0; k < b->at.count; k++) {
			/* Whoever writes everything is no part of a whole. */
			if (a->at.at[i].items.count > MOST_ITEMS || b->at.at[k].items.count > MOST_ITEMS)
				continue;
			bool overlapping = overlap(&a->at.at[i], &b->at.at[k]);

			for (uint32_t n = 0; n < a->at.at[i].items.count; n++)
				for (uint32_t m = 0; m < b->at.at[k].items.count; m++) {
					uint32_t x = a->at.at[i].items.at[n], y = b->at.at[k].items.at[m];

					if (!(x & 1) || !(y & 1) || x == y ||
					    !view_read_together(lint, x / 2, y / 2) ||
					    view_writes(&b->at.at[k], x / 2) ||
					    view_writes(&a->at.at[i], y / 2))
						continue;
					add_candidate(lint, &found,
						      (struct candidate){x / 2, y / 2, overlapping});
				}
		}
	vec_push(&pairs->at, found);
	map_set(&pairs->known, key, pairs->at.count);
	return &pairs->at.at[pairs->at.count - 1];
}

/* The surest pair of variables for which there is another thread that reads both. */
static void judge_pair(struct lint *lint, struct verdicts *verdicts, struct pairs *pairs, struct verdict v)
{
	const struct candidates *all = candidates_of(lint, pairs, v.first_region, v.second_region);
	struct verdict_other others[VERDICT_OTHERS];

	for (uint32_t i = 0; i < all->count; i++) {
		uint32_t x = all->at[i].x, y = all->at[i].y, count;

		v.confidence = weigh_writes(lint, &v, x, y, all->at[i].overlapping);
		v.first = view_access(lint, v.first_region, x, true);
		v.second = view_access(lint, v.second_region, y, true);
		if (!v.first || !v.second || !(count = find_others(lint, &v, x, y, false, others)))
			continue;
		verdicts->count[VERDICT_WRITES]++;
		verdict_add(verdicts, &v, others, count);
		return;
	}
}

static void judge_writes(struct lint *lint, struct verdicts *verdicts)
{
	struct occurrence all[MOST_REGIONS];
	struct pairs pairs = {.at.count = 0};

	for (uint32_t n = 0; n < lint->calls.order_count; n++) {
		uint32_t f = lint->calls.order[n], count;

		if (!lint->threads.reach[f] || !lint->views->scopes[f].count)
			continue;
		count = occurrences(lint, f, all);
		for (uint32_t i = 0; i < count; i++)
			for (uint32_t k = 0; k < count; k++) {
				struct verdict v = {.rule = VERDICT_WRITES,
						    .function = f,
						    .first_via = all[i].inst,
						    .second_via = all[k].inst,
						    .first_region = all[i].region,
						    .second_region = all[k].region};

				/* Forward only; what comes round is the next piece of work. */
				if (all[i].inst == all[k].inst || all[i].region == all[k].region ||
				    lint->cfgs[f].number[lint_block(lint, all[k].inst)] <
					    lint->cfgs[f].number[lint_block(lint, all[i].inst)] ||
				    !candidates_of(lint, &pairs, all[i].region, all[k].region)->count ||
				    !pair_reaches(lint, all[i].inst, all[k].inst))
					continue;
				judge_pair(lint, verdicts, &pairs, v);
			}
	}
	map_release(&pairs.known);
	vec_free(&pairs.at);
}

void race_judge(struct lint *lint, struct verdicts *verdicts)
{
	judge_reads(lint, verdicts);
	judge_writes(lint, verdicts);
}
