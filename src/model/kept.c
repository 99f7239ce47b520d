/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Units that ended and matter. The sink would have to hear of all that such a unit
 * noted, lest a later access to the same bytes be no edge; but most often what it
 * comes after ends soon, nobody has come to its bytes, and then it is forgotten.
 * So its notes are kept, beside the thread's, and its mark stays good. The sink,
 * which knows that the unit was there and has ended, hears of them when another unit
 * comes to a cell with the mark, or before anything happens to the set or to the
 * bytes that notes of open units are changed for.
 *
 * At the cells that it had to itself no edge leads into it, so it is all the same to
 * an engine that it has ended when it is told.
 */
#include "model/notes_inl.h"

/* A unit is told, not kept, that has fewer notes, where there are as many units or notes already. They are
 * few, for all of them are looked at wherever bytes are freed. A test has other numbers. */
#ifndef KEPT_LIMITS
#define KEPT_LIMITS FEWEST = 64, MOST_UNITS = 64, MOST_NOTES = 1 << 23
#endif
enum { KEPT_LIMITS };

struct kept {
	struct log log; /* of `notes` */
	struct note *notes;
	uint32_t count;
	uint32_t unit, thread, set;
	uint32_t next;         /* on the set; free list */
	uint64_t reference;    /* the sink's */
	uint64_t lowest, most; /* addresses */
};

bool kept_on(const struct model *model, uint32_t root)
{
	return model->kept_alive && map_get(&model->kept_of, root);
}

/* Takes it off its set's list and out of the marks. */
static struct kept take(struct model *model, uint32_t root, uint32_t index, uint32_t before)
{
	struct kept *kept = &model->kept[index], taken = *kept;

	if (before)
		model->kept[before].next = kept->next;
	else if (kept->next)
		map_set(&model->kept_of, root, kept->next);
	else
		map_remove(&model->kept_of, root);
	map_remove(&model->marks, log_mark(&kept->log));
	model->kept_alive--;
	model->kept_notes -= kept->count;
	kept->notes = NULL;
	kept->next = model->kept_free;
	model->kept_free = index;
	return taken;
}

static bool is_there(const struct model *model, const struct kept *kept)
{
	return model->sink.unit_there(model->sink.user, kept->reference);
}

static void drop(struct model *model, uint32_t root, uint32_t index, uint32_t before)
{
	struct whole *set = set_whole(model, root);

	free(take(model, root, index, before).notes);
	if (set->wasted && set->wasted < PRIVATE_WASTED)
		set->wasted--;
}

/* Those that the sink has forgotten since. */
static void drop_gone(struct model *model, uint32_t root)
{
	uint32_t index = map_get(&model->kept_of, root), before = 0, next;

	for (; index; index = next) {
		next = model->kept[index].next;
		if (is_there(model, &model->kept[index]))
			before = index;
		else
			drop(model, root, index, before);
	}
}

static uint32_t kept_new(struct model *model)
{
	uint32_t index = model->kept_free;

	if (index) {
		model->kept_free = model->kept[index].next;
		return index;
	}
	if (model->kept_count + 1 >= model->kept_room) {
		model->kept_room = model->kept_room ? model->kept_room * 2 : 16;
		model->kept = mem_resize(model->kept, model->kept_room, sizeof(*model->kept));
	}
	return ++model->kept_count;
}

/* In the order of the thread's. */
static void copy_notes(struct kept *kept, const struct thread *thread, const struct log *log)
{
	uint32_t at = kept->count;

	kept->notes = mem_alloc(kept->count * sizeof(*kept->notes));
	kept->lowest = UINT64_MAX;
	for (uint32_t index = log->notes; index; index = thread->notes[index - 1].previous) {
		struct note *note = &kept->notes[--at];

		*note = thread->notes[index - 1];
		note->previous = at;
		if (note->to && note_first_byte(note) < kept->lowest)
			kept->lowest = note_first_byte(note);
		if (note->to && note->address + note->to > kept->most)
			kept->most = note->address + note->to;
	}
	kept->log.notes = kept->count;
}

bool kept_add(struct model *model, uint32_t unit_index)
{
	const struct open_unit *unit = &model->units[unit_index];
	const struct thread *thread = &model->threads[unit->thread];
	uint32_t count = 0, index;

	if (!model->sink.unit_reference)
		return false;
	for (uint32_t i = unit->log.notes; i; i = thread->notes[i - 1].previous)
		count++;
	if (count < FEWEST)
		return false;
	drop_gone(model, unit->set);
	if (model->kept_alive == MOST_UNITS || model->kept_notes + count > MOST_NOTES)
		return false;
	index = kept_new(model);
	struct kept *kept = &model->kept[index];

	*kept = (struct kept){.log = unit->log,
			      .count = count,
			      .unit = unit->handle,
			      .thread = unit->thread,
			      .set = unit->set,
			      .next = map_get(&model->kept_of, unit->set),
			      .reference = model->sink.unit_reference(model->sink.user, unit->handle)};
	copy_notes(kept, thread, &unit->log);
	map_set(&model->kept_of, unit->set, index);
	map_set(&model->marks, log_mark(&kept->log), index | KEPT_MARK);
	model->kept_alive++;
	model->kept_notes += count;
	return true;
}

void kept_tell(struct model *model, uint32_t index)
{
	uint32_t root = model->kept[index].set, before = 0;
	struct whole *set = set_whole(model, root);

	for (uint32_t i = map_get(&model->kept_of, root); i != index; i = model->kept[i].next)
		before = i;
	struct kept kept = take(model, root, index, before);

	if (is_there(model, &kept)) {
		notes_tell_ended(model, kept.thread, root, &kept.log, kept.notes, kept.unit);
		if (model->told.count > PRIVATE_MANY && set->wasted < PRIVATE_WASTED)
			set->wasted++;
	}
	free(kept.notes);
}

void kept_tell_set(struct model *model, uint32_t root)
{
	uint32_t index;

	while (model->kept_alive && (index = map_get(&model->kept_of, root)))
		kept_tell(model, index);
}

uint32_t kept_longest(const struct model *model, uint32_t root, uint32_t times)
{
	uint32_t longest = 0;

	if (!model->kept_alive)
		return 0;
	for (uint32_t i = map_get(&model->kept_of, root); i; i = model->kept[i].next) {
		if (model->kept[i].log.asked == times)
			return UINT32_MAX;
		if (model->kept[i].count > longest)
			longest = model->kept[i].count;
	}
	return longest;
}

/* The bytes are no more, to its notes. */
static void bar(struct model *model, struct kept *kept, uint64_t low, uint64_t high, uint8_t mask)
{
	uint32_t more = (uint32_t)((high - low + 63) / 64);

	kept->notes = mem_resize(kept->notes, kept->count + (size_t)more, sizeof(*kept->notes));
	for (; low < high; low += 64) {
		uint64_t some = mask * 0x0101010101010101ull;

		if (high - low < 64)
			some &= ~0ull >> (64 - (high - low));
		kept->notes[kept->count] = (struct note){.address = low,
							 .some = some,
							 .set = kept->set,
							 .previous = kept->count,
							 .unit = kept->log.number};
		kept->count++;
	}
	kept->log.notes = kept->count;
	kept->log.barred = true;
	model->kept_notes += more;
}

void kept_tell_some(struct model *model, uint32_t root, uint64_t low, uint64_t high, uint8_t mask)
{
	if (!kept_on(model, root))
		return;
	drop_gone(model, root);
	for (uint32_t i = map_get(&model->kept_of, root); i; i = model->kept[i].next) {
		struct kept *kept = &model->kept[i];

		kept->log.asked++;
		if (notes_tell_ended_bytes(model, kept->thread, root, &kept->log, kept->notes, kept->unit,
					   low, high, mask))
			bar(model, kept, low, high, mask);
	}
}

void kept_drop_set(struct model *model, uint32_t root)
{
	uint32_t index;

	while (model->kept_alive && (index = map_get(&model->kept_of, root)))
		drop(model, root, index, 0);
}

bool kept_tell_bytes(struct model *model, uint64_t start, uint64_t end)
{
	uint64_t tellings = model->tellings;

	for (uint32_t i = 1; model->kept_alive && i <= model->kept_count; i++)
		/* One that is free has no notes. */
		if (model->kept[i].notes && model->kept[i].lowest < end && model->kept[i].most > start)
			private_tell_set(model, model->kept[i].set);
	return tellings != model->tellings;
}

void kept_release(struct model *model)
{
	for (uint32_t i = 1; i <= model->kept_count; i++)
		free(model->kept[i].notes);
	free(model->kept);
	map_release(&model->kept_of);
}
