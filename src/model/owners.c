/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Owners. An object that is reached through a pointer member of a unit's receiver,
 * or over further pointers from there, or by a pointer variable, belongs to what
 * it is reached from. One that is reached from a second owner is shared, not owned:
 * the pointer member that led there merges no more.
 *
 * An object that has a lock of its own, as its type says, or is used under one that lies in it, stays a set
 * by itself: who takes one after the other of a table's does not mean them to be one. That is so from the
 * beginning, for an object is mostly made and listed under the lock of what it is reached from. But what a
 * function does to it by way of the table is one thing, be it in one critical section or in several: the
 * table is its *holder*, and functions on the holder are units for it.
 */
#include "model/inside.h"

/* Is it an object with a lock in it, or does the thread hold a lock that lies there? */
static bool guards_itself(struct model *model, const struct thread *thread, const struct set *object)
{
	const struct memory_block *block = memory_block_of(&model->memory, object->key);
	uint16_t type = set_whole(model, object->root)->face.type;
	uint64_t size = map_get(&model->type_sizes, type);

	if (object->kind != SET_INSTANCE || !object->key)
		return false;
	if (place_guarded(model, type))
		return true;
	if (block && block->start == object->key && block->size < 2 * size)
		size = block->size;
	for (uint32_t i = 0; i < thread->held_count; i++)
		if (thread->held[i].address - object->key < size)
			return true;
	return false;
}

/* An object is reached from an owner: through a pointer of its own, or over others. A variable does not hold
 * what it leads to, it has it. */
static void own(struct model *model, const struct thread *thread, uint32_t object_index, uint32_t owner_root,
		const struct place *place)
{
	struct set *object = &model->sets[object_index];

	if (object->root == owner_root)
		return;
	if (object->owned && !place->owned && set_whole(model, object->root)->heads) {
		/* It has an owner already. Two ways to one object: the pointer only refers to it. But what
		 * was owned may outlive its owner, and then the next one has it. */
		if (place->through)
			map_set(&model->shared_pointers, place->through, 1);
		return;
	}
	/* Variables own by name, and are not owned. */
	if (object->kind == SET_VARIABLE || object->kind == SET_FILE || object->kind >= SET_NAMED)
		return;
	if (object->root == object_index && !place->owned && !place->global &&
	    (set_whole(model, object_index)->holder || guards_itself(model, thread, object))) {
		set_whole(model, object_index)->holder = model->sets[owner_root].key;
		return;
	}
	if (!object->owned)
		set_whole(model, object->root)->heads--;
	object->owned = true;
	set_merge(model, object->root, owner_root);
}

void set_find_owner(struct model *model, struct thread *thread, uint32_t index, uint64_t address,
		    struct place *place)
{
	/* A way that is not the owner's own shows nothing of what has an owner. */
	if (model->sets[index].owned && !place->holder && !place->global)
		return;
	struct frame *frame = unit_frame(thread);
	struct routine *routine = frame ? routine_of(model, frame->function) : NULL;
	const struct memory_block *block;

	if (place->not_owned || (!place->owned && map_get(&model->shared_pointers, place->through))) {
		/* Nor will it ever. */
		place->leads = false;
		return;
	}
	if (place->global) {
		uint32_t pointer = guard_pointer(model, place->global);

		if (pointer)
			own(model, thread, index, set_root(model, pointer), place);
		return;
	}
	if (!frame || !frame->receiver || !routine->receiver_type) {
		/* Nor will it in another call of the function; a null pointer is no receiver either. */
		if (frame && !routine->receiver_type)
			place->ownerless = frame->function + 1;
		return;
	}
	bool direct = place->holder == routine->receiver_type;

	if (!direct && !place_reaches(model, routine->receiver_type, place->type_size ? place->type : 0)) {
		place->ownerless = frame->function + 1;
		return;
	}
	if (!direct && (model->sets[index].owned || frame->receiver == address - place->offset))
		return;
	if (frame->receiver_set && frame->receiver_turn == model->turn &&
	    frame->receiver_set == model->sets[index].root)
		return;
	block = memory_block_of(&model->memory, frame->receiver);
	if (block && block->kind == MEMORY_STACK &&
	    unit_cursor_user(model, thread, block->start, set_root(model, index)))
		return;
	own(model, thread, index, set_of_receiver(model, frame->receiver, routine->receiver_type, true),
	    place);
	frame->receiver_own = instance_get(model, frame->receiver);
	/* It stays so for as long as the call is open: whose stack it lies on is settled. */
	frame->receiver_owns = true;
}
