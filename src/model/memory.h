/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The program's memory as the model sees it: granules of 8 bytes, with the
 * locations in them and the atomic sets that these belong to, and the blocks
 * (heap blocks, stack objects) that they lie in.
 *
 * A location is a group of bytes of one granule that were always accessed
 * together. Most granules hold one, a granule with two ints holds two; when an
 * access covers only a part of a location, the location is split.
 */
#ifndef ATOMSAN_MODEL_MEMORY_H
#define ATOMSAN_MODEL_MEMORY_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MEMORY_CHUNK_SHIFT 15 /* 32 KB of the program's memory */
#define MEMORY_CHUNK_GRANULES (1u << (MEMORY_CHUNK_SHIFT - 3))

/* In the place of a location: the unit that accessed the bytes last, which the sink has not been told. */
#define CELL_MARK 0x80000000u

/* Bytes of a granule that are one location and belong to one set. */
struct cell {
	uint32_t set;          /* index of the model's set; 0: none yet */
	uint32_t location;     /* the sink's handle, or a mark; see notes.h */
	uint16_t type;         /* the struct type by which the set was found */
	uint8_t mask;          /* which bytes */
	uint8_t other;         /* another type that is known to lie in the set, or around it; 0: none */
	bool met : 1;          /* two units that were open met here */
	bool apart : 1;        /* it stands for several: see struct granule */
	uint8_t read, written; /* with a mark: the bytes that the unit has done this to */
	uint8_t none;
};
_Static_assert(sizeof(struct cell) == 16, "the model has one for every 8 bytes of the program's");

/* Are they the same but for what is done to their bytes? */
static inline bool cell_alike(const struct cell *one, const struct cell *other)
{
	return !memcmp(one, other, offsetof(struct cell, read));
}

/* The sink's handle; 0: it has none. */
static inline uint32_t cell_location(const struct cell *cell)
{
	return cell->location & CELL_MARK ? 0 : cell->location;
}

/* The only cell, or where the others are: one of no bytes, with their number in the place of a location. */
struct granule {
	struct cell cell;
};

/* See memory_cells; 0: there is one cell, or none. */
static inline uint32_t granule_parts(const struct granule *granule)
{
	return granule->cell.apart ? granule->cell.location : 0;
}

static inline void granule_set_parts(struct granule *granule, uint32_t parts)
{
	granule->cell = (struct cell){.location = parts, .apart = parts != 0};
}

/*
 * A granule whose bytes went separate ways has several cells, with disjoint masks;
 * the first of mask 0 ends them if there are less than there is room for. Most have
 * two. A number with MEMORY_MANY has room for as many as there are bytes.
 */
#define MEMORY_MANY 1u

#define MEMORY_LARGEST (1ull << 30)

enum memory_kind { MEMORY_HEAP, MEMORY_STACK };

struct memory_block {
	uint64_t start, size;
	uint32_t site; /* where it was allocated, or the site that names the stack object */
	uint32_t next; /* free list */
	uint32_t born; /* lower half of the model's serial at the time; heap only */
	uint8_t kind;
};

struct memory_chunk {
	struct granule granules[MEMORY_CHUNK_GRANULES];
	uint32_t blocks[MEMORY_CHUNK_GRANULES];      /* of the block that begins in the granule */
	uint64_t starts[MEMORY_CHUNK_GRANULES / 64]; /* which granules have one */
	uint64_t started;                            /* which words of `starts` are not 0 */
	uint64_t number;                             /* address >> MEMORY_CHUNK_SHIFT */
	uint32_t cover;                              /* block that reaches into the chunk from below */
	uint32_t used;                               /* cells with a set */
};

_Static_assert(MEMORY_CHUNK_GRANULES / 64 == 64, "started has a bit for each word");

#define MEMORY_CACHE_BITS 10
#define MEMORY_CACHE (1u << MEMORY_CACHE_BITS)

struct memory {
	struct map numbers; /* chunk number to index in chunks */
	struct memory_chunk **chunks;
	uint32_t chunk_count, chunk_room;
	struct {
		uint64_t number; /* of the chunk, which lies far from what is asked of it */
		struct memory_chunk *chunk;
	} cache[MEMORY_CACHE];
	struct cell *cells;
	uint32_t cell_count, cell_room;
	uint32_t cells_free[2]; /* numbers with and without MEMORY_MANY; a free one's first cell has the next
				 */
	struct memory_block *blocks;
	uint32_t block_count, block_room, block_free;
	uint64_t live_blocks;
};

void memory_init(struct memory *memory);
void memory_release(struct memory *memory);

struct memory_chunk *memory_chunk_slow(struct memory *memory, uint64_t number, bool make);

/* Each thread's malloc begins at a multiple of 64 MB: the lower bits say little. */
static inline uint32_t memory_slot(uint64_t number)
{
	return (uint32_t)(number * 0x9e3779b97f4a7c15ull >> (64 - MEMORY_CACHE_BITS));
}

/* The chunk, if it was among the latest ones; NULL otherwise. */
static inline struct memory_chunk *memory_cached(const struct memory *memory, uint64_t number)
{
	uint32_t slot = memory_slot(number);

	return __builtin_expect(memory->cache[slot].number == number, 1) ? memory->cache[slot].chunk : NULL;
}

static inline struct memory_chunk *memory_chunk(struct memory *memory, uint64_t address)
{
	uint64_t number = address >> MEMORY_CHUNK_SHIFT;
	struct memory_chunk *chunk = memory_cached(memory, number);

	return chunk ? chunk : memory_chunk_slow(memory, number, true);
}

static inline uint32_t memory_index(uint64_t address)
{
	return address >> 3 & (MEMORY_CHUNK_GRANULES - 1);
}

static inline struct granule *memory_granule(struct memory *memory, uint64_t address)
{
	return &memory_chunk(memory, address)->granules[memory_index(address)];
}

/* The bytes [at, stop) of one granule, as a mask. */
static inline uint8_t memory_bytes(uint64_t at, uint64_t stop)
{
	return (uint8_t)(((1u << (stop - at)) - 1) << (at & 7));
}

/* A block begins to live; whatever was known of its bytes must have been dropped before. */
void memory_block_add(struct memory *memory, uint64_t start, uint64_t size, uint32_t site,
		      enum memory_kind kind);
void memory_block_remove(struct memory *memory, uint64_t start);
/* The block that begins at, or contains, the address; NULL: none. Good until the next change. */
const struct memory_block *memory_block_at(struct memory *memory, uint64_t start);
const struct memory_block *memory_block_of(struct memory *memory, uint64_t address);

/* No cell has a mark any more. */
void memory_clear_marks(struct memory *memory);

static inline unsigned memory_room(uint32_t parts)
{
	return parts & MEMORY_MANY ? 8 : 2;
}
static inline struct cell *memory_cells(const struct memory *memory, uint32_t parts)
{
	return &memory->cells[parts & ~MEMORY_MANY];
}
/* All of a granule's cells, and room for how many there is. */
static inline struct cell *memory_all(const struct memory *memory, const struct granule *granule,
				      unsigned *room)
{
	uint32_t parts = granule_parts(granule);

	*room = parts ? memory_room(parts) : 1;
	return parts ? memory_cells(memory, parts) : (struct cell *)&granule->cell;
}
/* Makes room for one more cell beside `count` of them. */
struct cell *memory_cells_grow(struct memory *memory, struct granule *granule, unsigned count);
void memory_cells_free(struct memory *memory, uint32_t parts);

#endif
