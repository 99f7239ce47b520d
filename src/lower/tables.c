/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tables of a program while they grow, and their way into a file. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lower/lower.h"

struct table {
	char *bytes;
	size_t count, room, size;
};
static struct table tables[PROGRAM_TABLE_COUNT];

static uint32_t append(struct table *t, const void *entries, size_t count)
{
	BUG_ON(t->count + count >= UINT32_MAX);
	if (t->count + count > t->room) {
		t->room = (t->count + count) * 2 + 64;
		t->bytes = mem_resize(t->bytes, t->room, t->size);
	}
	memcpy(t->bytes + t->count * t->size, entries, count * t->size);
	t->count += count;
	return (uint32_t)(t->count - count);
}

#define X(name, type)                                           \
	uint32_t table_##name(const type *entry)                \
	{                                                       \
		return append(&tables[TABLE_##name], entry, 1); \
	}
PROGRAM_TABLES(X)
#undef X

/* ---- texts, each once ---- */

static uint32_t *text_slots;
static size_t text_room, text_count;

static size_t text_slot(const char *text)
{
	size_t hash = 1469598103934665603ull;

	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 1099511628211ull;
	for (size_t at = hash & (text_room - 1);; at = (at + 1) & (text_room - 1))
		if (!text_slots[at] || !strcmp(tables[TABLE_texts].bytes + text_slots[at], text))
			return at;
}

uint32_t table_text(const char *text)
{
	if (!text || !*text)
		return 0;
	if (text_count * 2 >= text_room) {
		uint32_t *old = text_slots;
		size_t old_room = text_room;

		text_room = old_room ? old_room * 2 : 4096;
		text_slots = mem_zalloc(text_room, sizeof(*text_slots));
		for (size_t i = 0; i < old_room; i++)
			if (old[i])
				text_slots[text_slot(tables[TABLE_texts].bytes + old[i])] = old[i];
		free(old);
	}
	size_t at = text_slot(text);

	if (!text_slots[at]) {
		text_slots[at] = append(&tables[TABLE_texts], text, strlen(text) + 1);
		text_count++;
	}
	return text_slots[at];
}

void table_blind_spot(const char *sentence)
{
	uint32_t text = table_text(sentence);

	table_blind_spots(&text);
}

void tables_begin(void)
{
	static const char nothing[256];

#define X(name, type)                             \
	tables[TABLE_##name].size = sizeof(type); \
	append(&tables[TABLE_##name], nothing, 1);
	PROGRAM_TABLES(X)
#undef X
}

#define AT(type, name, table)                                             \
	type *table_##name##_at(uint32_t n)                               \
	{                                                                 \
		return &((type *)(void *)tables[TABLE_##table].bytes)[n]; \
	}
AT(struct program_function, function, functions)
AT(struct program_block, block, blocks)
AT(struct program_inst, inst, insts)
AT(struct program_value, value, values)
AT(struct program_global, global, globals)
AT(uint32_t, operand, operands)
#undef AT

uint32_t table_count(enum program_table table)
{
	return (uint32_t)tables[table].count;
}

/* ---- numbers of LLVM's values ---- */

static struct {
	LLVMValueRef value;
	uint32_t number;
} *numbers;
static size_t number_room, number_count;

static size_t number_slot(LLVMValueRef value)
{
	size_t at = ((size_t)value >> 4) * 0x9e3779b97f4a7c15ull >> 20 & (number_room - 1);

	while (numbers[at].value && numbers[at].value != value)
		at = (at + 1) & (number_room - 1);
	return at;
}

uint32_t number_find(LLVMValueRef value)
{
	return number_room ? numbers[number_slot(value)].number : 0;
}

void number_set(LLVMValueRef value, uint32_t number)
{
	if (number_count * 2 >= number_room) {
		__typeof__(numbers) old = numbers;
		size_t old_room = number_room;

		number_room = old_room ? old_room * 2 : 65536;
		numbers = mem_zalloc(number_room, sizeof(*numbers));
		for (size_t i = 0; i < old_room; i++)
			if (old[i].value)
				numbers[number_slot(old[i].value)] = old[i];
		free(old);
	}
	size_t at = number_slot(value);

	number_count += !numbers[at].value;
	numbers[at].value = value;
	numbers[at].number = number;
}

/* ---- writing ---- */

static int put(int fd, const void *bytes, size_t size)
{
	const char *from = bytes;

	while (size) {
		ssize_t n = write(fd, from, size);

		if (n <= 0)
			return -1;
		from += n;
		size -= (size_t)n;
	}
	return 0;
}

int tables_write(int fd)
{
	struct program_header header = {0};
	uint64_t offset = sizeof(header);
	static const char zeros[8];

	memcpy(header.magic, PROGRAM_MAGIC, sizeof(header.magic));
	for (int i = 0; i < PROGRAM_TABLE_COUNT; i++) {
		header.tables[i].offset = offset;
		header.tables[i].count = tables[i].count;
		offset += (tables[i].count * tables[i].size + 7) / 8 * 8;
	}
	header.size = offset;
	if (put(fd, &header, sizeof(header)))
		return -1;
	for (int i = 0; i < PROGRAM_TABLE_COUNT; i++) {
		size_t bytes = tables[i].count * tables[i].size;

		if (put(fd, tables[i].bytes, bytes) || put(fd, zeros, (8 - bytes % 8) % 8))
			return -1;
	}
	return 0;
}
