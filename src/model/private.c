/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Units on a set that is loud, on which others are at the same time or were and
 * still matter. The sink knows of each, and so of their order in a thread; but
 * several threads may well work on parts of one array, or on nodes of one tree,
 * and never meet in a single byte. An edge takes two units at one location. So what
 * a unit does to a cell that no unit which matters has touched is noted down, and
 * the cell gets its mark.
 *
 * The sink is told when somebody else comes to a cell with the mark of an open
 * unit, before that access: of all that this unit has done so far. The sink hears
 * of such a cell at once from then on. What a unit that ends and matters did is kept
 * (kept.c), as if it were open; one that does not matter is forgotten by an engine, and its notes go
 * with it. So a mark is either of such a unit, or of one that is nothing to anybody, and a cell with a mark
 * has no other past. Telling late makes the same edges: those out of the unit are made after it is told, and
 * at the cells that it had to itself none lead into it.
 */
#include "model/notes_inl.h"

/* In model.marks: a mark for what several units of a set read, and nobody writes. */
#define READING UINT32_MAX

static void stop_reading(struct model *model, struct whole *set)
{
	if (set->reading)
		map_remove(&model->marks, set->reading);
	set->reading = 0;
}

uint32_t private_reading(struct model *model, uint32_t root)
{
	struct whole *set = set_whole(model, root);

	if (!set->reading) {
		struct log reading = notes_begin(model, 0);

		set->reading = log_mark(&reading);
		map_set(&model->marks, set->reading, READING);
	}
	return set->reading;
}

static void tell_one(struct model *model, uint32_t index)
{
	struct open_unit *unit = &model->units[index];

	if (!unit->log.notes)
		return;
	map_remove(&model->marks, log_mark(&unit->log));
	notes_tell(model, unit->thread, unit->set, &unit->log);
	if (model->told.count > PRIVATE_MANY && set_whole(model, unit->set)->wasted < PRIVATE_WASTED)
		set_whole(model, unit->set)->wasted++;
	/* What it does from now on is noted down anew. */
	unit->log = notes_begin(model, unit->log.frame);
}

void private_tell_all(struct model *model, uint32_t root)
{
	for (uint32_t i = set_whole(model, root)->open; i; i = model->units[i].next_in_set)
		tell_one(model, i);
	kept_tell_set(model, root);
	stop_reading(model, set_whole(model, root));
}

void private_tell_set(struct model *model, uint32_t root)
{
	if (set_whole(model, root)->reading)
		private_tell_all(model, root);
	else
		kept_tell_set(model, root);
}

void private_tell(struct model *model, uint32_t index)
{
	if (set_whole(model, model->units[index].set)->reading)
		private_tell_all(model, model->units[index].set);
	else
		tell_one(model, index);
}

/* Where a thread has so many notes they are looked through for those of the bytes that an access is to, some
 * times, before all are told; and for so many bytes at a time. A test has other numbers. */
#ifndef PRIVATE_LIMITS
#define PRIVATE_LIMITS LONG = 1 << 10, TIMES = 16, SPAN = 1 << 16
#endif
enum { PRIVATE_LIMITS };

/* The next of those that are asked: of the one, or (0) of all on the set. */
static uint32_t next_asked(const struct model *model, uint32_t index, uint32_t at)
{
	return index ? 0 : model->units[at].next_in_set;
}

/* Nobody has notes of the set's bytes in these granules. */
static void clear_marks(struct model *model, uint32_t root, uint64_t low, uint64_t high)
{
	for (; low < high; low += 8) {
		unsigned room;
		struct cell *cell = memory_all(&model->memory, memory_granule(&model->memory, low), &room);

		for (; room; room--, cell++)
			if (cell->mask && cell->location & CELL_MARK && cell->set &&
			    set_root(model, cell->set) == root)
				cell->location = cell->read = cell->written = 0;
	}
}

/*
 * The sink hears of what was done to the cell, by the open unit whose mark it has or
 * (0) by all, and of nothing else that they did. Edges at a cell take no more;
 * telling the rest would be work, and a location for each. Of an access to many
 * granules all are asked for at once. False: it had better hear of everything.
 */
static bool tell_some(struct model *model, uint32_t root, uint32_t index, const struct accessor *who,
		      uint64_t granule, uint8_t mask)
{
	uint64_t high = granule + 8, end = who->address + who->size;
	uint32_t kept;
	bool many;

	if (end > high) {
		high = (end + 7 - granule > SPAN ? granule + SPAN : end + 7) & ~7ull;
		mask = UINT8_MAX;
		index = 0;
	}
	kept = index ? 0 : kept_longest(model, root, TIMES);
	if (kept == UINT32_MAX)
		return false;
	many = kept >= LONG;
	uint32_t first = index ? index : set_whole(model, root)->open;

	for (uint32_t i = first; i; i = next_asked(model, index, i)) {
		const struct open_unit *unit = &model->units[i];

		if (unit->log.notes && unit->log.asked == TIMES)
			return false;
		many |= unit->log.notes && model->threads[unit->thread].note_count >= LONG;
	}
	if (!many)
		return false;
	for (uint32_t i = first; i; i = next_asked(model, index, i)) {
		struct open_unit *unit = &model->units[i];

		if (!unit->log.notes)
			continue;
		unit->log.asked++;
		notes_tell_bytes(model, unit->thread, root, &unit->log, granule, high, mask);
	}
	if (!index)
		kept_tell_some(model, root, granule, high, mask);
	if (high > granule + 8)
		clear_marks(model, root, granule, high);
	return true;
}

/*
 * The cell has the mark of another unit. True if it matters neither to this access
 * nor the access to it. False: the sink was told.
 */
static bool make_way(struct model *model, struct cell *cell, uint32_t root, const struct accessor *who,
		     uint64_t granule, bool reads)
{
	uint32_t other = map_get(&model->marks, cell->location);
	uint64_t tellings = model->tellings;

	if (!other) {
		cell->location = cell->read = cell->written = 0;
		return true;
	}
	if (reads && other == READING)
		return true;
	if (reads && !cell->written) {
		cell->location = private_reading(model, root);
		return true;
	}
	/* They will meet again. */
	cell->met = true;
	if (tell_some(model, root, other & KEPT_MARK ? 0 : other, who, granule, cell->mask))
		;
	else if (other == READING || (other & KEPT_MARK && set_whole(model, root)->reading))
		private_tell_all(model, root);
	else if (other & KEPT_MARK)
		kept_tell(model, other & ~KEPT_MARK);
	else
		private_tell(model, other);
	if (tellings != model->tellings)
		return false;
	/* All who read have ended, and of the others nobody has. */
	cell->location = cell->read = cell->written = 0;
	return true;
}

bool private_access(struct model *model, struct cell *cell, uint32_t root, const struct accessor *who,
		    uint64_t granule, uint8_t bytes)
{
	uint32_t index = unit_of_access(model, who->thread, root) == MODEL_NO_UNIT
				 ? 0
				 : set_whole(model, root)->cached_unit;
	struct open_unit *unit = index ? &model->units[index] : NULL;

	bool told = !unit || cell->met || set_whole(model, root)->wasted == PRIVATE_WASTED;

	if (cell_location(cell)) {
		/* Whoever was here before need not matter any more. */
		if (told || !model->sink.location_idle(model->sink.user, cell->location))
			return false;
		model->sink.location_free(model->sink.user, cell->location);
		cell->location = 0;
	} else if (unit && notes_have(&unit->log, cell, who, bytes)) {
		return true;
	}
	if (cell->location && (!unit || cell->location != log_mark(&unit->log)) &&
	    !make_way(model, cell, root, who, granule, unit && !who->writes))
		return false;
	if (!unit || (told && !cell->location))
		return false;
	if (__builtin_expect(notes_full(&model->threads[who->thread]), 0)) {
		uint64_t tellings = model->tellings;

		notes_make_room(model, &model->threads[who->thread]);
		if (tellings != model->tellings)
			return false;
	}
	if (!unit->log.notes)
		map_set(&model->marks, log_mark(&unit->log), index);
	if (unit->iteration && !who->writes)
		unit_reads_again(model, root, granule + (unsigned)__builtin_ctz(bytes));
	if (!cell->location || cell->location == log_mark(&unit->log)) {
		notes_mark(model, cell, &unit->log, who, bytes);
	} else {
		if (notes_seen(&model->threads[who->thread], &unit->log, granule, bytes))
			return true;
		notes_see(&model->threads[who->thread], &unit->log, granule, bytes);
	}
	notes_add(model, &unit->log, root, who, granule, bytes);
	return true;
}

void private_drop(struct model *model, uint32_t index)
{
	struct open_unit *unit = &model->units[index];

	if (unit->log.notes)
		map_remove(&model->marks, log_mark(&unit->log));
	unit->log.notes = 0;
}

void private_end(struct model *model, uint32_t index, bool keep)
{
	const struct open_unit *unit = &model->units[index];
	struct whole *set = set_whole(model, unit->set);

	if (!unit->log.notes)
		return;
	if (model->sink.unit_matters(model->sink.user, unit->handle)) {
		if (keep && kept_add(model, index))
			model->units[index].log.notes = 0;
		else
			private_tell(model, index);
		return;
	}
	if (set->wasted && set->wasted < PRIVATE_WASTED)
		set->wasted--;
	private_drop(model, index);
}

void private_alone(struct model *model, uint32_t root)
{
	stop_reading(model, set_whole(model, root));
}
