/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What sets, variables and locks are called in reports. */
#include "model/inside.h"
#include "trace/describe.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const rules[] = {
#define X(name, text) [MODEL_RULE_##name] = text,
	MODEL_RULES(X)
#undef X
};

const char *model_rule_text(uint32_t rule)
{
	return rule < sizeof(rules) / sizeof(*rules) ? rules[rule] : "?";
}

/* A variable by its address: "counter", "table[3]", or "counter+4" for a byte in the middle of it. */
static char *by_address(const struct model *model, uint64_t address)
{
	const char *std = trace_std_name(model->trace, TRACE_STD_VARIABLES, address);
	struct trace_variable variable;
	char *name, *inside;

	if (std)
		return mem_text(std);
	if (!trace_variable_at(model->trace, address, &variable) || !variable.name)
		return NULL;
	if (variable.flags & ATOMSAN_VARIABLE_ARRAY && variable.element_size) {
		uint64_t offset = address - variable.address, rest = offset % variable.element_size;

		name = mem_textf("%s[%" PRIu64 "]", variable.name, offset / variable.element_size);
		if (!rest)
			return name;
		inside = mem_textf("%s+%" PRIu64, name, rest);
		free(name);
		return inside;
	}
	if (address == variable.address)
		return mem_text(variable.name);
	return mem_textf("%s+%" PRIu64, variable.name, address - variable.address);
}

static char *block_name(const struct model *model, uint32_t site, bool stack)
{
	struct trace_site s;

	if (site == TRACE_NO_SITE || trace_site(model->trace, site, &s, NULL) < 0 || !s.function)
		return mem_text(stack ? "an object on the stack" : "a block");
	if (stack && s.base)
		return mem_textf("%s of %s", s.base, s.function);
	return mem_textf("block of %s", s.function);
}

static uint32_t set_at(const struct model *model, uint64_t address)
{
	struct memory *memory = (struct memory *)&model->memory; /* which is looked up, not changed */
	struct memory_chunk *chunk = memory_chunk_slow(memory, address >> MEMORY_CHUNK_SHIFT, false);
	const struct granule *granule = chunk ? &chunk->granules[memory_index(address)] : NULL;
	unsigned room;

	if (!granule)
		return 0;
	const struct cell *cells = memory_all(memory, granule, &room);

	/* Bytes that were freed since are nobody's, whatever became of their neighbours. */
	for (unsigned i = 0; i < room; i++)
		if (cells[i].mask >> (address & 7) & 1)
			return cells[i].set;
	return 0;
}

/* Of bytes that were freed since, what the access took them for. */
static char *gone_name(const struct model *model, uint32_t site)
{
	struct trace_site s;

	if (site == TRACE_NO_SITE || trace_site(model->trace, site, &s, NULL) < 0)
		return mem_text("freed memory");
	if (s.type && *s.type)
		return mem_text(s.type);
	return s.function ? mem_textf("freed memory of %s", s.function) : mem_text("freed memory");
}

/* Who fills all of a block without a type first leaves the name to the few bytes in front of it, as
 * std::make_shared() does: then the struct that was accessed says more, if it is the larger one. */
static const char *instance_name(const struct model *model, uint32_t index, uint32_t site)
{
	const struct whole *whole = set_whole(model, set_root(model, index));
	uint16_t type = whole->face.type;
	uint64_t size = map_get(&model->type_sizes, type);
	struct trace_site s;

	if (size && !whole->face.variable && whole->members == 1 && site != TRACE_NO_SITE &&
	    trace_site(model->trace, site, &s, NULL) >= 0 && s.type && *s.type && s.type_size > size)
		return s.type;
	return type ? nametable_name(&model->types, type - 1u) : "?";
}

char *model_set_name(const struct model *model, uint64_t address, uint32_t site)
{
	uint32_t index = model->everything ? model->everything : set_at(model, address);

	if (!index)
		return gone_name(model, site);
	const struct set_face *face = &set_whole(model, set_root(model, index))->face;

	switch (face->kind) {
	case SET_FILE:
	case SET_VARIABLE:
		return mem_textf("globals of %s",
				 face->name ? nametable_name(&model->files, face->name - 1) : "?");
	case SET_BLOCK:
	case SET_STACK:
		return block_name(model, face->name, face->kind == SET_STACK);
	case SET_NAMED:
		return mem_text(face->name ? nametable_name(&model->names, face->name - 1) : "?");
	case SET_ONE:
		return mem_text("everything");
	default:
		return mem_text(instance_name(model, index, site));
	}
}

char *model_variable_name(const struct model *model, const struct model_access *access)
{
	const struct memory_block *block;
	struct trace_site site;
	char *name;

	/* The memory is looked up, not changed. */
	struct memory *memory = (struct memory *)&model->memory;

	if (access->site != TRACE_NO_SITE && trace_site(model->trace, access->site, &site, NULL) >= 0) {
		if (site.type && site.member)
			return describe_variable(&site);
		if ((name = by_address(model, access->address)))
			return name;
		block = memory_block_of(memory, access->address);
		if (block)
			return block_name(model, block->site, block->kind == MEMORY_STACK);
		name = describe_variable(&site);
		if (name)
			return name;
	}
	name = by_address(model, access->address);
	return name ? name : mem_textf("%#" PRIx64, access->address);
}

/* By which the set is called, or was before it became part of another. */
static uint16_t set_type(const struct model *model, uint32_t index)
{
	return set_root(model, index) == index ? set_whole(model, index)->face.type : model->sets[index].type;
}

char *model_lock_name(const struct model *model, uint64_t address)
{
	const char *std = trace_std_name(model->trace, TRACE_STD_LOCKS, address);
	struct memory *memory = (struct memory *)&model->memory;
	const struct memory_block *block;
	uint32_t index;
	uint16_t type;
	char *name;

	if (std)
		return mem_text(std);
	if ((name = by_address(model, address)))
		return name;
	block = memory_block_of(memory, address);
	if (block && (index = instance_get(model, block->start)) && (type = set_type(model, index)))
		return mem_textf("lock of %s at %#" PRIx64, nametable_name(&model->types, type - 1u),
				 block->start);
	return mem_textf("lock %#" PRIx64, address);
}
