/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/blocks.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_SHIFT 12
#define LARGE (1u << PAGE_SHIFT) /* so that a smaller one reaches into the next page at most */

static uint32_t new_entry(struct blocks *b, uint64_t start, uint64_t size)
{
	uint32_t index = b->free;

	if (index) {
		b->free = b->entries[index].next;
	} else {
		if (b->count + 1 >= b->room) {
			b->room = b->room ? b->room * 2 : 256;
			b->entries = mem_resize(b->entries, b->room, sizeof(*b->entries));
		}
		index = ++b->count;
	}
	b->entries[index] = (struct blocks_entry){.start = start, .size = size, .number = b->numbers++};
	return index;
}

/* Index of the first large block that begins at or after the address. */
static uint32_t first_large(const struct blocks *b, uint64_t address)
{
	uint32_t low = 0, high = b->large_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (b->entries[b->large[middle]].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t blocks_add(struct blocks *b, uint64_t start, uint64_t size)
{
	blocks_remove(b, start); /* its end was not seen */
	uint32_t index = new_entry(b, start, size);

	if (size < LARGE) {
		b->entries[index].next = map_get(&b->pages, start >> PAGE_SHIFT);
		map_set(&b->pages, start >> PAGE_SHIFT, index);
		return b->entries[index].number;
	}
	uint32_t at = first_large(b, start);

	if (b->large_count == b->large_room) {
		b->large_room = b->large_room ? b->large_room * 2 : 16;
		b->large = mem_resize(b->large, b->large_room, sizeof(*b->large));
	}
	memmove(b->large + at + 1, b->large + at, (b->large_count - at) * sizeof(*b->large));
	b->large[at] = index;
	b->large_count++;
	return b->entries[index].number;
}

static void drop(struct blocks *b, uint32_t index)
{
	b->entries[index].next = b->free;
	b->free = index;
}

void blocks_remove(struct blocks *b, uint64_t start)
{
	uint32_t first = map_get(&b->pages, start >> PAGE_SHIFT), at = first_large(b, start);

	for (uint32_t i = first, last = 0; i; last = i, i = b->entries[i].next) {
		if (b->entries[i].start != start)
			continue;
		if (last)
			b->entries[last].next = b->entries[i].next;
		else if (b->entries[i].next)
			map_set(&b->pages, start >> PAGE_SHIFT, b->entries[i].next);
		else
			map_remove(&b->pages, start >> PAGE_SHIFT);
		drop(b, i);
		return;
	}
	if (at < b->large_count && b->entries[b->large[at]].start == start) {
		drop(b, b->large[at]);
		memmove(b->large + at, b->large + at + 1, (b->large_count - at - 1) * sizeof(*b->large));
		b->large_count--;
	}
}

uint32_t blocks_find(const struct blocks *b, uint64_t address)
{
	for (unsigned page = 0; page < 2; page++)
		for (uint32_t i = map_get(&b->pages, (address >> PAGE_SHIFT) - page); i;
		     i = b->entries[i].next)
			if (address - b->entries[i].start < b->entries[i].size)
				return b->entries[i].number;
	uint32_t at = first_large(b, address + 1);

	if (at && address - b->entries[b->large[at - 1]].start < b->entries[b->large[at - 1]].size)
		return b->entries[b->large[at - 1]].number;
	return UINT32_MAX;
}

void blocks_release(struct blocks *b)
{
	free(b->entries);
	free(b->large);
	map_release(&b->pages);
	*b = (struct blocks){0};
}
