/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Units that nobody meets. Data changes hands under locks, so most units are
 * the only ones on their set from their first access to their end. To an engine
 * such a unit is nothing: no edge leads to it, so when it ends it is forgotten,
 * and all it touched with it. Telling the engine of it is most of the work.
 *
 * So a set on which no unit matters is *quiet*, and a unit on it is noted down:
 * in the set, which call it is; in its thread, what it accessed. Ending it is
 * leaving the call. If another thread comes to the set while the call is open,
 * the sink hears of the unit and the set is *loud* until the sink says that no
 * unit on it matters any more; private.c says what the sink hears then. Single
 * accesses to a quiet set leave nothing behind and are not told at all. As long as
 * they only read, several units are as good as one: a set has either any number of
 * noted units that only read, or one.
 *
 * A frame has a serial number, and another one when its units are to end though
 * it stays (unit_split). A unit is open while the frame has its serial.
 */
#include "model/notes_inl.h"

static struct noted *noted_at(struct model *model, uint32_t index)
{
	return index ? &model->noted[index] : NULL;
}

struct noted *quiet_noted(struct model *model, uint32_t root, uint32_t thread)
{
	struct noted *noted = &set_whole(model, root)->noted;

	for (; noted; noted = noted_at(model, noted->next))
		if (noted->thread == thread && quiet_open(model, noted))
			return noted;
	return NULL;
}

/* Is a unit of another thread noted down, one that writes or any? */
static bool others(struct model *model, uint32_t root, uint32_t thread, bool writing)
{
	struct noted *noted = &set_whole(model, root)->noted;

	for (; noted; noted = noted_at(model, noted->next))
		if (noted->thread != thread && (noted->writes || !writing) && quiet_open(model, noted))
			return true;
	return false;
}

/* A place for one more unit on the set: that of one which has ended, or a new one. */
static struct noted *noted_new(struct model *model, uint32_t root)
{
	struct noted *first = &set_whole(model, root)->noted, *noted = first;
	uint32_t index;

	for (; noted; noted = noted_at(model, noted->next))
		if (!quiet_open(model, noted))
			return noted;
	index = model->noted_free;
	if (index) {
		model->noted_free = model->noted[index].next;
	} else {
		if (model->noted_count + 1 >= model->noted_room) {
			model->noted_room = model->noted_room ? model->noted_room * 2 : 64;
			model->noted = mem_resize(model->noted, model->noted_room, sizeof(*model->noted));
		}
		index = ++model->noted_count;
	}
	model->noted[index].next = first->next;
	first->next = index;
	return &model->noted[index];
}

void quiet_drop(struct model *model, struct whole *set)
{
	uint32_t index = set->noted.next;

	while (index) {
		uint32_t next = model->noted[index].next;

		model->noted[index].next = model->noted_free;
		model->noted_free = index;
		index = next;
	}
	set->noted = (struct noted){0};
}

bool quiet_mark(struct model *model, uint32_t root, uint32_t mark)
{
	const struct noted *noted = &set_whole(model, root)->noted;

	if (mark == set_whole(model, root)->reading)
		return true;
	for (; noted; noted = noted_at(model, noted->next))
		if (mark == log_mark(&noted->log) && quiet_open(model, noted))
			return true;
	return false;
}

/* Several units read: a cell that more than one of them has been at gets the set's mark (read_by_others). */
static void share(struct model *model, uint32_t root)
{
	struct noted *noted = &set_whole(model, root)->noted;
	uint32_t open = 0;

	if (!noted->next)
		return;
	for (; noted; noted = noted_at(model, noted->next))
		open += quiet_open(model, noted);
	if (open < 2) {
		private_alone(model, root);
		return;
	}
	for (noted = &set_whole(model, root)->noted; noted; noted = noted_at(model, noted->next))
		noted->shared = true;
}

static struct noted *begin(struct model *model, struct noted *noted, uint32_t thread, uint32_t frame,
			   uint32_t root, uint32_t rule)
{
	uint32_t next = noted->next;

	entire_unit(model, &model->threads[thread], frame, root);
	*noted = (struct noted){
		.thread = thread,
		.log = notes_begin(model, frame),
		.rule = (uint8_t)rule,
		.begin = model->time,
		.next = next,
		.serial = frame & UNIT_BRACKET ? model->threads[thread].brackets[frame & ~UNIT_BRACKET].serial
					       : model->threads[thread].frames[frame].serial,
	};
	noted->log.ordered = rule == MODEL_RULE_LOOP;
	model->stats.units++;
	share(model, root);
	return noted;
}

bool quiet_begin(struct model *model, uint32_t thread, uint32_t frame, uint32_t root, uint32_t rule)
{
	if (!model->quiet || set_whole(model, root)->loud)
		return false;
	jots_settle_set(model, root);
	begin(model, noted_new(model, root), thread, frame, root, rule);
	return true;
}

struct noted *quiet_only(struct model *model, uint32_t thread, uint32_t root)
{
	uint32_t rule, frame = unit_choose(model, thread, root, &rule);

	if (frame == UINT32_MAX)
		return NULL;
	return begin(model, &set_whole(model, root)->noted, thread, frame, root, rule);
}

/* The unit reads what others that are open have read, too. Then the cell has the mark of all. */
static bool read_by_others(struct model *model, struct cell *cell, uint32_t root, const struct noted *own)
{
	const struct noted *noted = &set_whole(model, root)->noted;

	if (!(cell->location & CELL_MARK) || cell->location == log_mark(&own->log))
		return false;
	if (cell->location == set_whole(model, root)->reading)
		return true;
	for (; noted; noted = noted_at(model, noted->next))
		if (cell->location == log_mark(&noted->log) && quiet_open(model, noted)) {
			cell->location = private_reading(model, root);
			return true;
		}
	return false;
}

bool quiet_access(struct model *model, struct cell *cell, uint32_t root, const struct accessor *who,
		  uint64_t granule, uint8_t bytes)
{
	struct thread *thread = &model->threads[who->thread];
	struct noted *noted = &set_whole(model, root)->noted;

	if (__builtin_expect(noted->thread != who->thread || noted->next || !quiet_open(model, noted), 0)) {
		/* Of others that only read, who only reads is no matter. */
		if (others(model, root, who->thread, !who->writes)) {
			quiet_end(model, root);
			return false;
		}
		noted = quiet_noted(model, root, who->thread);
	}
	if (noted && notes_have(&noted->log, cell, who, bytes))
		return true;
	if (!noted) {
		uint32_t rule, frame = unit_choose(model, who->thread, root, &rule);

		if (frame == UINT32_MAX) {
			model->stats.alone++;
			return true;
		}
		noted = begin(model, noted_new(model, root), who->thread, frame, root, rule);
	}
	if (!set_whole(model, root)->noted.next && !noted->settled) {
		/* What the sink knows of it is of units that do not matter any more. */
		if (cell_location(cell)) {
			model->sink.location_free(model->sink.user, cell->location);
			cell->location = 0;
		}
		if (jots_add(model, noted, who, granule, bytes))
			return true;
	}
	jots_settle_set(model, root);
	if (notes_have(&noted->log, cell, who, bytes))
		return true;
	if (__builtin_expect(notes_full(thread), 0)) {
		uint64_t tellings = model->tellings;

		notes_make_room(model, thread);
		if (tellings != model->tellings)
			return false;
	}
	if (who->writes || !noted->shared || !read_by_others(model, cell, root, noted)) {
		notes_mark(model, cell, &noted->log, who, bytes);
	} else {
		if (notes_seen(thread, &noted->log, granule, bytes))
			return true;
		notes_see(thread, &noted->log, granule, bytes);
	}
	notes_add(model, &noted->log, root, who, granule, bytes);
	noted->writes |= who->writes;
	return true;
}

/* Whoever noted something of the cell has left a mark there, its own or that of all who read. */
static bool has_notes_of(const struct log *log, const struct cell *cell, uint32_t reading)
{
	return log->notes && (cell->location == log_mark(log) || cell->location == reading);
}

void quiet_forget(struct model *model, uint32_t root, uint64_t granule, const struct cell *cell)
{
	struct noted *noted = &set_whole(model, root)->noted;
	uint32_t reading = set_whole(model, root)->reading;

	jots_settle_set(model, root);
	if (!cell->mask || !(cell->location & CELL_MARK))
		return;
	for (uint32_t i = set_whole(model, root)->open; i; i = model->units[i].next_in_set)
		if (has_notes_of(&model->units[i].log, cell, reading))
			notes_bar(model, model->units[i].thread, &model->units[i].log, root, granule,
				  cell->mask);
	for (; noted; noted = noted_at(model, noted->next))
		if (has_notes_of(&noted->log, cell, reading) && quiet_open(model, noted))
			notes_bar(model, noted->thread, &noted->log, root, granule, cell->mask);
}

void quiet_end(struct model *model, uint32_t root)
{
	struct noted *noted = &set_whole(model, root)->noted;

	jots_settle_set(model, root);
	/* If they are several, they only read, and in which order is no matter. */
	for (; noted; noted = noted_at(model, noted->next)) {
		struct open_unit *unit;
		uint32_t index;

		if (!quiet_open(model, noted))
			continue;
		index = unit_open(model, noted->thread, noted->log.frame, root, noted->rule, noted->begin);
		unit = &model->units[index];
		unit->log = noted->log;
		set_whole(model, root)->cached_thread = noted->thread;
		set_whole(model, root)->cached_unit = index;
		if (!unit->log.notes)
			continue;
		map_set(&model->marks, log_mark(&unit->log), index);
		if (unit->iteration)
			notes_remember(model, noted->thread, root, &unit->log);
	}
	quiet_drop(model, set_whole(model, root));
}
