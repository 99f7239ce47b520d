/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What src/check/engine.h promises, done the slow way: every unit there ever was
 * is kept, every question is answered by looking at all of them. The engines
 * are driven beside it, and their answers compared access for access.
 */
#ifndef ATOMSAN_TESTS_CHECK_MODEL_H
#define ATOMSAN_TESTS_CHECK_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "check/engine.h"

#define MODEL_THREADS 8
#define MODEL_SETS 8
#define MODEL_LOCATIONS 24
#define MODEL_UNITS 512
#define MODEL_EVENTS 8192

struct model_unit {
	uint32_t thread, set;
	uint32_t begin;
	bool unary, open;
	uint32_t handles[2]; /* in the two engines */
};

struct model_access {
	uint32_t unit, location;
	bool write;
	uint32_t first; /* where the location's history began at the time */
};

struct model_location {
	bool used;
	uint32_t set;
	uint32_t handles[2];
	uint32_t first, count; /* the history begins anew when the location is freed */
};

struct model {
	uint64_t seed, random;
	bool program_order;
	bool exhaustive; /* few units: all serial orders are tried */
	uint32_t units_at_most;
	struct check *engines[2];
	struct check_config configs[2];
	uint32_t time;
	struct model_unit units[MODEL_UNITS];
	uint32_t unit_count, unary_count;
	uint32_t begun[MODEL_EVENTS]; /* which unit began at a time, + 1 */
	struct model_access accesses[MODEL_EVENTS];
	struct model_location locations[MODEL_LOCATIONS];
	uint32_t parent[MODEL_SETS];  /* of a merged set; itself otherwise */
	uint32_t sets[MODEL_SETS][2]; /* handles */
	uint32_t set_count;
	bool violated[MODEL_SETS];
	uint32_t open[MODEL_SETS][MODEL_THREADS]; /* unit + 1 */
	uint64_t before[64];                      /* every pair of conflicting accesses, and program order */
	/* The access at hand: the units whose edge to `current` closes a cycle. */
	uint32_t current, refused[MODEL_UNITS], refused_count;
	bool told_unary[2][MODEL_UNITS][MODEL_THREADS];
	uint32_t reports[2]; /* at this access */
	uint64_t violations, cycles_longer_than_two;
	uint64_t more_pairs, told_again, conflicts;
	const char *wrong;
	/* Large, and zero as far as there are units. */
	bool kept[MODEL_UNITS][MODEL_UNITS];    /* edges of the order */
	bool implied[MODEL_UNITS][MODEL_UNITS]; /* nothing but program order over a unit in between */
	bool po[MODEL_UNITS][MODEL_UNITS];      /* program order, every pair */
	bool told[2][MODEL_UNITS][MODEL_UNITS];
	/* Times of a location's accesses, those before a split included. */
	uint32_t history[MODEL_LOCATIONS][MODEL_EVENTS];
};

/* One random execution; what is wrong with the engines' answers, or NULL. */
struct model_shape {
	uint32_t threads, sets, locations; /* per set */
	uint32_t units, steps;
	uint32_t writes, unary, ends, merges, splits; /* in 1000 */
};

/* There is one at a time. */
struct model *model_new(uint64_t seed, bool program_order);
void model_free(struct model *model);
/* After each event `look`, if given, may look at the engines. */
const char *model_run(struct model *model, const struct model_shape *shape, bool exhaustive,
		      void (*look)(struct model *model));

#endif
