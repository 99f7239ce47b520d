/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Memory that an engine may take on every event: slots of one size, named by
 * numbers from 1, freed ones used again first. A slot begins with a uint32_t
 * that links free slots; the rest of a freed slot keeps what was in it, and a
 * slot that was never used is zero. Taking a slot may move the pool, so
 * pointers into it are good until then.
 */
#ifndef ATOMSAN_CHECK_POOL_H
#define ATOMSAN_CHECK_POOL_H

#include <stdint.h>

struct pool {
	void *items;
	uint32_t used, capacity; /* slot 0 counts as used */
	uint32_t free;
	uint32_t taken;
};

/* Slot 0 is there from the beginning, zeroed, and nobody's. */
void pool_init(struct pool *pool, uint32_t size);
void pool_release(struct pool *pool);
uint32_t pool_grow(struct pool *pool, uint32_t size);

static inline uint32_t pool_take(struct pool *pool, uint32_t size)
{
	uint32_t slot = pool->free;

	pool->taken++;
	if (!slot)
		return pool_grow(pool, size);
	pool->free = *(uint32_t *)((char *)pool->items + (uint64_t)slot * size);
	/* It is where the next one is, and mostly was not looked at for long. */
	__builtin_prefetch((char *)pool->items + (uint64_t)pool->free * size);
	return slot;
}

static inline void pool_give(struct pool *pool, uint32_t size, uint32_t slot)
{
	*(uint32_t *)((char *)pool->items + (uint64_t)slot * size) = pool->free;
	pool->free = slot;
	pool->taken--;
}

/* Numbers in a row, kept from one use to the next so that it rarely grows. */
struct list {
	uint32_t *items;
	uint32_t count, capacity;
};

void list_grow(struct list *list);
void list_release(struct list *list);

static inline void list_add(struct list *list, uint32_t item)
{
	if (list->count == list->capacity)
		list_grow(list);
	list->items[list->count++] = item;
}

#endif
