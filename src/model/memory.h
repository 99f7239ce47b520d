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
#include <stdint.h>

#define MEMORY_CHUNK_SHIFT 15 /* 32 KB of the program's memory */
#define MEMORY_CHUNK_GRANULES (1u << (MEMORY_CHUNK_SHIFT - 3))

/* Bytes of a granule that are one location and belong to one set. */
struct cell {
	uint32_t set;      /* index of the model's set; 0: none yet */
	uint32_t location; /* the sink's handle, if mask is not 0 */
	uint16_t type;     /* the struct type by which the set was found */
	uint8_t mask;      /* which bytes */
	uint8_t other;     /* another type that is known to lie in the set, or around it; 0: none */
};

struct granule {
	struct cell cell; /* the only one, if parts is 0 */
	uint32_t parts;   /* index of struct memory_parts */
};

/* A granule whose bytes went separate ways. */
struct memory_parts {
	struct cell cells[8]; /* disjoint masks; the first of mask 0 ends them */
	uint32_t next;        /* free list */
};

#define MEMORY_LARGEST (1ull << 30)

enum memory_kind { MEMORY_HEAP, MEMORY_STACK };

struct memory_block {
	uint64_t start, size;
	uint32_t site; /* where it was allocated, or the site that names the stack object */
	uint32_t next; /* free list */
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

#define MEMORY_CACHE 256

struct memory {
	struct map numbers; /* chunk number to index in chunks */
	struct memory_chunk **chunks;
	uint32_t chunk_count, chunk_room;
	struct memory_chunk *cache[MEMORY_CACHE];
	struct memory_parts *parts;
	uint32_t parts_count, parts_room, parts_free;
	struct memory_block *blocks;
	uint32_t block_count, block_room, block_free;
	uint64_t live_blocks;
};

void memory_init(struct memory *memory);
void memory_release(struct memory *memory);

struct memory_chunk *memory_chunk_slow(struct memory *memory, uint64_t number, bool make);

static inline struct memory_chunk *memory_chunk(struct memory *memory, uint64_t address)
{
	uint64_t number = address >> MEMORY_CHUNK_SHIFT;
	struct memory_chunk *chunk = memory->cache[number % MEMORY_CACHE];

	if (__builtin_expect(chunk && chunk->number == number, 1))
		return chunk;
	return memory_chunk_slow(memory, number, true);
}

static inline uint32_t memory_index(uint64_t address)
{
	return address >> 3 & (MEMORY_CHUNK_GRANULES - 1);
}

/* A block begins to live; whatever was known of its bytes must have been dropped before. */
void memory_block_add(struct memory *memory, uint64_t start, uint64_t size, uint32_t site,
		      enum memory_kind kind);
void memory_block_remove(struct memory *memory, uint64_t start);
/* The block that begins at, or contains, the address; NULL: none. Good until the next change. */
const struct memory_block *memory_block_at(struct memory *memory, uint64_t start);
const struct memory_block *memory_block_of(struct memory *memory, uint64_t address);

uint32_t memory_parts_new(struct memory *memory);
void memory_parts_free(struct memory *memory, uint32_t parts);

#endif
