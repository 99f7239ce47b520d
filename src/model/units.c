/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Units of work that are open and that the sink knows of. */
#include "model/inside.h"

static uint32_t *list_of(struct thread *thread, uint32_t frame)
{
	return frame & UNIT_BRACKET ? &thread->brackets[frame & ~UNIT_BRACKET].units
				    : &thread->frames[frame].units;
}

/* Takes it out of everything but its frame's list. */
static void close_unit(struct model *model, uint32_t index)
{
	struct open_unit *unit = &model->units[index];
	struct whole *set = set_whole(model, unit->set);
	uint32_t root = unit->set;

	private_end(model, index, true);
	model->sink.unit_end(model->sink.user, unit->handle);
	map_remove(&model->threads[unit->thread].open, root);
	if (unit->previous_in_set)
		model->units[unit->previous_in_set].next_in_set = unit->next_in_set;
	else
		set->open = unit->next_in_set;
	if (unit->next_in_set)
		model->units[unit->next_in_set].previous_in_set = unit->previous_in_set;
	if (set->cached_unit == index)
		set->cached_unit = 0;
	unit->next_in_frame = model->unit_free;
	model->unit_free = index;
	if (model->quiet && !set->open) {
		set->loud = !model->sink.set_quiet(model->sink.user, set->handle);
		if (!set->loud)
			kept_drop_set(model, root);
		if (set->reading && !kept_on(model, root))
			private_alone(model, root);
	}
	set_unit_gone(model, root);
}

void unit_close_all(struct model *model, uint32_t *list, uint64_t *serial)
{
	uint32_t index = *list;

	*serial = ++model->serial;
	*list = 0;
	while (index) {
		uint32_t next = model->units[index].next_in_frame;

		close_unit(model, index);
		index = next;
	}
}

static void unlink_from_frame(struct model *model, uint32_t index)
{
	struct open_unit *unit = &model->units[index];
	uint32_t *link = list_of(&model->threads[unit->thread], unit->frame);

	while (*link != index)
		link = &model->units[*link].next_in_frame;
	*link = unit->next_in_frame;
}

void unit_end(struct model *model, uint32_t index)
{
	unlink_from_frame(model, index);
	close_unit(model, index);
}

uint32_t unit_open(struct model *model, uint32_t thread_index, uint32_t frame, uint32_t root, uint32_t rule,
		   uint64_t begin)
{
	struct thread *thread = &model->threads[thread_index];
	uint32_t index = model->unit_free, *list = list_of(thread, frame);
	struct whole *set = set_whole(model, root);

	entire_unit(model, thread, frame, root);
	if (index) {
		model->unit_free = model->units[index].next_in_frame;
	} else {
		if (model->unit_count + 1 >= model->unit_room) {
			model->unit_room = model->unit_room ? model->unit_room * 2 : 64;
			model->units = mem_resize(model->units, model->unit_room, sizeof(*model->units));
		}
		index = ++model->unit_count;
	}
	struct model_unit tag = {
		.thread = thread_index,
		.context = frame & UNIT_BRACKET ? thread->brackets[frame & ~UNIT_BRACKET].context
						: thread->frames[frame].context,
		.rule = rule,
		.set = set->handle,
		.begin = begin,
	};
	model->units[index] = (struct open_unit){
		.set = root,
		.handle = model->sink.unit_begin(model->sink.user, &tag),
		.thread = thread_index,
		.frame = frame,
		.next_in_frame = *list,
		.next_in_set = set->open,
		.iteration = rule == MODEL_RULE_LOOP,
		.log = notes_begin(model, frame),
	};
	if (set->open)
		model->units[set->open].previous_in_set = index;
	*list = index;
	set->open = index;
	map_set(&thread->open, root, index);
	set->loud = true;
	return index;
}

void unit_merge(struct model *model, uint32_t from, uint32_t to)
{
	struct whole *source = set_whole(model, from), *target = set_whole(model, to);

	source->cached_unit = target->cached_unit = 0;
	if (source->reading)
		private_tell_all(model, from);
	while (source->open) {
		uint32_t index = source->open;
		struct open_unit *unit = &model->units[index];
		struct thread *thread = &model->threads[unit->thread];
		uint32_t other = map_get(&thread->open, to);

		if (other)
			private_end(model, index, false);
		else
			notes_move(model, unit->thread, &unit->log, to);
		map_remove(&thread->open, from);
		source->open = unit->next_in_set;
		if (other) {
			/* One call is one unit; of two the top-most is, from now on. */
			if (model->units[other].frame == unit->frame && model->sink.unit_merge)
				model->sink.unit_merge(model->sink.user, unit->handle,
						       model->units[other].handle);
			else
				model->sink.unit_end(model->sink.user, unit->handle);
			unlink_from_frame(model, index);
			unit->next_in_frame = model->unit_free;
			model->unit_free = index;
			continue;
		}
		unit->set = to;
		unit->previous_in_set = 0;
		unit->next_in_set = target->open;
		if (target->open)
			model->units[target->open].previous_in_set = index;
		target->open = index;
		map_set(&thread->open, to, index);
	}
}

uint32_t unit_look_up(struct model *model, uint32_t thread_index, uint32_t root)
{
	uint32_t index = map_get(&model->threads[thread_index].open, root);

	if (!index) {
		uint32_t rule, frame = unit_choose(model, thread_index, root, &rule);

		if (frame == UINT32_MAX)
			return MODEL_NO_UNIT;
		index = unit_open(model, thread_index, frame, root, rule, model->time);
		model->stats.units++;
	}
	set_whole(model, root)->cached_thread = thread_index;
	set_whole(model, root)->cached_unit = index;
	return model->units[index].handle;
}

bool unit_remembers_enough(const struct model *model, uint32_t root)
{
	return model->units[set_whole(model, root)->cached_unit].reads == UNIT_REMEMBERED;
}

bool unit_reads_again(struct model *model, uint32_t root, uint64_t address)
{
	struct open_unit *unit = &model->units[set_whole(model, root)->cached_unit];

	if (!unit->iteration)
		return false;
	for (unsigned i = 0; i < UNIT_REMEMBERED && i < unit->reads; i++)
		if (unit->read[i] == address)
			return true;
	if (unit->reads < UNIT_REMEMBERED)
		unit->read[unit->reads++] = address;
	return false;
}
