/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/view.h"

#include "lint/viewpool.h"

enum { MOST_SCOPES = 128 };

/* ---- walking ---- */

struct making {
	struct viewpool pool;
	struct ways *summaries; /* by function */
	struct map several;     /* by call with several targets: number of their ways together + 1 */
	VEC(struct ways) together;
};

struct walk {
	struct lint *lint;
	struct making *making;
	struct viewpool *pool;
	uint32_t function, region; /* region 0: the whole function */
	struct ways *in;           /* by block */
	bool *met;
	struct ways result;
};

static bool inside(const struct walk *w, uint32_t inst)
{
	const struct lock_state *s = region_state(w->lint, inst);
	uint32_t lock = w->lint->regions.regions.at[w->region].lock;

	for (uint32_t i = 0; i < s->held_count; i++)
		if (s->held[i].lock == lock)
			for (uint32_t n = 0; n < s->held[i].region_count; n++)
				if (s->held[i].regions[n] == w->region)
					return true;
	return false;
}

/* Whoever of several is called: worked out once, for it does not change while a function is walked. */
static const struct ways *any_of(struct walk *w, uint32_t inst, const struct call_edge *edges, uint32_t count)
{
	struct making *m = w->making;
	uint32_t known = map_get(&m->several, inst);
	struct ways any = {.count = 0};

	if (!known) {
		for (uint32_t e = 0; e < count; e++)
			ways_join(w->pool, &any, &m->summaries[edges[e].callee]);
		vec_push(&m->together, any);
		known = m->together.count;
		map_set(&m->several, inst, known);
	}
	return &m->together.at[known - 1];
}

/* What was accessed since the last call. */
static void settle(struct walk *w, struct ways *s)
{
	uint32_t run = viewpool_accessed(w->pool);

	for (uint32_t i = 0; run && i < s->count; i++)
		s->at[i] = viewpool_then(w->pool, s->at[i], run);
}

static void step(struct walk *w, struct ways *s, uint32_t inst)
{
	uint32_t count;
	const struct access *a = access_at(w->lint, inst, &count);
	const struct call_edge *edges;

	w->lint->effort->steps[EFFORT_VIEWS]++;
	for (uint32_t n = 0; n < count; n++)
		if (w->lint->accesses.variables.at[a[n].variable].shared && !a[n].fresh && !a[n].quiet)
			viewpool_access(w->pool, a[n].variable, a[n].write);
	edges = callgraph_at(&w->lint->calls, inst, &count);
	if (!count)
		return;
	settle(w, s);
	ways_then(w->pool, s,
		  count == 1 ? &w->making->summaries[edges[0].callee] : any_of(w, inst, edges, count));
}

/* From an instruction to the end of its block; what goes on is added to the successors. */
static bool walk_block(struct walk *w, uint32_t block, uint32_t from, struct ways *s)
{
	const struct program *p = &w->lint->program;
	const struct cfg *c = &w->lint->cfgs[w->function];
	const struct program_block *pb = &p->blocks[p->functions[w->function].block + block];
	bool changed = false;
	uint32_t end = pb->inst + pb->inst_count;

	for (uint32_t i = from; i < end; i++) {
		if (w->region && !inside(w, i)) {
			settle(w, s);
			ways_join(w->pool, &w->result, s);
			return false;
		}
		step(w, s, i);
	}
	settle(w, s);
	if (c->edge_first[block] == c->edge_first[block + 1])
		ways_join(w->pool, &w->result, s);
	for (uint32_t e = c->edge_first[block]; e < c->edge_first[block + 1]; e++) {
		uint32_t to = c->edges[e];

		changed |= ways_join(w->pool, &w->in[to], s) || !w->met[to];
		w->met[to] = true;
	}
	return changed;
}

static void walk(struct walk *w, uint32_t block, uint32_t inst)
{
	const struct program *p = &w->lint->program;
	const struct cfg *c = &w->lint->cfgs[w->function];
	struct ways s = {.count = 1}; /* one, and it is empty */
	bool changed;

	w->in = mem_zalloc(c->count, sizeof(*w->in));
	w->met = mem_zalloc(c->count, 1);
	changed = walk_block(w, block, inst, &s);
	for (int round = 0; changed && round < 20; round++) {
		changed = false;
		for (uint32_t n = 0; n < c->order_count; n++) {
			uint32_t b = c->order[n];

			if (!w->met[b])
				continue;
			s = w->in[b];
			changed |= walk_block(w, b, p->blocks[p->functions[w->function].block + b].inst, &s);
		}
	}
	free(w->in);
	free(w->met);
}

/* ---- all ---- */

/* Functions that are called in a region, directly or not: views of others are not asked for. */
static bool *find_needed(const struct lint *lint)
{
	const struct callgraph *c = &lint->calls;
	bool *needed = mem_zalloc(lint->program.functions_count, sizeof(*needed));
	struct vec_u32 waiting = {0};

	for (uint32_t e = 0; e < c->edge_count; e++) {
		const struct call_edge *edge = &c->edges[e];

		if (!needed[edge->callee] && lint->threads.reach[edge->caller] &&
		    (region_state(lint, edge->inst)->held_count || lint->regions.by_inst[edge->inst])) {
			needed[edge->callee] = true;
			vec_push(&waiting, edge->callee);
		}
	}
	while (waiting.count) {
		uint32_t f = waiting.at[--waiting.count];

		for (uint32_t e = c->first[f]; e < c->first[f + 1]; e++)
			if (!needed[c->edges[e].callee]) {
				needed[c->edges[e].callee] = true;
				vec_push(&waiting, c->edges[e].callee);
			}
	}
	vec_free(&waiting);
	return needed;
}

static void summarise(struct lint *lint, struct making *m, uint32_t f, bool *touches)
{
	struct walk w = {.lint = lint, .making = m, .pool = &m->pool, .function = f};
	bool any = false;

	/* Most functions touch nothing that is shared. */
	for (uint32_t b = 0; b < lint->program.functions[f].block_count && !any; b++) {
		const struct program_block *block =
			&lint->program.blocks[lint->program.functions[f].block + b];

		for (uint32_t i = block->inst; i < block->inst + block->inst_count && !any; i++) {
			uint32_t count;
			const struct call_edge *edges = callgraph_at(&lint->calls, i, &count);

			any = lint->accesses.first[i] != 0;
			for (uint32_t e = 0; e < count; e++)
				any |= touches[edges[e].callee];
		}
	}
	touches[f] = any;
	if (!any)
		return;
	walk(&w, 0, lint->program.blocks[lint->program.functions[f].block].inst);
	m->summaries[f] = w.result;
}

static void find_scopes(struct lint *lint)
{
	struct views *v = lint->views;
	uint32_t *seen = mem_zalloc(lint->regions.regions.count, sizeof(*seen)); /* by region: whose scope */

	for (uint32_t r = 1; r < lint->regions.regions.count; r++)
		vec_push(&v->scopes[lint->regions.regions.at[r].function], r);
	for (uint32_t i = 0; i < lint->calls.order_count; i++) {
		uint32_t f = lint->calls.order[i];
		struct vec_u32 *scope = &v->scopes[f];

		for (uint32_t n = 0; n < scope->count; n++)
			seen[scope->at[n]] = f;
		for (uint32_t e = lint->calls.first[f]; e < lint->calls.first[f + 1]; e++) {
			const struct vec_u32 *below = &v->scopes[lint->calls.edges[e].callee];

			lint->effort->steps[EFFORT_VIEWS] += below->count;
			for (uint32_t n = 0; n < below->count && scope->count < MOST_SCOPES; n++) {
				uint32_t r = below->at[n];

				if (seen[r] == f)
					continue;
				seen[r] = f;
				vec_push(scope, r);
			}
		}
	}
	free(seen);
}

static void index_views(struct lint *lint)
{
	struct views *v = lint->views;

	for (uint32_t r = 1; r < lint->regions.regions.count; r++) {
		v->merged += v->regions[r].merged;
		for (uint32_t i = 0; i < v->regions[r].at.count; i++) {
			const struct vec_u32 *items = &v->regions[r].at.at[i].items;

			for (uint32_t n = 0; n < items->count; n++) {
				uint32_t x = items->at[n] / 2;
				struct view_place place = {r, i};

				if (items->at[n] & 1)
					vec_push(&v->writers[x], place);
				else
					vec_push(&v->readers[x], place);
			}
		}
	}
}

/* The views of a region, from where it begins to where it ends. */
static void walk_region(struct walk *w)
{
	struct lint *lint = w->lint;
	const struct program *p = &lint->program;
	const struct region *region = &lint->regions.regions.at[w->region];
	const struct program_block *pb = &p->blocks[p->insts[region->inst].block];
	const struct cfg *c = &lint->cfgs[region->function];
	uint32_t next = region->inst + 1, first_block = p->functions[region->function].block;

	if (!region->lock) {
		w->result.count = 1;
		step(w, &w->result, region->inst);
		settle(w, &w->result);
		return;
	}
	while (next < pb->inst + pb->inst_count && !inside(w, next))
		next++;
	if (next < pb->inst + pb->inst_count) {
		walk(w, lint_block(lint, region->inst), next);
		return;
	}
	/* A lock that was tried is held along one of the ways from here. */
	for (uint32_t b = 0; b < c->count; b++) {
		uint32_t first = p->blocks[first_block + b].inst;
		bool entry = c->number[b] != CFG_NONE && inside(w, first);

		for (uint32_t e = c->pred_first[b]; entry && e < c->pred_first[b + 1]; e++) {
			const struct program_block *before = &p->blocks[first_block + c->preds[e]];

			if (inside(w, before->inst + before->inst_count - 1))
				entry = false;
		}
		if (entry)
			walk(w, b, first);
	}
}

/* For good. */
static void keep(const struct viewpool *pool, struct view_set *into, const struct ways *ways)
{
	into->merged = ways->merged;
	for (uint32_t i = 0; i < ways->count; i++) {
		struct view view = {0};

		viewpool_items(pool, ways->at[i], &view.items);
		vec_push(&into->at, view);
	}
}

void view_build(struct lint *lint)
{
	const struct program *p = &lint->program;
	struct making m = {.summaries = mem_zalloc(p->functions_count, sizeof(*m.summaries))};
	bool *touches = mem_zalloc(p->functions_count, 1), *needed = find_needed(lint);
	struct views *v = lint->views = mem_zalloc(1, sizeof(*v));
	uint32_t variables = lint->accesses.variables.count;

	viewpool_begin(&m.pool, lint);
	for (uint32_t i = 0; i < lint->calls.order_count; i++) {
		uint32_t f = lint->calls.order[i];

		if (needed[f] && lint->threads.reach[f])
			summarise(lint, &m, f, touches);
	}
	/* Members of a recursion know more of each other now. */
	map_clear(&m.several);
	m.together.count = 0;
	v->regions = mem_zalloc(lint->regions.regions.count, sizeof(*v->regions));
	v->scopes = mem_zalloc(p->functions_count, sizeof(*v->scopes));
	v->readers = mem_zalloc(variables, sizeof(*v->readers));
	v->writers = mem_zalloc(variables, sizeof(*v->writers));
	for (uint32_t r = 1; r < lint->regions.regions.count; r++) {
		struct walk w = {.lint = lint,
				 .making = &m,
				 .pool = &m.pool,
				 .function = lint->regions.regions.at[r].function,
				 .region = r};

		if (!lint->threads.reach[w.function])
			continue;
		walk_region(&w);
		keep(&m.pool, &v->regions[r], &w.result);
	}
	find_scopes(lint);
	index_views(lint);
	viewpool_end(&m.pool);
	map_release(&m.several);
	vec_free(&m.together);
	free(m.summaries);
	free(touches);
	free(needed);
}

static void free_set(struct view_set *s)
{
	for (uint32_t i = 0; i < s->at.count; i++)
		vec_free(&s->at.at[i].items);
	vec_free(&s->at);
}

void view_release(struct lint *lint)
{
	struct views *v = lint->views;

	if (!v)
		return;
	for (uint32_t r = 0; r < lint->regions.regions.count; r++)
		free_set(&v->regions[r]);
	for (uint32_t f = 0; f < lint->program.functions_count; f++)
		vec_free(&v->scopes[f]);
	for (uint32_t i = 0; i < lint->accesses.variables.count; i++) {
		vec_free(&v->readers[i]);
		vec_free(&v->writers[i]);
	}
	map_release(&v->together);
	map_release(&v->read_together);
	map_release(&v->accesses);
	free(v->regions);
	free(v->scopes);
	free(v->readers);
	free(v->writers);
	free(v);
	lint->views = NULL;
}

bool view_together(struct lint *lint, uint32_t x, uint32_t y, bool both)
{
	struct views *v = lint->views;
	uint64_t key = (uint64_t)x << 33 | (uint64_t)y << 1 | both;
	uint32_t known = map_get(&v->together, key);
	bool found = x == y;

	if (known)
		return known == 2;
	for (uint32_t i = 0; i < v->writers[x].count && !found; i++) {
		struct view_place place = v->writers[x].at[i];
		const struct view *view = &v->regions[place.region].at.at[place.view];

		found = !view_is_everything(view) && (both ? view_writes(view, y) : view_has(view, y));
	}
	map_set(&v->together, key, found ? 2 : 1);
	return found;
}

bool view_read_together(struct lint *lint, uint32_t x, uint32_t y)
{
	struct views *v = lint->views;
	uint64_t key = (uint64_t)x << 32 | y;
	uint32_t known = map_get(&v->read_together, key);
	bool found = false;

	if (known)
		return known == 2;
	for (uint32_t i = 0; i < v->readers[x].count && !found; i++) {
		struct view_place place = v->readers[x].at[i];
		const struct view *view = &v->regions[place.region].at.at[place.view];

		found = !view_is_everything(view) && view_reads(view, y);
	}
	map_set(&v->read_together, key, found ? 2 : 1);
	return found;
}

static bool region_holds(const struct lint *lint, uint32_t inst, uint32_t region)
{
	const struct lock_state *s = region_state(lint, inst);

	if (lint->regions.by_inst[inst] == region && !lint->regions.regions.at[region].lock)
		return true;
	for (uint32_t i = 0; i < s->held_count; i++)
		for (uint32_t n = 0; n < s->held[i].region_count; n++)
			if (s->held[i].regions[n] == region)
				return true;
	return false;
}

static uint32_t find_access(const struct lint *lint, uint32_t region, uint32_t variable, bool write)
{
	const struct variable *v = &lint->accesses.variables.at[variable];
	const struct vec_u32 *all = write ? &v->writes : &v->reads;
	const struct program *p = &lint->program;
	uint32_t function = lint->regions.regions.at[region].function, count;
	const uint32_t *own = access_within(lint, all, function, &count);

	for (uint32_t i = 0; i < count; i++)
		if (region_holds(lint, lint->accesses.at.at[own[i]].inst, region))
			return own[i];
	/* Further down: below a call that the region spans. */
	for (uint32_t i = 0; i < all->count; i++) {
		uint32_t to = program_function_of(p, lint->accesses.at.at[all->at[i]].inst);

		for (uint32_t e = lint->calls.first[function]; e < lint->calls.first[function + 1]; e++)
			if (region_holds(lint, lint->calls.edges[e].inst, region) &&
			    callgraph_below(lint, lint->calls.edges[e].callee, to))
				return all->at[i];
	}
	return 0;
}

uint32_t view_access(const struct lint *lint, uint32_t region, uint32_t variable, bool write)
{
	uint64_t key = (uint64_t)region << 33 | (uint64_t)variable << 1 | write;
	uint32_t known = map_get(&lint->views->accesses, key);

	if (!known) {
		uint32_t found = find_access(lint, region, variable, write);

		known = found ? found : UINT32_MAX;
		map_set(&lint->views->accesses, key, known);
	}
	return known == UINT32_MAX ? 0 : known;
}
