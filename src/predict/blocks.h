/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The blocks of memory that are allocated: which one has this address? Small
 * blocks are found by the page that they begin in, large ones by search.
 */
#ifndef ATOMSAN_PREDICT_BLOCKS_H
#define ATOMSAN_PREDICT_BLOCKS_H

#include "base/map.h"

struct blocks_entry {
	uint64_t start, size;
	uint32_t number;
	uint32_t next; /* in its page, or in the free list; 0: none */
};

struct blocks {
	struct blocks_entry *entries; /* [0] is unused */
	uint32_t count, room, free;
	struct map pages; /* to the first entry */
	uint32_t *large;  /* entries, by start */
	uint32_t large_count, large_room;
	uint32_t numbers; /* given out */
};

/* Returns the block's number; numbers are not used again. */
uint32_t blocks_add(struct blocks *b, uint64_t start, uint64_t size);
void blocks_remove(struct blocks *b, uint64_t start);
/* UINT32_MAX: none. */
uint32_t blocks_find(const struct blocks *b, uint64_t address);
void blocks_release(struct blocks *b);

#endif
