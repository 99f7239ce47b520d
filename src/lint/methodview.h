/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lock views, for method consistency: what critical regions do to the variables of
 * one atomic set, and whether two of them, restricted to what a function touches,
 * form a chain. A lock view has one entry per variable, r or u (written); {(x,r)}
 * and {(x,u)} are not nested, which is what finds the account.
 */
#ifndef ATOMSAN_LINT_METHODVIEW_H
#define ATOMSAN_LINT_METHODVIEW_H

#include "base/map.h"
#include "lint/lint.h"

enum { METHODVIEW_MOST = 64 };

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
struct methodview_set {
	const char *name;
	VEC(struct lock_view) views;
	VEC(struct view_class) classes;
};

/* A class as far as the method view at hand has its variables: bits of its items. */
struct methodview_shadow {
	uint64_t reads, updates;
	uint8_t breaks; /* some other class is neither part of it nor the other way round; 2: not asked yet */
};

/* The method view: all that a function's scopes touch. */
struct methodview_whole {
	uint32_t items[METHODVIEW_MOST];
	uint32_t count;
};

struct methodviews {
	struct lint *lint;
	struct vec_u32 items;
	struct map classes;                    /* by set and items: class + 1 */
	VEC(struct methodview_shadow) shadows; /* by class, of the set at hand */
	VEC(struct methodview_set) sets;       /* those with something shared */
	uint32_t *set_of;                      /* by variable: its set + 1, or 0 */
};

void methodview_build(struct methodviews *views, struct lint *lint);
void methodview_release(struct methodviews *views);

void methodview_add(struct methodviews *views, struct methodview_whole *whole,
		    const struct view_class *class);
/* The place of a variable in a method view, or -1. */
int methodview_find(const struct methodview_whole *whole, uint32_t variable);
/* All classes of the set, restricted to the method view: the shadows. */
void methodview_restrict(struct methodviews *views, const struct methodview_set *set,
			 const struct methodview_whole *whole);
/* Do the two not form a chain? */
bool methodview_breaks(const struct methodview_shadow *a, const struct methodview_shadow *b);
/* Is there a view that forms no chain with those of the class? */
bool methodview_breaks_any(struct methodviews *views, const struct methodview_set *set, uint32_t class);

#endif
