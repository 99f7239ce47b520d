/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The atomic set that bytes belong to by themselves, and not by merging: that of
 * the struct instance which they lie in, of their block or variable, or one that
 * the user has named.
 */
#include "model/inside.h"
#include "model/spec.h"

#include <string.h>

/* Where the struct instance of a typed access begins. */
static uint64_t instance_of(uint64_t address, const struct place *place, uint64_t start, uint64_t size,
			    uint64_t element)
{
	if (!place->type_size)
		return start ? start : address & ~7ull;
	if (start) {
		/* A block that has room for one is one, whatever hangs behind it. */
		if (size < 2ull * place->type_size && size >= place->type_size)
			return start;
		uint64_t step = element ? element : place->type_size;
		uint64_t in_array = start + (address - start) / step * step;

		if (place->flags & ATOMSAN_SITE_ARRAY || in_array + place->offset == address ||
		    (element && element >= place->type_size))
			return in_array;
	}
	/* Of an array's element only the first one's offset is known. */
	return address - place->offset > address ? address & ~7ull : address - place->offset;
}

/* Does a struct fill the block, of which one of this type can only be a part? By its size alone the block
 * could be an array of the smaller ones. */
static bool is_part(const struct model *model, const struct memory_block *block, const struct place *place)
{
	uint32_t first = instance_get(model, block->start), size;
	const struct set *set = &model->sets[first];

	if (!first || set->kind != SET_INSTANCE)
		return false;
	size = map_get(&model->type_sizes,
		       set->root == first ? set_whole(model, first)->face.type : set->type);
	return size == block->size && size > place->type_size;
}

/*
 * Containers and other objects of the C++ library are mostly first accessed by functions of their own, which
 * do not know what they lie in; the optimiser may put that right, or not. Who called them knows: the
 * outermost of the receivers in the block, of the program's own types, which the bytes lie in. 0: there is
 * none.
 */
static uint64_t receiver_around(struct model *model, const struct thread *thread, uint64_t address,
				const struct memory_block *block, const struct place *place, uint16_t *type)
{
	if (!place->type_size || !set_is_library(model, place->type))
		return 0;
	for (uint32_t i = 0; i < thread->depth; i++) {
		const struct frame *frame = &thread->frames[i];
		uint64_t size = frame->receiver ? map_get(&model->type_sizes, frame->receiver_type) : 0;

		if (frame->receiver < block->start || address - frame->receiver >= size ||
		    frame->receiver + size > block->start + block->size ||
		    set_is_library(model, frame->receiver_type))
			continue;
		*type = frame->receiver_type;
		/* As instance_of has it for its other members. */
		return block->size < 2 * size ? block->start : frame->receiver;
	}
	return 0;
}

uint32_t set_natural(struct model *model, const struct thread *thread, uint64_t address,
		     const struct place *place)
{
	const struct spec *spec = model->options.spec;
	const struct memory_block *block = memory_block_of(&model->memory, address);
	struct trace_variable variable;
	uint64_t base;
	const char *word;

	if (block) {
		uint16_t around = 0;

		if (!place->named_set &&
		    (base = receiver_around(model, thread, address, block, place, &around)))
			return set_find_or_new(model, SET_INSTANCE, base, around, block->site);
		base = instance_of(address, place, block->start, block->size, 0);
		if (base != block->start && place->type_size && is_part(model, block, place))
			base = block->start;
		if (place->named_set)
			return set_find_or_new(model, SET_NAMED,
					       KEY_NAME | (uint64_t)place->named_set << 48 | base,
					       place->type, place->named_set);
		return set_find_or_new(model,
				       place->type_size              ? SET_INSTANCE
				       : block->kind == MEMORY_STACK ? SET_STACK
								     : SET_BLOCK,
				       base, place->type_size ? place->type : 0, block->site);
	}
	if (trace_variable_at(model->trace, address, &variable)) {
		if (spec && variable.name && spec_ignored_variable(spec, variable.name, variable.file))
			return set_find_or_new(model, SET_IGNORED, KEY_IGNORED, 0, 0);
		bool structured = variable.type && *variable.type;

		if (spec && (word = spec_variable_set(spec, variable.name, variable.file))) {
			uint32_t name = nametable_number(&model->names, word, strlen(word)) + 1;

			return set_find_or_new(model, SET_NAMED, KEY_NAME | name, 0, name);
		}
		base = structured
			       ? instance_of(address, place, variable.address, variable.size,
					     variable.flags & ATOMSAN_VARIABLE_ARRAY ? variable.element_size
										     : variable.size)
			       : guard_variable(model, thread, &variable, address);
		if (place->named_set)
			return set_find_or_new(model, SET_NAMED,
					       KEY_NAME | (uint64_t)place->named_set << 48 | base,
					       place->type, place->named_set);
		uint16_t type = structured ? (uint16_t)(nametable_number(&model->types, variable.type,
									 strlen(variable.type)) +
							1)
					   : 0;

		uint32_t index = set_find_or_new(model, structured ? SET_INSTANCE : SET_VARIABLE, base, type,
						 place_file(model, variable.file));

		if (structured && model->sets[index].root == index)
			set_whole(model, index)->face.variable = true;
		return index;
	}
	base = instance_of(address, place, 0, 0, 0);
	return set_find_or_new(model, place->type_size ? SET_INSTANCE : SET_BLOCK, base,
			       place->type_size ? place->type : 0, 0);
}
