/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Witnesses of patterns over one variable: cutpoint.c collects them, combine.c
 * puts them together. For these two files alone.
 */
#ifndef ATOMSAN_PREDICT_WITNESS_H
#define ATOMSAN_PREDICT_WITNESS_H

#include "predict/predict.h"

#define WITNESS_CHAIN 64 /* points between e1 and e2 that are looked at */

struct gap {
	uint32_t e1, e2;
	uint32_t low; /* f may come from here on: event e1 or one after it */
};

/* Witnesses are kept in the group itself as long as there is one. */
struct group {
	uint32_t thread, variable;
	uint32_t site1, site2; /* a single has only the first */
	uint32_t context;      /* single */
	uint8_t kind1, kind2;
	bool inside;
	uint32_t class; /* the same for groups that differ in thread and variable alone */
	uint32_t next;  /* of the same variable; 0: none */
	uint32_t count, room;
	uint32_t segment; /* of the latest witness, plus one */
	union {
		struct gap gap, *gaps;
		uint32_t single, *singles;
	};
	union { /* the last of all, kept or not */
		struct gap last_gap;
		uint32_t last_single;
	};
};

struct groups {
	struct group *all; /* [0] is unused */
	uint32_t count, room;
	struct map index, classes;
	uint32_t *heads; /* by variable */
};

/* The contexts of the points in a gap that are worth a look, as one number. */
uint64_t witness_chain(const struct locksets *l, uint32_t low, uint32_t e2);
/* The same for patterns at the same places, on one variable, of the same threads. */
uint64_t witness_key(const struct history *h, uint32_t variable, uint32_t e1, uint32_t f, uint32_t e2);
bool witness_is_pattern(unsigned kind1, unsigned f, unsigned kind2);

/* Predicts; seen has the keys of the patterns that the run had. */
void combine_all(struct predict *p, const struct groups *gaps, const struct groups *singles,
		 const struct map *seen);

#endif
