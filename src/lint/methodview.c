/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/methodview.h"

#include <string.h>

#include "lint/view.h"

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

static void find_sets(struct methodviews *m)
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
				vec_push(&m->sets, (struct methodview_set){.name = v->set});
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
static uint32_t class_of(struct methodviews *m, uint32_t set, struct view_class new)
{
	struct methodview_set *s = &m->sets.at[set];
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

static void add_views(struct methodviews *m, uint32_t region)
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
			} else if (class.count < METHODVIEW_MOST) {
				vec_push(&m->items, all.at[i].item);
				class.count++;
			}
		}
		vec_push(&m->sets.at[set].views, (struct lock_view){region, class_of(m, set, class)});
	}
	vec_free(&all);
}

int methodview_find(const struct methodview_whole *whole, uint32_t variable)
{
	const uint32_t *items = whole->items;
	uint32_t count = whole->count, low = 0, high = count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (items[middle] / 2 < variable)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && items[low] / 2 == variable ? (int)low : -1;
}

void methodview_add(struct methodviews *m, struct methodview_whole *whole, const struct view_class *v)
{
	for (uint32_t i = 0; i < v->count; i++) {
		uint32_t item = m->items.at[v->item + i];
		int at = methodview_find(whole, item / 2);

		if (at >= 0) {
			whole->items[at] |= item & 1;
		} else if (whole->count < METHODVIEW_MOST) {
			whole->items[whole->count++] = item;
			qsort(whole->items, whole->count, sizeof(*whole->items), compare_items);
		}
	}
}

void methodview_restrict(struct methodviews *m, const struct methodview_set *set,
			 const struct methodview_whole *whole)
{
	m->shadows.count = 0;
	for (uint32_t c = 0; c < set->classes.count; c++) {
		const struct view_class *class = &set->classes.at[c];
		struct methodview_shadow shadow = {.breaks = 2};

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
static bool nested(const struct methodview_shadow *a, const struct methodview_shadow *b)
{
	return !(a->reads & ~b->reads) && !(a->updates & ~b->updates);
}

bool methodview_breaks(const struct methodview_shadow *a, const struct methodview_shadow *b)
{
	return (b->reads || b->updates) && !nested(a, b) && !nested(b, a);
}

bool methodview_breaks_any(struct methodviews *m, const struct methodview_set *set, uint32_t class)
{
	struct methodview_shadow *a = &m->shadows.at[class];

	if (a->breaks == 2) {
		a->breaks = 0;
		for (uint32_t c = 0; c < set->classes.count && !a->breaks; c++) {
			m->lint->effort->steps[EFFORT_METHOD]++;
			a->breaks = set->classes.at[c].locks && methodview_breaks(a, &m->shadows.at[c]);
		}
	}
	return a->breaks;
}

void methodview_build(struct methodviews *m, struct lint *lint)
{
	*m = (struct methodviews){.lint = lint};
	find_sets(m);
	for (uint32_t r = 1; r < lint->regions.regions.count; r++)
		if (!always_nested(lint, r))
			add_views(m, r);
}

void methodview_release(struct methodviews *m)
{
	for (uint32_t s = 0; s < m->sets.count; s++) {
		vec_free(&m->sets.at[s].views);
		vec_free(&m->sets.at[s].classes);
	}
	vec_free(&m->shadows);
	map_release(&m->classes);
	vec_free(&m->sets);
	vec_free(&m->items);
	free(m->set_of);
}
