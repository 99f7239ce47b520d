/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Atomic sets. A struct instance is one, with what is nested in it by value; so
 * is a block without a struct type, and so is a group of variables of one file
 * that the same lock guards. Sets merge when the run shows that one belongs to
 * the other:
 *
 *   - an object is reached through a pointer member of the receiver: owned;
 *   - it is reached from there over further pointers (list nodes);
 *   - it is reached through a pointer variable of the file;
 *   - a larger struct turns out to contain it;
 *   - a variable is used under another lock, or none, as well.
 *
 * Which one bytes belong to by themselves is said by natural.c, who owns what by owners.c.
 */
#include "model/inside.h"
#include "model/spec.h"

#include <string.h>

/* See stays_whole. A test has another number. */
#ifndef SETS_LARGE
#define SETS_LARGE (1u << 16)
#endif

uint32_t set_new(struct model *model, enum set_kind kind, uint64_t key, uint16_t type, uint32_t name)
{
	uint32_t index = model->set_free, whole = whole_new(model);

	if (index) {
		model->set_free = model->sets[index].next;
	} else {
		if (model->set_count == model->set_room) {
			model->sets = table_resize(model->sets, model->set_room, model->set_room * 2ul,
						   sizeof(*model->sets));
			model->set_room *= 2;
		}
		index = model->set_count++;
	}
	model->sets[index] = (struct set){.root = index,
					  .whole = whole,
					  .next = index,
					  .previous = index,
					  .key = key,
					  .kind = (uint8_t)kind};
	model->wholes[whole] = (struct whole){.handle = model->sink.set_new(model->sink.user),
					      .members = 1,
					      .heads = 1,
					      .face = {.name = name, .type = type, .kind = (uint8_t)kind}};
	if (key)
		instance_add(model, index);
	model->stats.sets++;
	return index;
}

/* It is a root, or of a kind that keeps a whole of its own, or the whole is another's. */
static void set_free(struct model *model, uint32_t index, bool whole)
{
	if (whole)
		whole_free(model, model->sets[index].whole);
	model->sets[index] = (struct set){.next = model->set_free};
	model->set_free = index;
}

void sets_init(struct model *model)
{
	model->set_room = model->whole_room = 256;
	model->sets = table_resize(NULL, 0, model->set_room, sizeof(*model->sets));
	model->sets[0] = (struct set){0};
	model->wholes = table_resize(NULL, 0, model->whole_room, sizeof(*model->wholes));
	model->wholes[0] = (struct whole){0};
	model->set_count = model->whole_count = 1;
	if (model->options.sets == MODEL_SETS_ONE)
		model->everything = set_new(model, SET_ONE, 0, 0, 0);
}

void sets_release(struct model *model)
{
	table_free(model->sets, model->set_room, sizeof(*model->sets));
	table_free(model->wholes, model->whole_room, sizeof(*model->wholes));
	instances_release(model);
	map_release(&model->arrays);
}

static void unlink_key(struct model *model, uint32_t index)
{
	struct set *set = &model->sets[index];

	if (set->key)
		instance_remove(model, index);
	set->key = 0;
	model->turn++;
}

/* Is nothing left of the root's set that could be accessed, or become part of it again? */
static bool goes(const struct model *model, uint32_t root)
{
	const struct set *set = &model->sets[root];

	return !set->refs && set_whole(model, root)->members == 1 && set->kind < SET_NAMED &&
	       set->kind != SET_FILE;
}

static void free_root_if_idle(struct model *model, uint32_t root)
{
	struct whole *set = set_whole(model, root);

	if (!goes(model, root) || set->open)
		return;
	unlink_key(model, root);
	kept_drop_set(model, root);
	private_alone(model, root);
	model->sink.set_free(model->sink.user, set->handle);
	quiet_drop(model, set);
	set_free(model, root, true);
}

/* A granule leaves the set. */
static void unreference(struct model *model, uint32_t index)
{
	struct set *set = &model->sets[index];
	uint32_t root = set->root;

	if (--set->refs)
		return;
	if (!set->owned && (root != index || set->kind != SET_VARIABLE))
		set_whole(model, root)->heads--;
	if (root != index) {
		unlink_key(model, index);
		model->sets[set->previous].next = set->next;
		model->sets[set->next].previous = set->previous;
		set_whole(model, root)->members--;
		set_free(model, index, set->kind == SET_VARIABLE);
	} else if (set->kind != SET_VARIABLE) {
		/* The object is gone, whatever else has become part of its set. */
		unlink_key(model, index);
	}
	/* What was all that a unit works on is gone, and so is the unit, though its call goes on. */
	if (goes(model, root) && set_whole(model, root)->open)
		while (set_whole(model, root)->open) {
			private_drop(model, set_whole(model, root)->open);
			unit_end(model, set_whole(model, root)->open);
		}
	else
		free_root_if_idle(model, root);
}

void set_unit_gone(struct model *model, uint32_t set)
{
	free_root_if_idle(model, set);
}

/* All with the root `from` get the other one. */
static void join_rings(struct model *model, uint32_t from, uint32_t to)
{
	struct set *sets = model->sets;
	uint32_t member = from, whole = sets[from].whole;
	struct whole *source = &model->wholes[whole], *target = set_whole(model, to);

	sets[from].type = source->face.type;
	target->loud |= source->loud;
	target->members += source->members;
	target->heads += source->heads;
	do {
		sets[member].root = to;
		if (sets[member].kind != SET_VARIABLE)
			sets[member].whole = sets[to].whole;
		member = sets[member].next;
	} while (member != from);
	uint32_t after_from = sets[from].next, after_to = sets[to].next;

	sets[from].next = after_to;
	sets[after_to].previous = from;
	sets[to].next = after_from;
	sets[after_from].previous = to;
	model->sink.set_merge(model->sink.user, source->handle, target->handle);
	if (sets[from].kind != SET_VARIABLE)
		whole_free(model, whole);
}

uint32_t set_merge(struct model *model, uint32_t object, uint32_t owner)
{
	uint32_t from = object, to = owner;

	if (object == owner)
		return owner;
	struct set_face face = set_whole(model, owner)->face;

	/* The smaller one is moved, whichever that is. */
	if (set_whole(model, from)->members > set_whole(model, to)->members) {
		from = owner;
		to = object;
	}
	set_whole(model, to)->face = face;
	access_end(model);
	if (model->quiet) {
		quiet_end(model, from);
		quiet_end(model, to);
		if (kept_on(model, from))
			private_tell_set(model, from);
	}
	unit_merge(model, from, to);
	join_rings(model, from, to);
	model->stats.merges++;
	model->turn++;
	return to;
}

/*
 * What lies at the beginning of a struct has the same address, and may have been accessed first: the set is
 * called by the larger of the two. Or the block was cleared as plain memory, and then it is the struct's.
 */
static void name_outermost(struct model *model, uint32_t index, uint16_t type)
{
	struct set *set = &model->sets[index];
	struct set_face *face = &set_whole(model, index)->face;
	bool is_root = set->root == index;

	if (set->kind == SET_BLOCK || set->kind == SET_STACK) {
		if (!is_root)
			set->type = type;
		else if (face->kind == set->kind)
			face->kind = SET_INSTANCE, face->type = type;
		set->kind = SET_INSTANCE;
	} else if (is_root && face->kind == SET_INSTANCE &&
		   map_get(&model->type_sizes, type) > map_get(&model->type_sizes, face->type)) {
		face->type = type;
	}
}

uint32_t set_find_or_new(struct model *model, enum set_kind kind, uint64_t key, uint16_t type, uint32_t name)
{
	uint32_t index = instance_get(model, key);

	if (!index)
		return set_new(model, kind, key, type, name);
	if (kind == SET_INSTANCE)
		name_outermost(model, index, type);
	return index;
}

/* Sets that the user merges. */
static uint32_t apply_merge(struct model *model, uint32_t index, uint32_t name)
{
	uint32_t group = set_find_or_new(model, SET_NAMED, KEY_NAME | name, 0, name);

	return set_merge(model, set_root(model, index), set_root(model, group));
}

/* The group that the user put a variable in, be it an object or a number. */
uint32_t set_merged_variable(struct model *model, uint64_t address)
{
	const struct spec *spec = model->options.spec;
	struct trace_variable variable;
	const char *word;

	if (!spec || !spec_merges_variables(spec) || memory_block_of(&model->memory, address) ||
	    !trace_variable_at(model->trace, address, &variable) ||
	    !(word = spec_variable_merge(spec, variable.name, variable.file)))
		return 0;
	return nametable_number(&model->names, word, strlen(word)) + 1;
}

uint32_t set_of_group(const struct model *model, uint32_t name)
{
	uint32_t index = instance_get(model, KEY_NAME | name);

	return index ? set_root(model, index) : 0;
}

/*
 * Who clears or copies a struct knows its type, too, but not which of an array's it is: until a member is
 * accessed that is plain memory. A large block that is filled so stays one set, for a set takes more room
 * than most structs do.
 */
static bool stays_whole(struct model *model, uint64_t address)
{
	const struct memory_block *block = memory_block_of(&model->memory, address);

	return block && block->size > SETS_LARGE;
}

/*
 * Bytes that no member has, or that nobody has set, belong to their block when the
 * struct is copied, and the others to the struct. Where the two have become one, as
 * most have, the struct may have these bytes, too: a granule's bytes are forgotten at
 * once, so up to then nobody can tell the difference, and the granule is one cell.
 */
static uint32_t with_neighbour(const struct model *model, uint64_t address, uint32_t index, uint16_t type)
{
	const struct granule *granule = memory_granule((struct memory *)&model->memory, address);
	const struct set *own = &model->sets[index], *other;
	unsigned room;
	const struct cell *cell = memory_all(&model->memory, granule, &room);

	for (; room; room--, cell++) {
		other = &model->sets[cell->set];
		if (cell->set && cell->type == type && other->root == own->root && other->kind == own->kind &&
		    other->owned == own->owned)
			return cell->set;
	}
	return index;
}

/* Is the access made by a call, or one further in, that has allocated the block itself? */
static bool makes(struct model *model, const struct thread *thread, uint64_t address)
{
	const struct memory_block *block = memory_block_of(&model->memory, address);

	for (uint32_t i = thread->floor; block && i < thread->depth; i++)
		if (thread->frames[i].role != FRAME_INERT)
			return block->kind == MEMORY_HEAP &&
			       (int32_t)(block->born - (uint32_t)thread->frames[i].entered) >= 0;
	return false;
}

static uint32_t assign(struct model *model, const struct thread *thread, struct cell *cell, uint64_t address,
		       const struct place *place)
{
	uint32_t index = set_natural(model, thread, address, place), merged;

	cell->type = place->type;
	if (!place->type_size) {
		if (!stays_whole(model, address))
			cell->type = 0;
		else if (model->quiet)
			index = with_neighbour(model, address, index, place->type);
	}
	cell->set = index;
	model->sets[index].refs++;
	memory_chunk(&model->memory, address)->used++;
	if (model->sets[index].refs == 1 && model->sets[index].root == index && makes(model, thread, address))
		set_whole(model, index)->made = model->time;
	if (place->merged)
		apply_merge(model, index, place->merged);
	if (model->sets[index].refs == 1 && (merged = set_merged_variable(model, address)))
		apply_merge(model, index, merged);
	return index;
}

void set_assign_on(struct model *model, const struct place *place, uint64_t at, uint64_t end)
{
	const struct memory_block *block = memory_block_of(&model->memory, at);
	struct memory_chunk *chunk = memory_chunk(&model->memory, at);
	struct cell first = chunk->granules[memory_index(at)].cell;
	uint64_t behind = (at | ((1ull << MEMORY_CHUNK_SHIFT) - 1)) + 1;
	struct set *set = &model->sets[first.set];

	if (!block || place->type_size || place->merged || first.mask != UINT8_MAX || set->kind > SET_BLOCK ||
	    set->key != block->start)
		return;
	if (end > behind)
		end = behind;
	if (end > block->start + block->size)
		end = block->start + block->size;
	for (at = (at | 7) + 1; at + 8 <= end; at += 8) {
		struct cell *cell = &chunk->granules[memory_index(at)].cell;

		if (cell->mask || cell->apart || chunk->blocks[memory_index(at)])
			return;
		*cell = (struct cell){.set = first.set, .type = first.type, .mask = UINT8_MAX};
		set->refs++;
		chunk->used++;
		model->stats.locations++;
	}
}

static void forget_cell(struct model *model, struct memory_chunk *chunk, struct cell *cell, uint64_t granule)
{
	uint32_t index = cell->set;

	if (cell->mask) {
		if (cell_location(cell) || !model->quiet)
			model->sink.location_free(model->sink.user, cell->location);
		model->stats.locations--;
	}
	if (index && model->quiet)
		quiet_forget(model, set_root(model, index), granule, cell);
	memset(cell, 0, sizeof(*cell));
	if (index) {
		chunk->used--;
		unreference(model, index);
	}
}

static void forget_granule(struct model *model, struct memory_chunk *chunk, struct granule *granule)
{
	uint64_t address = chunk->number << MEMORY_CHUNK_SHIFT | (uint64_t)(granule - chunk->granules) * 8;

	uint32_t parts = granule_parts(granule);

	if (parts) {
		for (unsigned i = 0; i < memory_room(parts); i++)
			forget_cell(model, chunk, &memory_cells(&model->memory, parts)[i], address);
		memory_cells_free(&model->memory, parts);
		granule_set_parts(granule, 0);
	} else {
		forget_cell(model, chunk, &granule->cell, address);
	}
}

void set_share(struct model *model, const struct cell *cell, uint64_t address)
{
	if (!cell->set)
		return;
	model->sets[cell->set].refs++;
	memory_chunk(&model->memory, address)->used++;
}

void set_unshare(struct model *model, const struct cell *cell, uint64_t address)
{
	model->sets[cell->set].refs--;
	memory_chunk(&model->memory, address)->used--;
}

static void forget_in_chunk(struct model *model, struct memory_chunk *chunk, uint64_t start, uint64_t end)
{
	uint64_t first = chunk->number << MEMORY_CHUNK_SHIFT, stop = first + (1ull << MEMORY_CHUNK_SHIFT);

	if (stop > end)
		stop = end;
	for (uint64_t address = start > first ? start : first; address < stop && chunk->used; address += 8) {
		struct granule *granule = &chunk->granules[memory_index(address)];

		if (granule->cell.set || granule_parts(granule))
			forget_granule(model, chunk, granule);
	}
}

void set_forget(struct model *model, uint64_t start, uint64_t size)
{
	uint64_t address = start & ~7ull, end = start + size;
	uint64_t number = address >> MEMORY_CHUNK_SHIFT, behind = ((end - 1) >> MEMORY_CHUNK_SHIFT) + 1;

	if (model->kept_alive)
		kept_tell_bytes(model, address, end);
	if (address < end && behind - number > model->memory.chunk_count) {
		/* Terabytes may be mapped of which nothing is ever used. */
		for (uint32_t i = 0; i < model->memory.chunk_count; i++)
			if (model->memory.chunks[i]->number >= number &&
			    model->memory.chunks[i]->number < behind)
				forget_in_chunk(model, model->memory.chunks[i], address, end);
	} else if (address < end) {
		for (; number < behind; number++) {
			struct memory_chunk *chunk = memory_chunk_slow(&model->memory, number, false);

			if (chunk)
				forget_in_chunk(model, chunk, address, end);
		}
	}
	/* An object that has members of others and no granule of its own. */
	uint32_t index = instance_get(model, start);

	if (index && !model->sets[index].refs)
		unlink_key(model, index);
}

bool set_is_library(const struct model *model, uint16_t type)
{
	const char *name = type ? nametable_name(&model->types, type - 1u) : "";

	return !strncmp(name, "std::", 5) || !strncmp(name, "__gnu_cxx::", 11);
}

/* A container or a lock may lie at the beginning of an object of which nothing else is accessed by name: it
 * is called by what it is to those who work on it. */
static void name_receiver(struct model *model, uint32_t index, uint16_t type)
{
	struct set_face *face = &set_whole(model, index)->face;

	if (face->type == type || !type || face->kind != SET_INSTANCE)
		return;
	/* What it became part of may have got its name. */
	if ((model->sets[index].root == index || model->sets[index].type == face->type) &&
	    set_is_library(model, face->type) && !set_is_library(model, type))
		face->type = type;
}

uint32_t set_of_receiver(struct model *model, uint64_t receiver, uint16_t type, bool make)
{
	uint32_t index = instance_get(model, receiver);
	const struct memory_block *block;
	struct trace_variable variable;
	struct memory_chunk *chunk;

	if (index) {
		name_receiver(model, index, type);
		return set_root(model, index);
	}
	chunk = memory_chunk_slow(&model->memory, receiver >> MEMORY_CHUNK_SHIFT, false);
	if (chunk) {
		const struct granule *granule = &chunk->granules[memory_index(receiver)];
		unsigned room;
		const struct cell *cell = memory_all(&model->memory, granule, &room);

		for (unsigned i = 0; i < room; i++)
			if (cell[i].set && cell[i].mask >> (receiver & 7) & 1)
				return set_root(model, cell[i].set);
	}
	/* A pointer into the middle of something: nested by value. */
	block = chunk ? memory_block_of(&model->memory, receiver) : NULL;
	if (block && (index = instance_get(model, block->start)) && model->sets[index].kind == SET_INSTANCE &&
	    set_whole(model, set_root(model, index))->face.type != type)
		return set_root(model, index);
	if (!block && trace_variable_at(model->trace, receiver, &variable) &&
	    !(variable.flags & ATOMSAN_VARIABLE_ARRAY) && (index = instance_get(model, variable.address)))
		return set_root(model, index);
	return make ? set_new(model, SET_INSTANCE, receiver, type, 0) : 0;
}

/*
 * The bytes are members of two structs, of which one lies in the other: as far as it goes, a member has two
 * names. The rest of the larger one has not, if it is known where the smaller one lies.
 */
static void two_names(struct model *model, uint32_t index, const struct cell *cell, uint64_t address,
		      const struct place *place)
{
	const struct set *set = &model->sets[index];
	uint16_t type = set->root == index ? set_whole(model, index)->face.type : set->type;
	uint64_t size = map_get(&model->type_sizes, cell->type);
	uint64_t mine = address - place->offset, others = set->key;
	bool larger = place->type_size > size;
	/* Of the smaller one, inside the larger. */
	uint64_t from = larger ? others - mine : mine - others, bytes = larger ? size : place->type_size;

	/* Of a longer access this may be a later part, and of an array's only the first element's place is
	 * known. */
	if (!size || !place->bytes || place->bytes > 8 || place->flags & ATOMSAN_SITE_ARRAY ||
	    set->kind != SET_INSTANCE || type != cell->type ||
	    from + bytes > (larger ? place->type_size : size)) {
		from = 0;
		bytes = UINT32_MAX;
	}
	together_mixed(model, larger ? place->type : cell->type, from, bytes);
	together_mixed(model, larger ? cell->type : place->type, 0, UINT32_MAX);
}

uint32_t set_look_up(struct model *model, struct thread *thread, struct cell *cell, uint64_t address,
		     struct place *place, bool writes)
{
	uint32_t index = cell->set;

	if (model->everything)
		return model->everything;
	/* Nothing looks at the cell after a merge. */
	if (!index) {
		index = assign(model, thread, cell, address, place);
	} else if (!set_typed(cell, place)) {
		uint32_t other = set_natural(model, thread, address, place);

		if (!cell->type && other != index) {
			/* Cleared as plain memory, used as a struct now: it was nobody's before. */
			uint8_t mask = cell->mask;

			/* What was told is looked up again. */
			if (model->kept_alive &&
			    kept_tell_bytes(model, address & ~7ull, (address & ~7ull) + 8))
				return set_root(model, index);
			forget_cell(model, memory_chunk(&model->memory, address), cell, address & ~7ull);
			cell->mask = mask;
			if (!model->quiet)
				cell->location = model->sink.location_new(model->sink.user);
			model->stats.locations++;
			index = assign(model, thread, cell, address, place);
		} else {
			/* One struct lies in the other. The next access may well be by the other name again.
			 */
			if (cell->type)
				two_names(model, index, cell, address, place);
			cell->other = cell->type <= UINT8_MAX ? (uint8_t)cell->type : 0;
			cell->type = place->type;
			if (set_root(model, other) != set_root(model, index))
				set_merge(model, set_root(model, index), set_root(model, other));
		}
	}
	if (model->sets[index].kind == SET_IGNORED)
		return 0;
	if (model->sets[index].kind == SET_VARIABLE) {
		if (model->live_threads > 1)
			guard_find(model, thread, index, writes);
	} else if (place->leads) {
		set_find_owner(model, thread, index, address, place);
	}
	return set_root(model, index);
}

bool model_made(struct model *model, uint64_t address, uint64_t begin)
{
	struct memory_chunk *chunk = memory_chunk_slow(&model->memory, address >> MEMORY_CHUNK_SHIFT, false);
	unsigned room;

	if (!chunk)
		return false;
	const struct cell *cell = memory_all(&model->memory, &chunk->granules[memory_index(address)], &room);

	for (unsigned i = 0; i < room; i++)
		if (cell[i].set && cell[i].mask >> (address & 7) & 1)
			return begin && set_whole(model, set_root(model, cell[i].set))->made == begin;
	return false;
}
