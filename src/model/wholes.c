/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What there is to be known of sets that have become one, beside the sets: most that
 * ever were have become part of another, and need it no more.
 */
#include "model/inside.h"

uint32_t whole_new(struct model *model)
{
	uint32_t index = model->whole_free;

	if (index) {
		model->whole_free = model->wholes[index].next;
		model->whole_unused--;
		return index;
	}
	if (model->whole_count == model->whole_room) {
		model->wholes = table_resize(model->wholes, model->whole_room, model->whole_room * 2ul,
					     sizeof(*model->wholes));
		model->whole_room *= 2;
	}
	return model->whole_count++;
}

void whole_free(struct model *model, uint32_t index)
{
	model->wholes[index] = (struct whole){.next = model->whole_free};
	model->whole_free = index;
	model->whole_unused++;
}

static bool has_whole(const struct model *model, uint32_t set)
{
	return model->sets[set].root == set || model->sets[set].kind == SET_VARIABLE;
}

/* Those at the end move into the places that are free, and the end is given back. */
void wholes_pack(struct model *model)
{
	uint32_t room = 256, count = model->whole_count - model->whole_unused, hole = model->whole_free;
	struct whole *wholes = model->wholes;

	while (room < count)
		room *= 2;
	for (uint32_t i = 1; i < model->set_count; i++)
		if (model->sets[i].root && has_whole(model, i) && model->sets[i].whole >= count) {
			struct whole *from = &wholes[model->sets[i].whole];
			uint32_t next;

			while (hole >= count)
				hole = wholes[hole].next;
			next = wholes[hole].next;
			wholes[hole] = *from;
			from->next = hole;
			hole = next;
		}
	for (uint32_t i = 1; i < model->set_count; i++)
		if (model->sets[i].root && model->sets[i].whole >= count)
			model->sets[i].whole = wholes[model->sets[i].whole].next;
	model->wholes = table_shrink(wholes, model->whole_room, room, sizeof(*wholes));
	model->whole_room = room;
	model->whole_count = count;
	model->whole_free = model->whole_unused = 0;
}
