/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The shortest way that an access can take: it is jotted down as the trace has it,
 * and neither the cell nor the unit's notes are touched. See jots.c.
 */
#ifndef ATOMSAN_MODEL_JOTS_INL_H
#define ATOMSAN_MODEL_JOTS_INL_H

#include "model/notes_inl.h"
#include "trace/word_inl.h"

/* An access, of bytes of one granule, that is all its site says. */
struct jot {
	uint64_t word; /* as in a trace; in the place of the kind, whether it claims */
	uint32_t unit; /* the log's number */
	uint32_t time; /* since the run's */
};
_Static_assert(sizeof(struct jot) == 16, "there are as many as accesses");

/* What those from one on have in common, up to the next such. */
struct jot_run {
	uint64_t time;
	uint32_t first;
	uint32_t context, locks, epoch;
};

/* What is in a lane is known to be so until model.lane_turn goes on. */
static inline struct lane *jot_lane(struct model *model, uint32_t set)
{
	return &model->lanes[set % MODEL_LANES];
}

static inline uint64_t jot_lane_key(const struct model *model, uint32_t set)
{
	return (uint64_t)model->lane_turn << 32 | set;
}

/* What was found of sets, frames and locks may have changed. */
static inline void jots_look_again(struct model *model)
{
	if (__builtin_expect(!++model->lane_turn, 0))
		for (unsigned i = 0; i < MODEL_LANES; i++)
			model->lanes[i].key = 0;
}

/* The word that says all there is to the access; 0: there is none. */
static inline uint64_t jot_word(const struct model *model, const struct place *place,
				const struct accessor *who)
{
	uint64_t word = word_make(TRACE_ACCESS, who->site, who->address & WORD_ADDRESS_MASK);

	return who->size == place->bytes && place->how == (who->writes ? PLACE_WRITES : 0) + who->reads &&
			       who->site < TRACE_ID_MAX &&
			       word_expand(model->trace->header.regions, word_address(word)) == who->address
		       ? word
		       : 0;
}

/* Not on this set: others are there, or its latest unit was settled. If that has ended, the next one begins
 * with a note. */
static inline bool jots_never(const struct whole *set)
{
	return set->loud || set->noted.settled;
}

/*
 * The access is jotted down, if it is by a unit that is alone on the quiet set that
 * all of its bytes, which lie in the granule of the cell, are known to belong to. False:
 * it is to be looked at further. `frame` is that of unit_frame, and `who` has thread,
 * context and locks.
 */
static inline __attribute__((always_inline)) bool jot_access(
	struct model *model, struct thread *thread, const struct frame *frame, const struct cell *cell,
	const struct place *place, const struct accessor *who, uint64_t word, uint64_t address, bool claims)
{
	const struct lane *lane = jot_lane(model, cell->set);
	unsigned from = address & 7;

	if (from + place->bytes > 8 || ((1u << place->bytes) - 1) << from & ~(unsigned)cell->mask ||
	    cell_location(cell) || !set_typed(cell, place) ||
	    (place->leads && !set_ownerless(model, frame, cell->set, place)))
		return false;
	if (__builtin_expect(lane->key != jot_lane_key(model, cell->set) ||
				     thread->jot_count == thread->jot_room,
			     0) &&
	    (jots_never(set_whole(model, cell->set)) || !jots_begin(model, who, place, cell->set)))
		return false;
	lane->noted->writes |= place->how >> 1;
	thread->jots[thread->jot_count++] = (struct jot){.word = (word & ~7ull) | claims,
							 .unit = lane->noted->log.number,
							 .time = (uint32_t)(model->time - model->lane_time)};
	return true;
}

#endif
