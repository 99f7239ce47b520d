/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Units of work with what they access of their atomic set, as patterns over
 * several variables need them. Units that do the same things to the same
 * variables under the same locks, at the same place in the order of
 * synchronisation, have one shape, and only the first of them is kept.
 */
#ifndef ATOMSAN_PREDICT_SHAPE_H
#define ATOMSAN_PREDICT_SHAPE_H

#include "predict/predict.h"

#define SHAPE_ACCESSES 32 /* that are kept of one unit */

struct shape_access {
	uint32_t event, variable;
};

struct shape {
	uint32_t thread, set;
	uint32_t first, count; /* accesses, in program order */
	uint32_t segment;      /* of its thread: see order.h */
	bool open;             /* some variable's guard is not kept from the first access to the last */
	uint64_t face;         /* the same for units with the same program places */
};

struct shapes {
	struct predict *p;
	struct shape *all;
	uint32_t count, room;
	struct shape_access *accesses;
	uint32_t access_count, access_room;
	struct map known;
	uint64_t *faces; /* with numbers from 1 on */
	uint32_t face_count, face_room;
	struct map face_numbers, unit_faces; /* of a face; of a unit's face */
	uint64_t skipped;                    /* accesses and units beyond what is kept */
};

void shapes_collect(struct shapes *s, struct predict *p);
void shapes_release(struct shapes *s);

/* pattern.c: two variables. Marks pairs of faces that have a prediction in `together`. */
void pattern_pairs(struct shapes *s, struct map *together);
/* cycle.c: three units or more. */
void pattern_cycles(struct shapes *s, const struct map *together);
static inline uint64_t shape_pair(uint64_t a, uint64_t b)
{
	return a < b ? predict_mix(a, b) : predict_mix(b, a);
}

/*
 * The points of a thread from one limit to another (included) that are worth a
 * look, beginning with the first; see lockset.h. Fills up to `room` limits.
 */
uint32_t shape_points(const struct predict *p, uint32_t thread, uint32_t from, uint32_t to, uint32_t *limits,
		      uint32_t room);
/* The same if the thread's position at the first is known. */
uint32_t shape_points_at(const struct predict *p, uint32_t at, uint32_t from, uint32_t to, uint32_t *limits,
			 uint32_t room);

#endif
