/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Views: what a critical region accesses. The papers take one view per region,
 * the union over all ways through it; here there is one per way, up to a
 * number, so that two getters that each read one of two members by a condition
 * are not taken to read both (MoTH's VectorFail).
 */
#ifndef ATOMSAN_LINT_VIEW_H
#define ATOMSAN_LINT_VIEW_H

#include "base/map.h"
#include "lint/lint.h"

/* Variable times 2, plus 1 for a write; in order. */
struct view {
	struct vec_u32 items;
};

struct view_set {
	VEC(struct view) at;
	bool merged; /* there were too many ways, some were made one */
};

/* A place in the views: a view of a region. */
struct view_place {
	uint32_t region, view;
};

struct views {
	struct view_set *regions;                   /* by region */
	struct vec_u32 *scopes;                     /* by function: regions that begin in it or below */
	VEC(struct view_place) * readers, *writers; /* by variable: views that read it, that write it */
	uint32_t merged;
	struct map together, read_together, accesses; /* answers given before */
};

void view_build(struct lint *lint);
void view_release(struct lint *lint);

static inline bool view_has_item(const struct view *v, uint32_t item)
{
	uint32_t low = 0, high = v->items.count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (v->items.at[middle] < item)
			low = middle + 1;
		else
			high = middle;
	}
	return low < v->items.count && v->items.at[low] == item;
}

static inline bool view_reads(const struct view *v, uint32_t variable)
{
	return view_has_item(v, variable * 2);
}

static inline bool view_writes(const struct view *v, uint32_t variable)
{
	return view_has_item(v, variable * 2 + 1);
}

static inline bool view_has(const struct view *v, uint32_t variable)
{
	return view_reads(v, variable) || view_writes(v, variable);
}

/* Whoever handles so much at once does not say what belongs together. */
enum { VIEW_MOST_ITEMS = 64 };

static inline bool view_is_everything(const struct view *v)
{
	return v->items.count > VIEW_MOST_ITEMS;
}

/* Does some region write the first and access the second (or, with `both`, write both) on one way? Then they
 * belong together. */
bool view_together(struct lint *lint, uint32_t x, uint32_t y, bool both);

/* Does some region read both on one way? */
bool view_read_together(struct lint *lint, uint32_t x, uint32_t y);

/* An access of the variable in the region, of this kind; 0 if there is none in its own function. */
uint32_t view_access(const struct lint *lint, uint32_t region, uint32_t variable, bool write);

#endif
