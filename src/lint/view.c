/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/view.h"

#include <string.h>

/* Ways kept apart; more of them become one, and so do ways that touch very much. */
enum { MOST_VIEWS = 8, MOST_SCOPES = 128, MOST_ITEMS = 200 };

static int compare(const struct view *a, const struct view *b)
{
	if (a->items.count != b->items.count)
		return a->items.count < b->items.count ? -1 : 1;
	return a->items.count ? memcmp(a->items.at, b->items.at, a->items.count * sizeof(*a->items.at)) : 0;
}

static void add_item(struct view *v, uint32_t item)
{
	uint32_t at = 0, high = v->items.count;

	while (at < high) {
		uint32_t middle = (at + high) / 2;

		if (v->items.at[middle] < item)
			at = middle + 1;
		else
			high = middle;
	}
	if (at < v->items.count && v->items.at[at] == item)
		return;
	vec_push(&v->items, 0);
	memmove(&v->items.at[at + 1], &v->items.at[at], (v->items.count - 1 - at) * sizeof(*v->items.at));
	v->items.at[at] = item;
}

static void add_items(struct view *v, const struct view *from)
{
	struct vec_u32 all = {0};
	uint32_t i = 0, n = 0;

	while (i < v->items.count || n < from->items.count) {
		if (n == from->items.count || (i < v->items.count && v->items.at[i] <= from->items.at[n])) {
			n += n < from->items.count && v->items.at[i] == from->items.at[n];
			vec_push(&all, v->items.at[i++]);
		} else {
			vec_push(&all, from->items.at[n++]);
		}
	}
	vec_free(&v->items);
	v->items = all;
}

/* What a way has written it does not read from others; elements of an array are too many to say so. */
static void access_item(const struct lint *lint, struct view *v, uint32_t item)
{
	const char *name = lint->accesses.variables.at[item / 2].name;

	if (item & 1 || !view_has_item(v, item + 1) || strstr(name, "[]"))
		add_item(v, item);
}

static struct view copy_of(const struct view *v)
{
	struct view copy = {0};

	for (uint32_t i = 0; i < v->items.count; i++)
		vec_push(&copy.items, v->items.at[i]);
	return copy;
}

static void free_set(struct view_set *s)
{
	for (uint32_t i = 0; i < s->at.count; i++)
		vec_free(&s->at.at[i].items);
	vec_free(&s->at);
	s->merged = false;
}

static void merge_all(struct view_set *s)
{
	while (s->at.count > 1) {
		struct view *last = &s->at.at[--s->at.count];

		add_items(&s->at.at[0], last);
		vec_free(&last->items);
	}
	s->merged = true;
}

/* Takes the view over. True if it is news. */
static bool add_view(struct view_set *s, struct view v)
{
	for (uint32_t i = 0; i < s->at.count; i++)
		if (!compare(&s->at.at[i], &v)) {
			vec_free(&v.items);
			return false;
		}
	if (s->merged) {
		uint32_t before = s->at.at[0].items.count;

		add_items(&s->at.at[0], &v);
		vec_free(&v.items);
		return s->at.at[0].items.count != before;
	}
	vec_push(&s->at, v);
	if (s->at.count > MOST_VIEWS || v.items.count > MOST_ITEMS)
		merge_all(s);
	return true;
}

static bool is_part(const struct view *a, const struct view *of)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->items.count; i++) {
		while (n < of->items.count && of->items.at[n] < a->items.at[i])
			n++;
		if (n == of->items.count || of->items.at[n] != a->items.at[i])
			return false;
	}
	return true;
}

/* Would it add nothing? */
static bool is_known(const struct view_set *s, const struct view *v)
{
	for (uint32_t i = 0; i < s->at.count; i++)
		if (!compare(&s->at.at[i], v) || (s->merged && is_part(v, &s->at.at[i])))
			return true;
	return false;
}

static bool add_set(struct view_set *into, const struct view_set *from)
{
	bool news = false;

	for (uint32_t i = 0; i < from->at.count; i++)
		if (!is_known(into, &from->at.at[i]))
			news |= add_view(into, copy_of(&from->at.at[i]));
	return news;
}

static void copy_set(struct view_set *into, const struct view_set *from)
{
	memset(into, 0, sizeof(*into));
	add_set(into, from);
	into->merged = from->merged;
}

/* One after the other: each way of the first with each way of the second. */
static void then(const struct lint *lint, struct view_set *s, const struct view_set *next)
{
	struct view_set all = {0};

	if (!next->at.count || (next->at.count == 1 && !next->at.at[0].items.count))
		return;
	all.merged = s->merged && s->at.count == 1;
	for (uint32_t i = 0; i < s->at.count; i++)
		for (uint32_t n = 0; n < next->at.count; n++) {
			struct view v = copy_of(&s->at.at[i]);

			struct view more = {0};

			/* What the first wrote the second does not read from others. */
			for (uint32_t k = 0; k < next->at.at[n].items.count; k++) {
				uint32_t item = next->at.at[n].items.at[k];

				if (item & 1 || !view_has_item(&v, item + 1) ||
				    strstr(lint->accesses.variables.at[item / 2].name, "[]"))
					vec_push(&more.items, item);
			}
			add_items(&v, &more);
			vec_free(&more.items);
			if (all.merged && !all.at.count)
				vec_push(&all.at, v);
			else
				add_view(&all, v);
		}
	free_set(s);
	*s = all;
}

/* ---- walking ---- */

struct walk {
	struct lint *lint;
	const struct view_set *summaries; /* by function */
	uint32_t function, region;        /* region 0: the whole function */
	struct view_set *in;              /* by block */
	bool *met;
	struct view_set result;
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

static void step(struct walk *w, struct view_set *s, uint32_t inst)
{
	uint32_t count;
	const struct access *a = access_at(w->lint, inst, &count);
	const struct call_edge *edges;

	for (uint32_t n = 0; n < count; n++)
		if (w->lint->accesses.variables.at[a[n].variable].shared && !a[n].fresh && !a[n].quiet)
			for (uint32_t i = 0; i < s->at.count; i++)
				access_item(w->lint, &s->at.at[i], a[n].variable * 2 + a[n].write);
	edges = callgraph_at(&w->lint->calls, inst, &count);
	if (count == 1) {
		then(w->lint, s, &w->summaries[edges[0].callee]);
	} else if (count) {
		struct view_set any = {0};

		for (uint32_t e = 0; e < count; e++)
			add_set(&any, &w->summaries[edges[e].callee]);
		then(w->lint, s, &any);
		free_set(&any);
	}
}

/* From an instruction to the end of its block; what goes on is added to the successors. */
static bool walk_block(struct walk *w, uint32_t block, uint32_t from, struct view_set *s)
{
	const struct program *p = &w->lint->program;
	const struct cfg *c = &w->lint->cfgs[w->function];
	const struct program_block *pb = &p->blocks[p->functions[w->function].block + block];
	bool changed = false;
	uint32_t end = pb->inst + pb->inst_count;

	for (uint32_t i = from; i < end; i++) {
		if (w->region && !inside(w, i)) {
			add_set(&w->result, s);
			return false;
		}
		step(w, s, i);
	}
	if (c->edge_first[block] == c->edge_first[block + 1])
		add_set(&w->result, s);
	for (uint32_t e = c->edge_first[block]; e < c->edge_first[block + 1]; e++) {
		uint32_t to = c->edges[e];

		changed |= add_set(&w->in[to], s) || !w->met[to];
		w->met[to] = true;
	}
	return changed;
}

static void walk(struct walk *w, uint32_t block, uint32_t inst)
{
	const struct program *p = &w->lint->program;
	const struct cfg *c = &w->lint->cfgs[w->function];
	struct view_set s = {0};
	bool changed;

	w->in = mem_zalloc(c->count, sizeof(*w->in));
	w->met = mem_zalloc(c->count, 1);
	add_view(&s, (struct view){0});
	changed = walk_block(w, block, inst, &s);
	free_set(&s);
	for (int round = 0; changed && round < 20; round++) {
		changed = false;
		for (uint32_t n = 0; n < c->order_count; n++) {
			uint32_t b = c->order[n];

			if (!w->met[b])
				continue;
			copy_set(&s, &w->in[b]);
			changed |= walk_block(w, b, p->blocks[p->functions[w->function].block + b].inst, &s);
			free_set(&s);
		}
	}
	for (uint32_t b = 0; b < c->count; b++)
		free_set(&w->in[b]);
	free(w->in);
	free(w->met);
}

/* ---- all ---- */

static void summarise(struct lint *lint, struct view_set *summaries, uint32_t f, bool *touches)
{
	struct walk w = {.lint = lint, .summaries = summaries, .function = f};
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
	free_set(&summaries[f]);
	summaries[f] = w.result;
}

static void find_scopes(struct lint *lint)
{
	struct views *v = lint->views;

	for (uint32_t r = 1; r < lint->regions.regions.count; r++)
		vec_push(&v->scopes[lint->regions.regions.at[r].function], r);
	for (uint32_t i = 0; i < lint->calls.order_count; i++) {
		uint32_t f = lint->calls.order[i];

		for (uint32_t e = lint->calls.first[f]; e < lint->calls.first[f + 1]; e++) {
			const struct vec_u32 *below = &v->scopes[lint->calls.edges[e].callee];

			for (uint32_t n = 0; n < below->count && v->scopes[f].count < MOST_SCOPES; n++)
				vec_add(&v->scopes[f], below->at[n]);
		}
	}
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

void view_build(struct lint *lint)
{
	const struct program *p = &lint->program;
	struct view_set *summaries = mem_zalloc(p->functions_count, sizeof(*summaries));
	bool *touches = mem_zalloc(p->functions_count, 1);
	struct views *v = lint->views = mem_zalloc(1, sizeof(*v));
	uint32_t variables = lint->accesses.variables.count;

	for (uint32_t i = 0; i < lint->calls.order_count; i++)
		if (lint->threads.reach[lint->calls.order[i]])
			summarise(lint, summaries, lint->calls.order[i], touches);
	v->regions = mem_zalloc(lint->regions.regions.count, sizeof(*v->regions));
	v->scopes = mem_zalloc(p->functions_count, sizeof(*v->scopes));
	v->readers = mem_zalloc(variables, sizeof(*v->readers));
	v->writers = mem_zalloc(variables, sizeof(*v->writers));
	for (uint32_t r = 1; r < lint->regions.regions.count; r++) {
		const struct region *region = &lint->regions.regions.at[r];
		struct walk w = {
			.lint = lint, .summaries = summaries, .function = region->function, .region = r};

		if (!lint->threads.reach[region->function])
			continue;
		if (!region->lock) {
			add_view(&w.result, (struct view){0});
			step(&w, &w.result, region->inst);
		} else {
			uint32_t next = region->inst + 1, block = lint_block(lint, region->inst);

			/* A lock that was tried is held along one of the ways from here. */
			while (next < p->blocks[p->insts[region->inst].block].inst +
					       p->blocks[p->insts[region->inst].block].inst_count &&
			       !inside(&w, next))
				next++;
			if (next < p->blocks[p->insts[region->inst].block].inst +
					   p->blocks[p->insts[region->inst].block].inst_count) {
				walk(&w, block, next);
			} else {
				const struct cfg *c = &lint->cfgs[region->function];

				for (uint32_t b = 0; b < c->count; b++) {
					uint32_t first =
						p->blocks[p->functions[region->function].block + b].inst;
					bool entry = c->number[b] != CFG_NONE && inside(&w, first);

					for (uint32_t e = c->pred_first[b]; entry && e < c->pred_first[b + 1];
					     e++) {
						const struct program_block *before =
							&p->blocks[p->functions[region->function].block +
								   c->preds[e]];

						if (inside(&w, before->inst + before->inst_count - 1))
							entry = false;
					}
					if (entry)
						walk(&w, b, first);
				}
			}
		}
		v->regions[r] = w.result;
	}
	find_scopes(lint);
	index_views(lint);
	for (uint32_t f = 0; f < p->functions_count; f++)
		free_set(&summaries[f]);
	free(summaries);
	free(touches);
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

		found = both ? view_writes(view, y) : view_has(view, y);
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

		found = view_reads(&v->regions[place.region].at.at[place.view], y);
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
	uint32_t function = lint->regions.regions.at[region].function;

	for (uint32_t i = 0; i < all->count; i++) {
		uint32_t inst = lint->accesses.at.at[all->at[i]].inst;

		if (program_function_of(p, inst) == function && region_holds(lint, inst, region))
			return all->at[i];
	}
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
