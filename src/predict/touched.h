/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a thread has touched in the stretch at hand, byte by byte and for each
 * kind, so that the first access of its kind is told from those that repeat it.
 */
#ifndef ATOMSAN_PREDICT_TOUCHED_H
#define ATOMSAN_PREDICT_TOUCHED_H

#include <stdbool.h>
#include <stdint.h>

enum touched_kind { TOUCHED_READ = 1, TOUCHED_WRITTEN = 2 };
enum { TOUCHED_KINDS = 2 };

struct touched_ranges {
	struct touched_range *all;
	uint64_t count, room;
};

struct touched {
	uint64_t stretch;
	struct touched_cell *cells;
	uint64_t size, used;
	struct touched_ranges ranges[TOUCHED_KINDS]; /* in the order of enum touched_kind */
};

void touched_init(struct touched *t);
void touched_release(struct touched *t);

/* Another stretch begins: nothing is touched. */
void touched_anew(struct touched *t);

/* Nothing is touched of these bytes any more: they are another block's. */
void touched_forget(struct touched *t, uint64_t address, uint64_t length);

/* Touches the bytes; true if one of them was not yet touched in one of these kinds. */
bool touched_first(struct touched *t, uint64_t address, uint64_t length, unsigned kinds);

/* Which steps of a loop, one after the other in memory, touch a byte for the first time. */
struct touched_steps {
	uint64_t steps;
	uint64_t fresh; /* as many */
	uint64_t last;  /* index of the last of them; means nothing if there is none */
	bool first;     /* the step at index 0 is one of them */
};

/* As touched_first() for each step, in time that does not depend on how many there are. */
struct touched_steps touched_steps(struct touched *t, uint64_t address, uint64_t length, uint64_t step,
				   unsigned kinds);

#endif
