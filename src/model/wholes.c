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

void wholes_pack(struct model *model)
{
	uint32_t room = 256, count = 1;
	struct whole *old = model->wholes;

	while (room < model->whole_count - model->whole_unused)
		room *= 2;
	model->wholes = table_resize(NULL, 0, room, sizeof(*model->wholes));
	model->wholes[0] = (struct whole){0};
	for (uint32_t i = 1; i < model->set_count; i++)
		if (model->sets[i].root && has_whole(model, i)) {
			struct whole *from = &old[model->sets[i].whole];

			model->wholes[count] = *from;
			from->next = count++;
		}
	for (uint32_t i = 1; i < model->set_count; i++)
		if (model->sets[i].root)
			model->sets[i].whole = old[model->sets[i].whole].next;
	table_free(old, model->whole_room, sizeof(*old));
	model->whole_room = room;
	model->whole_count = count;
	model->whole_free = model->whole_unused = 0;
}
