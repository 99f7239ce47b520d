/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Cells to which what a unit does can be noted, and nothing else is to be done; for hot.c and pieces.c. */
#ifndef ATOMSAN_MODEL_CELLS_INL_H
#define ATOMSAN_MODEL_CELLS_INL_H

#include "model/notes_inl.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define ALWAYS inline __attribute__((always_inline))

/* Is the cell, of a set with a unit that has this log, one that nobody else is at? A mark that is not known
 * is of a unit that is nothing to anybody any more (private.c). */
static ALWAYS bool cell_free(const struct model *model, const struct whole *set, const struct cell *cell,
			     const struct log *log)
{
	if (likely(!set->loud))
		return !cell_location(cell);
	return !cell->met && (!cell->location || cell->location == log_mark(log) ||
			      (cell->location & CELL_MARK && !map_get(&model->marks, cell->location)));
}

/*
 * The log of the thread's unit on the set, open already or from now on, if what it
 * does to the cell can be noted there and nothing else is to be done; NULL: it
 * takes a closer look.
 */
static ALWAYS struct log *log_with(struct model *model, struct thread *thread, uint32_t root,
				   const struct cell *cell, const struct accessor *who)
{
	struct whole *set = set_whole(model, cell->set);

	if (likely(!set->loud)) {
		struct noted *noted = &set->noted;

		if (noted->next || !cell_free(model, set, cell, &noted->log))
			return NULL;
		/* A bracket's number is higher than any depth. */
		if (noted->thread != who->thread || noted->log.frame >= thread->depth ||
		    thread->frames[noted->log.frame].serial != noted->serial) {
			if (quiet_open(model, noted) || !(noted = quiet_only(model, who->thread, root)))
				return NULL;
		}
		if (unlikely(noted->jotted))
			return NULL;
		noted->writes |= who->writes;
		return &noted->log;
	}
	struct open_unit *unit = &model->units[set->cached_unit];

	if (set->cached_thread != who->thread || !set->cached_unit || !unit->log.notes ||
	    /* What an iteration reads first is remembered. */
	    (unit->iteration && !who->writes && unit->reads < UNIT_REMEMBERED) ||
	    set->wasted == PRIVATE_WASTED || !cell_free(model, set, cell, &unit->log))
		return NULL;
	return &unit->log;
}

/* Has the thread's unit on the set noted that it reads these bytes, which others read, too? */
static ALWAYS bool cell_seen(const struct model *model, const struct thread *thread, uint32_t root,
			     const struct cell *cell, const struct accessor *who, uint64_t granule,
			     uint8_t bytes)
{
	const struct whole *set = set_whole(model, cell->set);
	const struct open_unit *unit = &model->units[set->cached_unit];

	return !who->writes && set->loud && cell->location == set->reading && set->reading &&
	       set->cached_unit && set->cached_thread == who->thread &&
	       (!unit->iteration || unit->reads == UNIT_REMEMBERED) &&
	       notes_seen(thread, &unit->log, granule, bytes);
}

/* The bytes are all in the cell; with `stop`, they are those from `at` to there. */
static ALWAYS bool cell_noted(struct model *model, struct thread *thread, struct cell *cell,
			      const struct place *place, const struct accessor *who, uint64_t at,
			      uint64_t stop, uint8_t bytes)
{
	struct log *log;
	uint32_t root;

	if (unlikely(!set_known(model, unit_frame(thread), cell, place)))
		return false;
	root = set_root(model, cell->set);
	log = log_with(model, thread, root, cell, who);
	if (unlikely(!log))
		return cell_seen(model, thread, root, cell, who, at & ~7ull, bytes);
	if (notes_have(log, cell, who, bytes))
		return true;
	if (unlikely(notes_full(thread)))
		return false;
	note_mark(cell, log, who->reads, who->writes, bytes);
	if (stop)
		note_add(thread, log, root, who, at, stop);
	else
		notes_add_bytes(thread, log, root, who, at & ~7ull, bytes);
	return true;
}

/*
 * One granule's bytes. Of cells that are kept from the sink none need be split.
 * False: one of them is not like that. Those before it are noted then, which does
 * no harm when they are looked at again.
 */
static ALWAYS bool piece_noted(struct model *model, struct thread *thread, struct granule *granule,
			       const struct place *place, const struct accessor *who, uint64_t at,
			       uint64_t stop)
{
	uint8_t bytes = memory_bytes(at, stop);
	uint32_t parts;

	if (likely(!(bytes & ~granule->cell.mask)))
		return cell_noted(model, thread, &granule->cell, place, who, at, stop, bytes);
	parts = granule_parts(granule);
	if (!parts)
		return false;
	for (unsigned i = 0, room = memory_room(parts); i < room && bytes; i++) {
		struct cell *cell = &memory_cells(&model->memory, parts)[i];
		uint8_t common = cell->mask & bytes;

		if (common && !cell_noted(model, thread, cell, place, who, at, 0, common))
			return false;
		bytes &= (uint8_t)~common;
	}
	return !bytes;
}

#endif
