/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Opens a program. All numbers in it are checked here, once, so that the
 * analyses may follow them blindly.
 */
#include "lint/program.h"

#include <string.h>

static const char *const op_texts[] = {
#define X(name, text) [PROGRAM_##name] = text,
	PROGRAM_OPS(X)
#undef X
};

const char *program_op_text(enum program_op op)
{
	return op_texts[op];
}

static bool range(uint32_t first, uint32_t count, uint32_t of)
{
	return first <= of && count <= of - first;
}

static bool values_fit(const struct program *p)
{
	for (uint32_t i = 0; i < p->values_count; i++) {
		const struct program_value *v = &p->values[i];
		bool fits = true;

		switch ((enum program_value_kind)v->kind) {
		case VALUE_RESULT:
			fits = v->index < p->insts_count;
			break;
		case VALUE_PARAMETER:
			break;
		case VALUE_GLOBAL:
			fits = v->index < p->globals_count;
			break;
		case VALUE_FUNCTION:
			fits = v->index < p->functions_count;
			break;
		case VALUE_PLACE:
			/* Earlier, so that places of places end. */
			fits = v->index < i;
			break;
		case VALUE_NONE:
		case VALUE_NUMBER:
		case VALUE_OTHER:
			break;
		default:
			fits = false;
		}
		if (!fits || v->function >= p->functions_count)
			return false;
	}
	return true;
}

static bool inst_fits(const struct program *p, const struct program_inst *i)
{
	if (i->op >= PROGRAM_OP_COUNT || i->value >= p->values_count ||
	    !range(i->operand, i->operand_count, p->operands_count) || i->callee >= p->functions_count ||
	    i->block >= p->blocks_count || i->read >= p->notes_count || i->write >= p->notes_count ||
	    i->place >= p->places_count)
		return false;
	uint32_t of_values = i->op == PROGRAM_PHI ? i->operand_count / 2 : i->operand_count;

	for (uint32_t n = 0; n < i->operand_count; n++)
		if (p->operands[i->operand + n] >= (n < of_values ? p->values_count : p->blocks_count))
			return false;
	return true;
}

static bool texts_fit(const struct program *p)
{
	if (!p->texts_count || p->texts[0] || p->texts[p->texts_count - 1])
		return false;
	for (uint32_t i = 0; i < p->functions_count; i++) {
		const struct program_function *f = &p->functions[i];

		if (f->name >= p->texts_count || f->linkage >= p->texts_count || f->file >= p->texts_count ||
		    f->signature >= p->texts_count || f->receiver >= p->texts_count)
			return false;
	}
	for (uint32_t i = 0; i < p->globals_count; i++)
		if (p->globals[i].name >= p->texts_count || p->globals[i].file >= p->texts_count)
			return false;
	for (uint32_t i = 0; i < p->notes_count; i++)
		if (p->notes[i].type >= p->texts_count || p->notes[i].member >= p->texts_count ||
		    p->notes[i].base >= p->texts_count || p->notes[i].inner >= p->texts_count)
			return false;
	for (uint32_t i = 0; i < p->places_count; i++)
		if (p->places[i].file >= p->texts_count || p->places[i].function >= p->texts_count)
			return false;
	for (uint32_t i = 0; i < p->lost_count; i++)
		if (p->lost[i] >= p->places_count)
			return false;
	for (uint32_t i = 0; i < p->blind_spots_count; i++)
		if (p->blind_spots[i] >= p->texts_count)
			return false;
	return true;
}

static bool fits(const struct program *p)
{
	if (!p->functions_count || !p->blocks_count || !p->insts_count || !p->values_count ||
	    !p->globals_count || !p->notes_count || !p->places_count || !texts_fit(p) || !values_fit(p))
		return false;
	for (uint32_t i = 0; i < p->functions_count; i++) {
		const struct program_function *f = &p->functions[i];

		if (!range(f->block, f->block_count, p->blocks_count) || f->value >= p->values_count ||
		    !range(f->parameter, f->parameter_count, p->values_count))
			return false;
	}
	for (uint32_t i = 0; i < p->blocks_count; i++) {
		const struct program_block *b = &p->blocks[i];

		if ((i && !b->inst_count) || b->function >= p->functions_count ||
		    !range(b->inst, b->inst_count, p->insts_count) ||
		    !range(b->edge, b->edge_count, p->edges_count))
			return false;
	}
	for (uint32_t i = 0; i < p->edges_count; i++)
		if (p->edges[i] >= p->blocks_count)
			return false;
	for (uint32_t i = 0; i < p->insts_count; i++)
		if (!inst_fits(p, &p->insts[i]))
			return false;
	for (uint32_t i = 0; i < p->globals_count; i++)
		if (p->globals[i].value >= p->values_count ||
		    !range(p->globals[i].field, p->globals[i].field_count, p->fields_count))
			return false;
	for (uint32_t i = 0; i < p->fields_count; i++)
		if (p->fields[i].value >= p->values_count)
			return false;
	return true;
}

int program_open(struct program *p, const void *image, size_t size, struct err *err)
{
	const struct program_header *header = image;
	static const size_t sizes[] = {
#define X(name, type) [TABLE_##name] = sizeof(type),
		PROGRAM_TABLES(X)
#undef X
	};

	memset(p, 0, sizeof(*p));
	if (size < sizeof(*header) || memcmp(header->magic, PROGRAM_MAGIC, sizeof(header->magic)) ||
	    header->size != size)
		return err_set(err, "the program was not read to its end: build atomsan again with 'make'");
	for (int i = 0; i < PROGRAM_TABLE_COUNT; i++)
		if (header->tables[i].offset % 8 || header->tables[i].offset > size ||
		    header->tables[i].count > (size - header->tables[i].offset) / sizes[i] ||
		    header->tables[i].count > UINT32_MAX)
			return err_set(err, "the tables of the program that was read contradict themselves");
#define X(name, type)                                                                        \
	p->name = (const type *)((const char *)image + header->tables[TABLE_##name].offset); \
	p->name##_count = (uint32_t)header->tables[TABLE_##name].count;
	PROGRAM_TABLES(X)
#undef X
	p->image = image;
	p->size = size;
	if (!fits(p))
		return err_set(err, "the program that was read contradicts itself");
	return 0;
}
