/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "model/memory.h"

#include "base/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void memory_init(struct memory *memory)
{
	*memory = (struct memory){0};
	/* Number 0 stands for none. */
	memory->cell_count = 2;
	memory->cell_room = 128;
	memory->cells = table_resize(NULL, 0, memory->cell_room, sizeof(*memory->cells));
	memset(memory->cells, 0, memory->cell_count * sizeof(*memory->cells));
	memory->block_count = memory->block_room = 1;
	memory->blocks = mem_zalloc(1, sizeof(*memory->blocks));
}

void memory_release(struct memory *memory)
{
	for (uint32_t i = 0; i < memory->chunk_count; i++)
		munmap(memory->chunks[i], sizeof(**memory->chunks));
	free(memory->chunks);
	table_free(memory->cells, memory->cell_room, sizeof(*memory->cells));
	free(memory->blocks);
	map_release(&memory->numbers);
}

struct memory_chunk *memory_chunk_slow(struct memory *memory, uint64_t number, bool make)
{
	uint32_t index = map_get(&memory->numbers, number);

	if (!index) {
		if (!make)
			return NULL;
		if (memory->chunk_count == memory->chunk_room) {
			memory->chunk_room = memory->chunk_room ? memory->chunk_room * 2 : 64;
			memory->chunks =
				mem_resize(memory->chunks, memory->chunk_room, sizeof(*memory->chunks));
		}
		/* Zero pages that cost nothing until something is stored in them. */
		struct memory_chunk *chunk = mmap(NULL, sizeof(*chunk), PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (chunk == MAP_FAILED)
			chunk = mem_alloc(SIZE_MAX); /* says that memory is out */
		chunk->number = number;
		memory->chunks[memory->chunk_count++] = chunk;
		index = memory->chunk_count;
		map_set(&memory->numbers, number, index);
	}
	memory->cache[memory_slot(number)].number = number;
	return memory->cache[memory_slot(number)].chunk = memory->chunks[index - 1];
}

void memory_block_add(struct memory *memory, uint64_t start, uint64_t size, uint32_t site,
		      enum memory_kind kind)
{
	struct memory_chunk *chunk = memory_chunk(memory, start);
	uint32_t index, granule = memory_index(start);

	/* What lies further back in a larger one counts as memory of its own. */
	if (size > MEMORY_LARGEST)
		size = MEMORY_LARGEST;

	if (chunk->blocks[granule])
		memory_block_remove(memory, start);
	index = memory->block_free;
	if (index) {
		memory->block_free = memory->blocks[index].next;
	} else {
		if (memory->block_count == memory->block_room) {
			memory->block_room *= 2;
			memory->blocks =
				mem_resize(memory->blocks, memory->block_room, sizeof(*memory->blocks));
		}
		index = memory->block_count++;
	}
	memory->blocks[index] =
		(struct memory_block){.start = start, .size = size, .site = site, .kind = (uint8_t)kind};
	memory->live_blocks++;
	chunk->blocks[granule] = index;
	chunk->starts[granule / 64] |= 1ull << granule % 64;
	chunk->started |= 1ull << granule / 64;
	if (size)
		for (uint64_t n = chunk->number + 1; n <= (start + size - 1) >> MEMORY_CHUNK_SHIFT; n++)
			memory_chunk_slow(memory, n, true)->cover = index;
}

void memory_block_remove(struct memory *memory, uint64_t start)
{
	struct memory_chunk *chunk = memory_chunk(memory, start);
	uint32_t granule = memory_index(start), index = chunk->blocks[granule];
	struct memory_block *block = &memory->blocks[index];

	if (!index)
		return;
	chunk->blocks[granule] = 0;
	chunk->starts[granule / 64] &= ~(1ull << granule % 64);
	if (!chunk->starts[granule / 64])
		chunk->started &= ~(1ull << granule / 64);
	if (block->size)
		for (uint64_t n = chunk->number + 1; n <= (start + block->size - 1) >> MEMORY_CHUNK_SHIFT;
		     n++) {
			struct memory_chunk *later = memory_chunk_slow(memory, n, false);

			if (later && later->cover == index)
				later->cover = 0;
		}
	block->next = memory->block_free;
	memory->block_free = index;
	memory->live_blocks--;
}

const struct memory_block *memory_block_at(struct memory *memory, uint64_t start)
{
	uint32_t index = memory_chunk(memory, start)->blocks[memory_index(start)];

	return index && memory->blocks[index].start == start ? &memory->blocks[index] : NULL;
}

const struct memory_block *memory_block_of(struct memory *memory, uint64_t address)
{
	struct memory_chunk *chunk = memory_chunk(memory, address);
	uint32_t granule = memory_index(address), word = granule / 64;
	uint64_t bits = chunk->starts[word] & (~0ull >> (63 - granule % 64));
	uint32_t index;

	if (!bits && chunk->started & ((1ull << word) - 1)) {
		word = 63 - (uint32_t)__builtin_clzll(chunk->started & ((1ull << word) - 1));
		bits = chunk->starts[word];
	}
	index = bits ? chunk->blocks[word * 64 + 63 - (uint32_t)__builtin_clzll(bits)] : chunk->cover;
	if (!index)
		return NULL;
	const struct memory_block *block = &memory->blocks[index];

	return address - block->start < block->size ? block : NULL;
}

static uint32_t cells_new(struct memory *memory, uint32_t many)
{
	uint32_t parts = memory->cells_free[many], room = memory_room(many);

	if (parts) {
		memory->cells_free[many] = memory_cells(memory, parts)->set;
	} else {
		if (memory->cell_count + room > memory->cell_room) {
			memory->cells = table_resize(memory->cells, memory->cell_room,
						     memory->cell_room * 2ul, sizeof(*memory->cells));
			memory->cell_room *= 2;
		}
		parts = memory->cell_count | many;
		memory->cell_count += room;
	}
	memset(memory_cells(memory, parts), 0, room * sizeof(*memory->cells));
	return parts;
}

void memory_cells_free(struct memory *memory, uint32_t parts)
{
	memset(memory_cells(memory, parts), 0, memory_room(parts) * sizeof(*memory->cells));
	memory_cells(memory, parts)->set = memory->cells_free[parts & MEMORY_MANY];
	memory->cells_free[parts & MEMORY_MANY] = parts;
}

struct cell *memory_cells_grow(struct memory *memory, struct granule *granule, unsigned count)
{
	uint32_t before = granule_parts(granule), parts = before;

	if (!before) {
		parts = cells_new(memory, 0);
		memory_cells(memory, parts)[0] = granule->cell;
	} else if (count == memory_room(before)) {
		parts = cells_new(memory, MEMORY_MANY);
		memcpy(memory_cells(memory, parts), memory_cells(memory, before),
		       count * sizeof(*memory->cells));
		memory_cells_free(memory, before);
	}
	granule_set_parts(granule, parts);
	return memory_cells(memory, parts);
}

static void clear_mark(struct cell *cell)
{
	if (cell->location & CELL_MARK)
		cell->location = cell->read = cell->written = 0;
}

void memory_clear_marks(struct memory *memory)
{
	for (uint32_t i = 0; i < memory->chunk_count; i++)
		for (uint32_t k = 0; k < MEMORY_CHUNK_GRANULES; k++)
			clear_mark(&memory->chunks[i]->granules[k].cell);
	for (uint32_t i = 0; i < memory->cell_count; i++)
		clear_mark(&memory->cells[i]);
}
