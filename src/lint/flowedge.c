/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Edges: a value that is read here and used here, if a region ends in between. */
#include "lint/flowwork.h"

static bool reaches_back(struct flow_work *w, uint32_t from, uint32_t to)
{
	uint32_t a = lint_block(w->lint, from), b = lint_block(w->lint, to);

	return a == b ? to <= from : w->cfg->number[b] < w->cfg->number[a];
}

/* Both lie in one region and in a loop: does the region end before the next iteration? */
static bool leaves_region(struct flow_work *w, uint32_t a, uint32_t b)
{
	const struct program *p = &w->lint->program;
	uint32_t loop = w->cfg->loop[lint_block(w->lint, a)];

	while (loop != CFG_NONE && !cfg_inside(w->cfg, lint_block(w->lint, b), loop))
		loop = w->cfg->loops[loop].parent;
	if (loop == CFG_NONE)
		return false;
	return !flow_same_regions(w->lint, p->blocks[w->block + w->cfg->loops[loop].header].inst, a);
}

/* Is the second surely in a region of the first? It may lie behind a wait that only some ways pass. */
static bool stays_in_region(const struct lint *lint, uint32_t a, uint32_t b)
{
	const struct lock_state *x = region_state(lint, a), *y = region_state(lint, b);

	for (uint32_t i = 0; i < x->held_count; i++)
		for (uint32_t n = 0; n < y->held_count; n++) {
			bool all = x->held[i].lock == y->held[n].lock;

			for (uint32_t r = 0; all && r < y->held[n].region_count; r++) {
				bool found = false;

				for (uint32_t q = 0; q < x->held[i].region_count; q++)
					found |= x->held[i].regions[q] == y->held[n].regions[r];
				all = found;
			}
			if (all)
				return true;
		}
	return false;
}

static bool gave_up(const struct lock_state *s, uint32_t lock)
{
	for (uint32_t i = 0; i < s->given_up_count; i++)
		if (s->given_up[i] == lock)
			return true;
	return false;
}

/* A lock that it is always called with is given up between the two: then the first lies in its callers'
 * region, and that has ended when the second comes. */
static bool breaks_callers(const struct flow_work *w, uint32_t from, uint32_t to)
{
	const struct lint *lint = w->lint;
	uint32_t always = lint->contexts.always[w->function];

	for (uint32_t i = 0; always != UINT32_MAX && i < lint->contexts.locksets.at[always].count; i++) {
		uint32_t lock = lint->contexts.locksets.at[always].locks[i];

		if (!gave_up(region_state(lint, from), lock) && gave_up(region_state(lint, to), lock))
			return true;
	}
	return false;
}

/* The value was read in a region that a call left to us; is the use surely in that one? */
static bool stays_in_left(const struct lint *lint, const struct flow_source *source, uint32_t via)
{
	const struct lock_state *s = region_state(lint, via);

	if (!source->region || source->region != lint->regions.by_inst[source->via])
		return false;
	for (uint32_t i = 0; i < s->held_count; i++)
		if (s->held[i].region_count == 1 && s->held[i].regions[0] == source->region)
			return true;
	return false;
}

/* It is asked for each of the many accesses that a call leads to. */
static const struct flow_way *way_to(struct flow_work *w, uint32_t number, uint32_t via)
{
	const struct flow_source *source = &w->sources.at[number];
	struct flow_way *way = &w->ways[number];

	if (way->via == via)
		return way;
	way->via = via;
	way->again = reaches_back(w, source->via, via);
	way->around = way->again && flow_same_regions(w->lint, source->via, via) &&
		      leaves_region(w, source->via, via);
	/* One call is no split of itself, unless its result comes back to it; and the region may be a
	 * caller's, and go on. */
	way->never = (source->via == via && !way->again) || stays_in_left(w->lint, source, via) ||
		     (!w->source_region[number] && !breaks_callers(w, source->via, via));
	/* One that is never left in between is no split. */
	way->together = !source->region && !way->around && stays_in_region(w->lint, source->via, via);
	return way;
}

void flowedge_add(struct flow_work *w, uint32_t symbol, struct flow_use use, int plane)
{
	const struct flow_source *source = &w->sources.at[symbol - w->params];
	const struct flow_way *way = way_to(w, symbol - w->params, use.via);
	struct flow_edge edge = {.function = w->function,
				 .from = *source,
				 .to = use,
				 .data = plane == DATA,
				 .carried = plane == CARRIED,
				 .in_rounds = plane == CARRIED,
				 .again = way->again,
				 .around = way->around};

	if (way->never || (way->together && !use.region))
		return;
	uint64_t key = ((uint64_t)symbol << 32 | use.via) * 0x9e3779b97f4a7c15ull ^ use.access;
	uint32_t known = map_get(&w->known, key);

	if (known) {
		struct flow_edge *e = &w->flows->edges.at[known - 1];

		if (use.kind < e->to.kind)
			e->to.kind = use.kind;
		e->data |= edge.data;
		e->carried &= edge.carried;
		e->in_rounds |= edge.in_rounds;
		e->to.compared |= use.compared;
		return;
	}
	if (w->edges++ >= MOST_EDGES) {
		w->summaries[w->function].cut = true;
		return;
	}
	vec_push(&w->flows->edges, edge);
	map_set(&w->known, key, w->flows->edges.count);
}
