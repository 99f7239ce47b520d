/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Views while they are made. There are many fewer of them than places that have
 * one, most of all in large programs, where everything calls everything: each
 * is kept once and has a number, 0 is the empty one. What comes of two of them is
 * worked out once, too.
 *
 * A view is a set of bits, two for each shared variable, read and written, of
 * which only the words are kept that have some. Variables of a set lie side by side,
 * so that this is short for views of a few and for those of nearly everything.
 */
#ifndef ATOMSAN_LINT_VIEWPOOL_H
#define ATOMSAN_LINT_VIEWPOOL_H

#include "base/map.h"
#include "lint/lint.h"

struct viewpool_word {
	uint64_t bits;
	uint32_t number;
	uint32_t pad;
};

struct viewpool_view {
	struct viewpool_word *words; /* in order */
	uint32_t count;
	uint32_t items;
};

struct viewpool {
	struct lint *lint;
	VEC(struct viewpool_view) views;
	struct map known;             /* by what is in them; number + 1 */
	struct map unions, sequences; /* of two -> number + 1 */
	uint32_t *place;              /* by variable: its number among the shared ones */
	struct vec_u32 variables;     /* the other way round */
	uint64_t *many; /* by word: bits of reads of arrays' elements, of which there are too many to say
			   which */
	VEC(struct viewpool_word) scratch, run;
};

/* Once it is known what is shared. */
void viewpool_begin(struct viewpool *pool, struct lint *lint);
void viewpool_end(struct viewpool *pool);

/* Appends the items of a view, as view.h has them. */
void viewpool_items(const struct viewpool *pool, uint32_t view, struct vec_u32 *items);

/* Accesses of shared variables one after the other, and the view that they make. What a way has written it
 * does not read from others. */
void viewpool_access(struct viewpool *pool, uint32_t variable, bool write);
uint32_t viewpool_accessed(struct viewpool *pool);

uint32_t viewpool_union(struct viewpool *pool, uint32_t a, uint32_t b);
/* One after the other: the second does not read from others what the first wrote. */
uint32_t viewpool_then(struct viewpool *pool, uint32_t a, uint32_t b);

/* The ways through a piece of code, up to a number; more of them become one, and so do ways that touch very
 * much. */
enum { WAYS_MOST = 8, WAYS_ITEMS = 200 };

struct ways {
	uint32_t at[WAYS_MOST + 1];
	uint32_t count;
	bool merged; /* there were too many, they are one */
};

/* True if there was news. */
bool ways_add(struct viewpool *pool, struct ways *ways, uint32_t view);
bool ways_join(struct viewpool *pool, struct ways *into, const struct ways *from);
/* Each way of the first with each way of the second. */
void ways_then(struct viewpool *pool, struct ways *ways, const struct ways *next);

#endif
