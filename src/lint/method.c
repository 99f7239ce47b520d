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
#include "lint/pause.h"
#include "lint/rounds.h"
#include "lint/verdict.h"
#include "lint/view.h"

enum { MOST_PLACES = 96, MOST_VARIABLES = 64 };

/* What a region does to the variables of one set, over all ways through it as the paper has it: variable
 * times 2, plus 1 if it is updated; one item per variable, in order. */
struct lock_view {
	uint32_t region;
	uint32_t class;
};

/* Regions that do the same to the set. There are many fewer of these than regions. */
struct view_class {
	uint32_t item, count; /* of items */
	bool locks;           /* one of them is more than an atomic operation */
};

/* An atomic set, and the lock views on it. */
struct set {
	const char *name;
	VEC(struct lock_view) views;
	VEC(struct view_class) classes;
};

/* A class as far as the method view at hand has its variables: bits of its items. */
struct shadow {
	uint64_t reads, updates;
	uint8_t breaks; /* some other class is neither part of it nor the other way round; 2: not asked yet */
};

struct place {
	uint32_t inst;
	uint32_t view; /* of the set */
};

struct method {
	struct lint *lint;
	struct verdicts *verdicts;
	struct vec_u32 items;
	struct map classes;         /* by set and items: class + 1 */
	VEC(struct shadow) shadows; /* by class, of the set at hand */
	VEC(struct set) sets;       /* those with something shared */
	uint32_t *set_of;           /* by variable: its set + 1, or 0 */
	uint32_t *view_of;          /* by region: its view of the set at hand + 1, or 0 */
	struct vec_u32 *functions;  /* by region: that have it in their scope */
	struct vec_u32 *points;     /* by function: where regions begin, and calls of who has some */
	uint32_t *position;         /* by function: in the order from callees to callers */
};

/* ---- lock views ---- */

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

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return hash;
}

static void find_sets(struct method *m)
{
	const struct accesses *a = &m->lint->accesses;
	struct map known = {0};

	m->set_of = mem_zalloc(a->variables.count + 1, sizeof(*m->set_of));
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 1; i < a->variables.count; i++) {
			const struct variable *v = &a->variables.at[i];
			uint64_t key = hash_of(v->set);
			uint32_t set;

			while ((set = map_get(&known, key)) && strcmp(m->sets.at[set - 1].name, v->set) != 0)
				key++;
			/* First those with something shared, then who else belongs to them. */
			if (!set && !pass && v->shared) {
				vec_push(&m->sets, (struct set){.name = v->set});
				map_set(&known, key, set = m->sets.count);
			}
			m->set_of[i] = set;
		}
	map_release(&known);
}

static int compare_items(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* By set, then by item. */
struct entry {
	uint32_t set, item;
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->set != y->set)
		return x->set < y->set ? -1 : 1;
	return compare_items(&x->item, &y->item);
}

/* Its number; the items are the last ones, and given back if they are there already. */
static uint32_t class_of(struct method *m, uint32_t set, struct view_class new)
{
	struct set *s = &m->sets.at[set];
	uint64_t key = set;
	uint32_t found;

	for (uint32_t i = 0; i < new.count; i++)
		key = map_hash(key * 31 + m->items.at[new.item + i]);
	for (; (found = map_get(&m->classes, key)); key++) {
		struct view_class *old = found <= s->classes.count ? &s->classes.at[found - 1] : NULL;

		if (!old || old->count != new.count ||
		    memcmp(&m->items.at[old->item], &m->items.at[new.item],
			   new.count * sizeof(*m->items.at)) != 0)
			continue;
		old->locks |= new.locks;
		m->items.count = new.item;
		return found - 1;
	}
	vec_push(&s->classes, new);
	map_set(&m->classes, key, s->classes.count);
	return s->classes.count - 1;
}

static void add_views(struct method *m, uint32_t region)
{
	const struct view_set *s = &m->lint->views->regions[region];
	VEC(struct entry) all = {0};

	for (uint32_t i = 0; i < s->at.count; i++)
		for (uint32_t n = 0; n < s->at.at[i].items.count; n++) {
			uint32_t item = s->at.at[i].items.at[n], set = m->set_of[item / 2];

			if (set)
				vec_push(&all, (struct entry){set - 1, item});
		}
	if (all.count)
		qsort(all.at, all.count, sizeof(*all.at), compare_entries);
	for (uint32_t i = 0; i < all.count;) {
		struct view_class class = {.item = m->items.count,
					   .locks = m->lint->regions.regions.at[region].lock != 0};
		uint32_t set = all.at[i].set;

		for (; i < all.count && all.at[i].set == set; i++) {
			uint32_t *last = class.count ? &m->items.at[m->items.count - 1] : NULL;

			if (last && *last / 2 == all.at[i].item / 2) {
				*last |= all.at[i].item & 1;
			} else if (class.count < MOST_VARIABLES) {
				vec_push(&m->items, all.at[i].item);
				class.count++;
			}
		}
		vec_push(&m->sets.at[set].views, (struct lock_view){region, class_of(m, set, class)});
	}
	vec_free(&all);
}

static int find(const uint32_t *items, uint32_t count, uint32_t variable)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (items[middle] / 2 < variable)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && items[low] / 2 == variable ? (int)low : -1;
}

/* The method view: all that a function's scopes touch. */
struct whole {
	uint32_t items[MOST_VARIABLES];
	uint32_t count;
};

static void add_to_whole(struct method *m, struct whole *whole, const struct view_class *v)
{
	for (uint32_t i = 0; i < v->count; i++) {
		uint32_t item = m->items.at[v->item + i];
		int at = find(whole->items, whole->count, item / 2);

		if (at >= 0) {
			whole->items[at] |= item & 1;
		} else if (whole->count < MOST_VARIABLES) {
			whole->items[whole->count++] = item;
			qsort(whole->items, whole->count, sizeof(*whole->items), compare_items);
		}
	}
}

/* All classes of the set, restricted to the method view. */
static void restrict_to(struct method *m, const struct set *set, const struct whole *whole)
{
	m->shadows.count = 0;
	for (uint32_t c = 0; c < set->classes.count; c++) {
		const struct view_class *class = &set->classes.at[c];
		struct shadow shadow = {.breaks = 2};

		for (uint32_t i = 0, n = 0; i < class->count && n < whole->count;) {
			uint32_t item = m->items.at[class->item + i], variable = whole->items[n] / 2;

			m->lint->effort->steps[EFFORT_METHOD]++;
			if (item / 2 == variable)
				*(item & 1 ? &shadow.updates : &shadow.reads) |= 1ull << n;
			i += item / 2 <= variable;
			n += variable <= item / 2;
		}
		vec_push(&m->shadows, shadow);
	}
}

/* Is the one part of the other? To read something is no part of updating it. */
static bool nested(const struct shadow *a, const struct shadow *b)
{
	return !(a->reads & ~b->reads) && !(a->updates & ~b->updates);
}

/* Do the two not form a chain? */
static bool breaks_chain(const struct shadow *a, const struct shadow *b)
{
	return (b->reads || b->updates) && !nested(a, b) && !nested(b, a);
}

/* Is there a view that forms no chain with those of the class? */
static bool breaks_any(struct method *m, const struct set *set, uint32_t class)
{
	struct shadow *a = &m->shadows.at[class];

	if (a->breaks == 2) {
		a->breaks = 0;
		for (uint32_t c = 0; c < set->classes.count && !a->breaks; c++) {
			m->lint->effort->steps[EFFORT_METHOD]++;
			a->breaks = set->classes.at[c].locks && breaks_chain(a, &m->shadows.at[c]);
		}
	}
	return a->breaks;
}

/* ---- functions ---- */

/* Who has which regions in its scope, and where it comes to them. */
static void find_functions(struct method *m)
{
	const struct lint *lint = m->lint;
	const struct program *p = &lint->program;

	m->functions = mem_zalloc(lint->regions.regions.count + 1, sizeof(*m->functions));
	m->points = mem_zalloc(p->functions_count + 1, sizeof(*m->points));
	m->position = mem_zalloc(p->functions_count + 1, sizeof(*m->position));
	for (uint32_t n = 0; n < lint->calls.order_count; n++) {
		uint32_t f = lint->calls.order[n];
		const struct vec_u32 *scope = &lint->views->scopes[f];

		m->position[f] = n;
		if (!lint->threads.reach[f])
			continue;
		for (uint32_t i = 0; i < scope->count; i++)
			vec_push(&m->functions[scope->at[i]], f);
	}
	for (uint32_t i = 1; i < p->insts_count; i++) {
		uint32_t count;
		const struct call_edge *edges = callgraph_at(&lint->calls, i, &count);
		bool any = lint->regions.by_inst[i] != 0;

		for (uint32_t e = 0; e < count && !any; e++)
			any = lint->views->scopes[edges[e].callee].count != 0;
		if (any)
			vec_push(&m->points[program_function_of(p, i)], i);
	}
}

/* Lock scopes of the function on the set at hand: where in it they begin. */
static uint32_t places_of(const struct method *m, uint32_t f, struct place *out)
{
	const struct lint *lint = m->lint;
	uint32_t count = 0;

	for (uint32_t k = 0; k < m->points[f].count && count < MOST_PLACES; k++) {
		uint32_t i = m->points[f].at[k], edge_count;
		const struct call_edge *edges = callgraph_at(&lint->calls, i, &edge_count);
		uint32_t own = lint->regions.by_inst[i];

		if (own && m->view_of[own])
			out[count++] = (struct place){i, m->view_of[own] - 1};
		for (uint32_t e = 0; e < edge_count; e++) {
			const struct vec_u32 *below = &lint->views->scopes[edges[e].callee];

			for (uint32_t n = 0; n < below->count && count < MOST_PLACES; n++)
				if (m->view_of[below->at[n]])
					out[count++] = (struct place){i, m->view_of[below->at[n]] - 1};
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
static uint32_t shown_access(const struct method *m, const struct set *set, uint32_t region,
			     const struct whole *whole)
{
	const struct view_class *v = &set->classes.at[set->views.at[m->view_of[region] - 1].class];

	for (int write = 1; write >= 0; write--)
		for (uint32_t i = 0; i < v->count; i++) {
			uint32_t item = m->items.at[v->item + i];
			uint32_t a = find(whole->items, whole->count, item / 2) >= 0 && (item & 1 || !write)
					     ? view_access(m->lint, region, item / 2, write)
					     : 0;

			if (a)
				return a;
		}
	return 0;
}

/* A write by a concurrent thread to something in the method view. */
static bool find_writer(const struct lint *lint, struct verdict *v, const struct whole *whole)
{
	struct lockset held = pair_held(lint, v->function, v->first_via, v->second_via, v->again);

	for (uint32_t i = 0; i < whole->count; i++) {
		const struct variable *x = &lint->accesses.variables.at[whole->items[i] / 2];

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

/* Two places of the function, to show what is split: the i-th, and another one, of this region if it can be.
 */
static struct verdict split_at(const struct method *m, const struct set *set, uint32_t f,
			       const struct place *places, uint32_t count, uint32_t i, uint32_t region)
{
	uint32_t other = i;

	for (uint32_t k = 0; k < count; k++)
		if (places[k].inst != places[i].inst &&
		    (other == i || set->views.at[places[k].view].region == region))
			other = k;
	const struct place *first = &places[i < other ? i : other], *second = &places[i < other ? other : i];

	return (struct verdict){.rule = VERDICT_METHOD,
				.function = f,
				.first_via = first->inst,
				.second_via = second->inst,
				.first_region = set->views.at[first->view].region,
				.second_region = set->views.at[second->view].region,
				.again = other == i,
				.confidence = 0.3};
}

static bool judge_places(struct method *m, uint32_t f, const struct set *set, const struct place *places,
			 uint32_t count)
{
	struct whole whole = {.count = 0};
	struct lint *lint = m->lint;

	if (!is_candidate(lint, places, count))
		return false;
	for (uint32_t i = 0; i < count; i++)
		add_to_whole(m, &whole, &set->classes.at[set->views.at[places[i].view].class]);
	restrict_to(m, set, &whole);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t class = set->views.at[places[i].view].class;
		bool seen = false;

		/* Called twice is looked at once; places of a call lie side by side. */
		for (uint32_t k = i; k-- > 0 && places[k].inst == places[i].inst && !seen;)
			seen = places[k].view == places[i].view;
		if (seen || !breaks_any(m, set, class))
			continue;
		for (uint32_t n = 0; n < set->views.count; n++) {
			const struct lock_view *b = &set->views.at[n];

			lint->effort->steps[EFFORT_METHOD]++;
			if (!lint->regions.regions.at[b->region].lock ||
			    !breaks_chain(&m->shadows.at[class], &m->shadows.at[b->class]))
				continue;
			struct verdict v = split_at(m, set, f, places, count, i, b->region);

			v.first = shown_access(m, set, v.first_region, &whole);
			v.second = shown_access(m, set, v.second_region, &whole);
			if (!v.first || !v.second || pause_splits(lint, &v) ||
			    rounds_part(lint, v.first_via, v.second_via))
				continue;
			/* Who writes does not depend on the other region, but on the two that are shown. */
			if (!find_writer(lint, &v, &whole))
				break;
			if (pair_same_object(lint, v.first_via, v.second_via) < 0)
				v.confidence -= 0.15;
			m->verdicts->count[VERDICT_METHOD]++;
			vec_push(&m->verdicts->at, v);
			return true;
		}
	}
	return false;
}

/* Accesses of a place's region that can be named; at most `room`. */
static uint32_t accesses_of(const struct method *m, const struct set *set, const struct place *place,
			    uint32_t *out, uint32_t room)
{
	const struct lock_view *view = &set->views.at[place->view];
	const struct view_class *v = &set->classes.at[view->class];
	uint32_t count = 0;

	for (uint32_t i = 0; i < v->count; i++)
		for (int write = 0; write < 2; write++) {
			uint32_t item = m->items.at[v->item + i];
			uint32_t a = view_access(m->lint, view->region, item / 2, write);

			if (a && count < room)
				out[count++] = a;
		}
	return count;
}

/* Are others meant to work between all that the one does and all that the other does after it? */
static bool is_apart(const struct method *m, const struct set *set, uint32_t f, const struct place *a,
		     const struct place *b)
{
	uint32_t first[MOST_VARIABLES], second[MOST_VARIABLES];
	uint32_t firsts = accesses_of(m, set, a, first, MOST_VARIABLES);
	uint32_t seconds = accesses_of(m, set, b, second, MOST_VARIABLES);

	for (uint32_t i = 0; i < firsts; i++)
		for (uint32_t k = 0; k < seconds; k++) {
			struct verdict v = {.function = f,
					    .first = first[i],
					    .second = second[k],
					    .first_via = a->inst,
					    .second_via = b->inst};

			m->lint->effort->steps[EFFORT_METHOD]++;
			if (!pause_splits(m->lint, &v))
				return false;
		}
	return firsts && seconds;
}

/* A function that pauses is as many as it has stretches in between: each place with those that nothing
 * separates it from. */
static bool judge(struct method *m, uint32_t f, const struct set *set)
{
	struct place places[MOST_PLACES], stretch[MOST_PLACES];
	uint32_t count = places_of(m, f, places);

	if (!pause_any(m->lint, f))
		return judge_places(m, f, set, places, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t n = 0;

		for (uint32_t k = 0; k < count; k++)
			if (k == i || !is_apart(m, set, f, &places[i], &places[k]) ||
			    !is_apart(m, set, f, &places[k], &places[i]))
				stretch[n++] = places[k];
		if (judge_places(m, f, set, stretch, n))
			return true;
	}
	return false;
}

/* Functions that have lock scopes on the set, callees first. */
static void functions_of(struct method *m, const struct set *set, struct vec_u32 *out)
{
	uint32_t *positions = NULL, count = 0, kept = 0;

	for (uint32_t i = 0; i < set->views.count; i++)
		count += m->functions[set->views.at[i].region].count;
	positions = mem_alloc((count + 1) * sizeof(*positions));
	count = 0;
	for (uint32_t i = 0; i < set->views.count; i++) {
		const struct vec_u32 *all = &m->functions[set->views.at[i].region];

		for (uint32_t n = 0; n < all->count; n++)
			positions[count++] = m->position[all->at[n]];
	}
	qsort(positions, count, sizeof(*positions), compare_items);
	out->count = 0;
	for (uint32_t i = 0; i < count; i++)
		if (!i || positions[i] != positions[kept])
			vec_push(out, m->lint->calls.order[positions[kept = i]]);
	free(positions);
}

static void judge_set(struct method *m, const struct set *set)
{
	struct vec_u32 functions = {0}, found = {0};

	for (uint32_t i = 0; i < set->views.count; i++)
		m->view_of[set->views.at[i].region] = i + 1;
	functions_of(m, set, &functions);
	for (uint32_t n = 0; n < functions.count; n++) {
		bool below = false;

		for (uint32_t k = 0; k < found.count && !below; k++)
			below = callgraph_below(m->lint, functions.at[n], found.at[k]);
		if (!below && judge(m, functions.at[n], set))
			vec_push(&found, functions.at[n]);
	}
	for (uint32_t i = 0; i < set->views.count; i++)
		m->view_of[set->views.at[i].region] = 0;
	vec_free(&functions);
	vec_free(&found);
}

void method_judge(struct lint *lint, struct verdicts *verdicts)
{
	struct method m = {.lint = lint, .verdicts = verdicts};

	find_sets(&m);
	for (uint32_t r = 1; r < lint->regions.regions.count; r++)
		if (!always_nested(lint, r))
			add_views(&m, r);
	find_functions(&m);
	m.view_of = mem_zalloc(lint->regions.regions.count + 1, sizeof(*m.view_of));
	for (uint32_t s = 0; s < m.sets.count; s++)
		judge_set(&m, &m.sets.at[s]);
	for (uint32_t s = 0; s < m.sets.count; s++) {
		vec_free(&m.sets.at[s].views);
		vec_free(&m.sets.at[s].classes);
	}
	vec_free(&m.shadows);
	map_release(&m.classes);
	for (uint32_t r = 0; r < lint->regions.regions.count; r++)
		vec_free(&m.functions[r]);
	for (uint32_t f = 0; f < lint->program.functions_count; f++)
		vec_free(&m.points[f]);
	vec_free(&m.sets);
	vec_free(&m.items);
	free(m.functions);
	free(m.points);
	free(m.position);
	free(m.set_of);
	free(m.view_of);
}
