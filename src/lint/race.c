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

#include "lint/answer.h"
#include "lint/flow.h"
#include "lint/pair.h"
#include "lint/pause.h"
#include "lint/rounds.h"
#include "lint/taken.h"
#include "lint/update.h"
#include "lint/verdict.h"
#include "lint/view.h"

enum { MOST_REGIONS = 96 };

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

/* Where a region handles two variables on one way. */
struct both {
	uint32_t a, b; /* accesses */
	bool pure;     /* and does nothing else */
};

/* All such places of two variables. */
struct meeting {
	VEC(struct both) at;
};

struct race {
	struct lint *lint;
	struct verdicts *verdicts;
	struct answers answers;
	struct updates updates;
	struct map known; /* two variables and a kind -> number of their meeting + 1 */
	VEC(struct meeting) meetings;
};

static void add_both(struct meeting *m, struct map *seen, struct both new)
{
	uint64_t key = (uint64_t)new.a << 32 | new.b;
	uint32_t known = map_get(seen, key);

	if (known) {
		m->at.at[known - 1].pure |= new.pure;
		return;
	}
	vec_push(&m->at, new);
	map_set(seen, key, m->at.count);
}

/* Does anybody look at the variable around this access, in the same region and function? */
static bool is_seen(const struct race *race, uint32_t access)
{
	const struct lint *lint = race->lint;
	const struct access *a = &lint->accesses.at.at[access];
	const struct variable *v = &lint->accesses.variables.at[a->variable];

	if (!update_is(&race->updates, a))
		return true;
	for (uint32_t i = 0; i < v->reads.count; i++) {
		const struct access *b = &lint->accesses.at.at[v->reads.at[i]];

		if (program_function_of(&lint->program, b->inst) ==
			    program_function_of(&lint->program, a->inst) &&
		    flow_same_or_callers(lint, a->inst, b->inst) && !update_is(&race->updates, b))
			return true;
	}
	return false;
}

/* Does whoever reads it there go by what it is then? Who waits for it to change looks at it again. */
static bool is_settled(const struct race *race, uint32_t access)
{
	return is_seen(race, access) &&
	       !pause_is_waiting(race->lint, race->lint->accesses.at.at[access].inst);
}

static const struct meeting *meeting_of(struct race *race, uint32_t x, uint32_t y, bool write)
{
	const struct views *views = race->lint->views;
	uint64_t key = (uint64_t)x << 33 | (uint64_t)y << 1 | write;
	uint32_t places = write ? views->writers[x].count : views->readers[x].count;
	uint32_t known = map_get(&race->known, key);
	struct meeting found = {.at.count = 0};
	struct map seen = {0};

	if (known)
		return &race->meetings.at[known - 1];
	for (uint32_t i = 0; i < places; i++) {
		struct view_place place = write ? views->writers[x].at[i] : views->readers[x].at[i];
		const struct view *view = &views->regions[place.region].at.at[place.view];
		struct both new;

		race->lint->effort->steps[EFFORT_RACE]++;
		if (write ? !view_writes(view, y) : !view_reads(view, y))
			continue;
		new.a = view_access(race->lint, place.region, x, write);
		new.b = view_access(race->lint, place.region, y, write);
		new.pure = is_pure(view, write);
		if (new.a && new.b && (write || (is_settled(race, new.a) && is_settled(race, new.b))))
			add_both(&found, &seen, new);
	}
	map_release(&seen);
	vec_push(&race->meetings, found);
	map_set(&race->known, key, race->meetings.count);
	return &race->meetings.at[race->meetings.count - 1];
}

/* The same function in another thread tells most, then one that does nothing else. */
enum { RANK_BEST = 3 };

static void look_for_others(struct race *race, const struct verdict *v, struct answer *answer, bool write)
{
	const struct meeting *m = meeting_of(race, answer->x, answer->y, write);
	const struct lint *lint = race->lint;

	for (uint32_t i = 0; i < m->at.count; i++) {
		const struct both *both = &m->at.at[i];

		lint->effort->steps[EFFORT_RACE]++;
		const struct access *a = &lint->accesses.at.at[both->a], *b = &lint->accesses.at.at[both->b];

		for (uint32_t t = 0; t < lint->threads.count; t++) {
			uint32_t by;

			if (!(lint->threads.reach[v->function] >> t & 1))
				continue;
			by = context_interferes(lint, a, t, v->second_via, &answer->held);
			if (!by || !context_interferes(lint, b, t, v->first_via, &answer->held))
				continue;
			int rank = 2 * pair_in_scope(lint, a->inst, v->function) + both->pure;

			answer->count =
				verdict_add_other(lint, answer->others, answer->count,
						  (struct verdict_other){both->a, both->b, t, by - 1, rank});
			if (rank == RANK_BEST && VERDICT_OTHERS == 1)
				return;
		}
	}
}

/* Regions of other threads that have both variables on one way. */
static const struct answer *find_others(struct race *race, const struct verdict *v, uint32_t x, uint32_t y,
					bool write)
{
	bool is_new;
	struct answer *answer = answer_to(race->lint, &race->answers,
					  (struct answer_question){.function = v->function,
								   .first_via = v->first_via,
								   .second_via = v->second_via,
								   .left = v->again,
								   .x = x,
								   .y = y,
								   .kind = write},
					  &is_new);

	if (is_new)
		look_for_others(race, v, answer, write);
	return answer;
}

static bool same_set(const struct lint *lint, uint32_t x, uint32_t y)
{
	const struct variable *a = &lint->accesses.variables.at[x], *b = &lint->accesses.variables.at[y];

	return !a->vague && !b->vague && !strcmp(a->set, b->set);
}

/* ---- reads ---- */

static void judge_reads(struct race *race)
{
	struct lint *lint = race->lint;

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
		const struct answer *others;

		v.first_region = j->a.region ? j->a.region : flow_region(lint, j->a.via);
		v.second_region = j->b.region ? j->b.region : flow_region(lint, j->b.via);
		bool left = v.first_region == lint->regions.by_inst[v.first_via];

		/* Both in one, also if a call left it to the function. */
		if (!v.first_region || !v.second_region ||
		    (v.first_region == v.second_region && ((!j->a.region && !j->b.region) || left)))
			continue;
		if (pause_splits(lint, &v) || !view_with(lint, v.first_region, x, y, false) ||
		    !view_with(lint, v.second_region, y, x, false) ||
		    !(others = find_others(race, &v, x, y, true))->count)
			continue;
		v.confidence = j->data ? 0.75 : 0.45;
		if (!same_set(lint, x, y))
			v.confidence -= 0.2;
		if (pair_same_object(lint, v.first_via, v.second_via) < 0)
			v.confidence -= 0.25;
		if (pair_is_root(lint, v.function) && !j->data)
			v.confidence -= 0.1;
		if (!pair_same_lock(lint, v.first_region, v.second_region))
			v.confidence -= 0.25;
		/* The first of a list that was taken out is the reader's own. */
		if (taken_is(lint, v.first) || taken_is(lint, v.second))
			v.confidence *= 0.4;
		/* On another way it does read both. */
		if (any_reads(lint, v.first_region, y) || any_reads(lint, v.second_region, x))
			v.confidence -= 0.15;
		race->verdicts->count[VERDICT_READS]++;
		verdict_add(race->verdicts, &v, others->others, others->count);
	}
}

/* ---- writes ---- */

struct occurrence {
	uint32_t inst, region;
	uint32_t end; /* of those by the same instruction, which lie side by side */
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
				out[count++] = (struct occurrence){i, lint->regions.by_inst[i], 0};
			for (uint32_t e = 0; e < edges_count; e++) {
				const struct vec_u32 *below = &lint->views->scopes[edges[e].callee];

				for (uint32_t n = 0; n < below->count && count < MOST_REGIONS; n++)
					if (!lint->regions.regions.at[below->at[n]].is_left)
						out[count++] = (struct occurrence){i, below->at[n], 0};
			}
		}
	}
	for (uint32_t i = count; i-- > 0;)
		out[i].end = i + 1 < count && out[i + 1].inst == out[i].inst ? out[i + 1].end : i + 1;
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
	if (!pair_same_lock(lint, v->first_region, v->second_region))
		c -= 0.25;
	if (lint->regions.regions.at[v->second_region].after_wait)
		c -= 0.3;
	if (update_counts_users(lint, x) || update_counts_users(lint, y))
		c -= 0.3;
	if (pair_is_job(lint, v->second_via, lint->accesses.at.at[v->first].inst))
		c -= 0.3;
	/* Each is the first of a list of its own, taken out. */
	if (taken_by(lint, v->first) && taken_by(lint, v->second))
		c -= 0.3;
	/* What a thread does one after the other all its life is no whole. */
	if (pair_is_root(lint, v->function))
		c -= 0.15;
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
			if (view_is_everything(&a->at.at[i]) || view_is_everything(&b->at.at[k]))
				continue;
			bool overlapping = overlap(&a->at.at[i], &b->at.at[k]);

			for (uint32_t n = 0; n < a->at.at[i].items.count; n++)
				for (uint32_t m = 0; m < b->at.at[k].items.count; m++) {
					uint32_t x = a->at.at[i].items.at[n], y = b->at.at[k].items.at[m];

					lint->effort->steps[EFFORT_RACE]++;
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

/* Does the region go on to the instruction, whatever the way? */
static bool goes_on_to(const struct lint *lint, uint32_t region, uint32_t inst)
{
	const struct lock_state *s = region_state(lint, inst);

	for (uint32_t i = 0; i < s->held_count; i++)
		if (s->held[i].region_count == 1 && s->held[i].regions[0] == region)
			return true;
	return false;
}

/* The surest pair of variables for which there is another thread that reads both. */
static void judge_pair(struct race *race, struct pairs *pairs, struct verdict v)
{
	struct lint *lint = race->lint;
	const struct candidates *all = candidates_of(lint, pairs, v.first_region, v.second_region);
	const struct answer *others;

	for (uint32_t i = 0; i < all->count; i++) {
		uint32_t x = all->at[i].x, y = all->at[i].y;

		v.first = view_access(lint, v.first_region, x, true);
		v.second = view_access(lint, v.second_region, y, true);
		if (!v.first || !v.second || pause_splits(lint, &v) ||
		    !(others = find_others(race, &v, x, y, false))->count)
			continue;
		v.confidence = weigh_writes(lint, &v, x, y, all->at[i].overlapping);
		race->verdicts->count[VERDICT_WRITES]++;
		verdict_add(race->verdicts, &v, others->others, others->count);
		return;
	}
}

/* Does the second come before the first? Or so that it comes after it in the next round. What stands behind a
 * loop may have a lower number than what is in it. */
static bool comes_before(const struct lint *lint, uint32_t f, uint32_t first, uint32_t second)
{
	const struct cfg *c = &lint->cfgs[f];
	uint32_t a = lint_block(lint, first), b = lint_block(lint, second);

	return c->number[b] < c->number[a] && (c->loop[a] == CFG_NONE || cfg_inside(c, b, c->loop[a]));
}

static void judge_writes(struct race *race)
{
	struct lint *lint = race->lint;
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

				lint->effort->steps[EFFORT_RACE]++;
				/* Forward only; what comes round is the next piece of work. */
				if (all[i].inst == all[k].inst ||
				    comes_before(lint, f, all[i].inst, all[k].inst)) {
					k = all[k].end - 1;
					continue;
				}
				if (all[i].region == all[k].region ||
				    goes_on_to(lint, all[i].region, all[k].inst) ||
				    !candidates_of(lint, &pairs, all[i].region, all[k].region)->count ||
				    !pair_reaches(lint, all[i].inst, all[k].inst) ||
				    rounds_part(lint, all[i].inst, all[k].inst))
					continue;
				judge_pair(race, &pairs, v);
			}
	}
	map_release(&pairs.known);
	vec_free(&pairs.at);
}

void race_judge(struct lint *lint, struct verdicts *verdicts)
{
	struct race race = {.lint = lint, .verdicts = verdicts};

	update_begin(&race.updates, lint);
	judge_reads(&race);
	judge_writes(&race);
	update_end(&race.updates);
	answer_release(&race.answers);
	for (uint32_t i = 0; i < race.meetings.count; i++)
		vec_free(&race.meetings.at[i].at);
	vec_free(&race.meetings);
	map_release(&race.known);
}
