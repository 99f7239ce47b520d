/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Variables of a file that one lock guards are a group. A variable joins one
 * when it is first written while there are several threads: what is only read
 * then is configuration, and belongs to no invariant. One that is used under a
 * lock of another group, or under none, as well, makes one group of both.
 *
 * Each element of an array is such a variable, if the array is first used under
 * a lock while there are several threads: heads[i], tails[i] and count[i] that
 * locks[i] guards are a group. Where one lock guards all of them they come
 * together again. An array that is filled in before, or without locks, stays
 * one variable, and so does a large one.
 */
#include "model/inside.h"

enum { MOST_ELEMENTS = 4096, LEAST_SIZE = 4 };

static bool holds(const struct thread *thread, uint64_t lock)
{
	for (uint32_t i = 0; i < thread->held_count; i++)
		if (thread->held[i].address == lock)
			return true;
	return false;
}

uint64_t guard_variable(struct model *model, const struct thread *thread,
			const struct trace_variable *variable, uint64_t address)
{
	uint64_t element = variable->element_size;

	if (!(variable->flags & ATOMSAN_VARIABLE_ARRAY) || element < LEAST_SIZE ||
	    variable->size / element > MOST_ELEMENTS || instance_get(model, variable->address))
		return variable->address;
	if (!map_get(&model->arrays, variable->address) && (!thread->held_count || model->live_threads < 2))
		return variable->address;
	return KEY_ELEMENT | (variable->address + (address - variable->address) / element * element);
}

uint32_t guard_pointer(const struct model *model, uint64_t address)
{
	uint32_t index = instance_get(model, address);

	return index ? index : map_get(&model->arrays, address);
}

static bool is_element(const struct set *set)
{
	return set->key >> 62 == KEY_ELEMENT >> 62;
}

/*
 * Others of the array may be a group already. The element joins them if the lock
 * that guards them is held, or none is. One that is in a group stands for all,
 * once there is such.
 */
static bool joins_others(struct model *model, const struct thread *thread, uint32_t index, uint32_t locks,
			 bool writes)
{
	struct set *set = &model->sets[index];
	struct whole *own = set_whole(model, index);
	struct trace_variable variable;
	uint32_t other;

	/* What is only read is looked at anew only if that can have changed. */
	if (!writes && own->looked == locks + 1 && own->looked_turn == model->array_turn)
		return false;
	own->looked = locks + 1;
	own->looked_turn = model->array_turn;
	if (!trace_variable_at(model->trace, set->key & ~KEY_ELEMENT, &variable))
		return false;
	other = map_get(&model->arrays, variable.address);
	if (!other || (writes && !model->sets[other].owned)) {
		map_set(&model->arrays, variable.address, index);
		model->array_turn++;
		return false;
	}
	if (!model->sets[other].owned ||
	    (thread->held_count && !holds(thread, set_whole(model, set_root(model, other))->face.guard)))
		return false;
	set->owned = true;
	set_merge(model, set_root(model, index), set_root(model, other));
	return true;
}

void guard_find(struct model *model, struct thread *thread, uint32_t index, bool writes)
{
	struct set *set = &model->sets[index];
	struct whole *own = set_whole(model, index), *whole = set_whole(model, set->root);
	uint32_t locks = held_set(model, thread), file = own->face.name;
	uint64_t guard = thread->held_count ? thread->held[thread->held_count - 1].address : 0;

	if (own->guarded == locks + 1)
		return;
	if (!set->owned && is_element(set) && joins_others(model, thread, index, locks, writes))
		return;
	if (!set->owned && !writes)
		return;
	own->guarded = locks + 1;
	if (set->owned && whole->face.guard && holds(thread, whole->face.guard))
		return;
	if (set->owned && !guard && !whole->face.guard)
		return;
	set->owned = true;

	uint64_t key = KEY_GROUP | map_hash(guard + file * 0x9e3779b97f4a7c15ull) >> 2;
	uint32_t group = instance_get(model, key);

	if (!group) {
		group = set_new(model, SET_FILE, key, 0, file);
		set_whole(model, group)->face.guard = guard;
	}
	set_merge(model, set_root(model, index), set_root(model, group));
}
