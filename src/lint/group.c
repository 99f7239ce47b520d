/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/group.h"

#include <string.h>

#include "lint/pair.h"

/* Is the function a unit for the set, by its receiver or as part of the file's interface? */
static bool is_unit_for(const struct lint *lint, uint32_t f, const char *set)
{
	const struct program *p = &lint->program;
	const struct program_function *function = &p->functions[f];
	static const char globals[] = "globals of ";

	if (pair_is_root(lint, f))
		return false;
	if (!strncmp(set, globals, strlen(globals)))
		return function->flags & FUNCTION_EXTERNAL &&
		       !strcmp(program_text(p, function->file), set + strlen(globals));
	return !strcmp(program_text(p, function->receiver), set);
}

/* The function whose work the interfering access is: what was called first that is a unit for the set, as a
 * run would see it. */
static uint32_t other_function(const struct lint *lint, const struct verdict *v, const char *set)
{
	uint32_t f = program_function_of(&lint->program, lint->accesses.at.at[v->other].inst);
	const struct callgraph *c = &lint->calls;

	for (int steps = 0; steps < 8 && !callgraph_below(lint, v->function, f); steps++) {
		uint32_t above = 0;

		for (uint32_t e = c->callers_first[f]; e < c->callers_first[f + 1] && !above; e++) {
			uint32_t caller = c->edges[c->callers[e]].caller;

			if (caller != f && lint->threads.reach[caller] >> v->other_thread & 1 &&
			    is_unit_for(lint, caller, set))
				above = caller;
		}
		if (!above)
			break;
		f = above;
	}
	return callgraph_below(lint, v->function, f) ? v->function : f;
}

static uint64_t key_of(uint32_t function, const char *set)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ function;

	for (; *set; set++)
		hash = (hash ^ (unsigned char)*set) * 0x100000001b3ull;
	return hash;
}

static uint32_t group_of(struct lint *lint, struct groups *groups, struct map *known, const struct verdict *v)
{
	const char *set = lint->accesses.variables.at[lint->accesses.at.at[v->first].variable].set;
	uint64_t key = key_of(v->function, set);
	uint32_t number;

	for (; (number = map_get(known, key)); key++)
		if (groups->at.at[number - 1].function == v->function &&
		    !strcmp(groups->at.at[number - 1].set, set))
			return number - 1;
	vec_push(&groups->at, (struct group){.function = v->function, .set = set, .confidence = -1});
	map_set(known, key, groups->at.count);
	return groups->at.count - 1;
}

static int by_confidence(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->confidence != y->confidence)
		return x->confidence > y->confidence ? -1 : 1;
	return x->function < y->function ? -1 : x->function > y->function;
}

/* Two analyses that agree are worth more than one, if each is sure enough for itself. */
static void agree(struct group *g)
{
	double second = 0;
	bool first_seen = false;

	for (int i = 0; i < VERDICT_RULES; i++) {
		if (g->by_rule[i] == g->confidence && !first_seen)
			first_seen = true;
		else if (g->by_rule[i] > second)
			second = g->by_rule[i];
	}
	if (second >= 0.4 && g->confidence >= 0.4)
		g->confidence += (1 - g->confidence) * 0.2;
}

/* Groups that tell of a region, as the first or as the second, and are sure enough to blame: a chain for
 * each. */
struct chains {
	struct map first; /* region and which -> group + 1 */
	uint32_t *next;   /* by group, times 2 plus which */
};

static uint64_t chain_key(const struct verdict *v, int which)
{
	return (uint64_t)(which ? v->second_region : v->first_region) << 1 | (uint64_t)which;
}

static bool is_blamed(struct lint *lint, const struct verdicts *verdicts, const struct groups *groups,
		      const struct chains *chains, uint32_t number)
{
	const struct group *g = &groups->at.at[number];

	/* What happens from one round to the next is nobody's fault in a round. */
	if (verdicts->at.at[g->best].searches)
		return false;
	for (int which = 0; which < 2; which++)
		for (uint32_t n = map_get(&chains->first, chain_key(&verdicts->at.at[g->best], which)); n;
		     n = chains->next[(n - 1) * 2 + (uint32_t)which]) {
			const struct group *other = &groups->at.at[n - 1];

			lint->effort->steps[EFFORT_GROUPS]++;
			if (other->function != g->function &&
			    callgraph_below(lint, g->function, other->function))
				return true;
		}
	return false;
}

/* Only the lowest function is at fault: a caller that sees the same first region through it is not. */
static void blame_lowest(struct lint *lint, const struct verdicts *verdicts, struct groups *groups)
{
	struct chains chains = {.next = mem_zalloc(groups->at.count * 2ull + 1, sizeof(*chains.next))};
	bool *blamed = mem_zalloc(groups->at.count + 1, 1);

	for (uint32_t i = 0; i < groups->at.count; i++)
		for (int which = 0; which < 2 && groups->at.at[i].confidence >= 0.4; which++) {
			uint64_t key = chain_key(&verdicts->at.at[groups->at.at[i].best], which);

			chains.next[i * 2 + (uint32_t)which] = map_get(&chains.first, key);
			map_set(&chains.first, key, i + 1);
		}
	for (uint32_t i = 0; i < groups->at.count; i++)
		blamed[i] = is_blamed(lint, verdicts, groups, &chains, i);
	for (uint32_t i = 0; i < groups->at.count; i++)
		if (blamed[i])
			groups->at.at[i].confidence *= 0.6;
	map_release(&chains.first);
	free(chains.next);
	free(blamed);
}

/* How many pairs of regions a finding is about, which is how the paper counts, and where they lie. */
static void count_pairs(const struct lint *lint, const struct verdicts *verdicts,
			const uint32_t *group_of_verdict, const struct groups *groups, double threshold)
{
	struct map seen = {0};

	for (uint32_t i = 0; i < verdicts->at.count; i++) {
		const struct verdict *v = &verdicts->at.at[i];
		struct group *g = &groups->at.at[group_of_verdict[i]];
		uint32_t from = lint->program.insts[v->first_via].line;
		uint32_t to = lint->program.insts[v->second_via].line;
		uint64_t key = map_hash((uint64_t)group_of_verdict[i] << 32 | v->first_region) ^
			       (uint64_t)v->second_region << 17;

		if (i != g->best && (v->confidence < threshold || v->confidence < 0.4))
			continue;
		if (!g->pairs || (from && from < g->from_line))
			g->from_line = from;
		if (to > g->to_line)
			g->to_line = to;
		if (map_get(&seen, key))
			continue;
		map_set(&seen, key, 1);
		g->pairs++;
	}
	for (uint32_t i = 0; i < groups->at.count; i++) {
		struct group *g = &groups->at.at[i];
		uint32_t line = g->from_line;

		if (line <= g->to_line)
			continue;
		g->from_line = g->to_line;
		g->to_line = line;
	}
	map_release(&seen);
}

void group_build(struct lint *lint, const struct verdicts *verdicts, double threshold, struct groups *groups)
{
	uint32_t *group_of_verdict = mem_alloc((verdicts->at.count + 1ull) * sizeof(*group_of_verdict));
	struct map known = {0};

	for (uint32_t i = 0; i < verdicts->at.count; i++) {
		const struct verdict *v = &verdicts->at.at[i];
		struct group *g;

		lint->effort->steps[EFFORT_GROUPS]++;
		group_of_verdict[i] = group_of(lint, groups, &known, v);
		g = &groups->at.at[group_of_verdict[i]];
		if (v->confidence > g->by_rule[v->rule])
			g->by_rule[v->rule] = v->confidence;
		if (v->confidence > g->confidence) {
			g->confidence = v->confidence;
			g->best = i;
		}
	}
	map_release(&known);
	count_pairs(lint, verdicts, group_of_verdict, groups, threshold);
	free(group_of_verdict);
	for (uint32_t i = 0; i < groups->at.count; i++) {
		struct group *g = &groups->at.at[i];

		g->other_function = other_function(lint, &verdicts->at.at[g->best], g->set);
		agree(g);
	}
	blame_lowest(lint, verdicts, groups);
	if (groups->at.count)
		qsort(groups->at.at, groups->at.count, sizeof(*groups->at.at), by_confidence);
}
