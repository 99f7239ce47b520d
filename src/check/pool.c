/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The slow half of pools and lists: growing. See pool.h. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "check/pool.h"

void pool_init(struct pool *pool, uint32_t size)
{
	*pool = (struct pool){.items = mem_zalloc(16, size), .used = 1, .capacity = 16};
}

void pool_release(struct pool *pool)
{
	free(pool->items);
	*pool = (struct pool){0};
}

uint32_t pool_grow(struct pool *pool, uint32_t size)
{
	if (pool->used == pool->capacity) {
		BUG_ON(pool->capacity > UINT32_MAX / 2);
		pool->items = mem_resize(pool->items, pool->capacity * 2ul, size);
		pool->capacity *= 2;
	}
	/* Not all at once: a page that was never written to takes no memory. */
	memset((char *)pool->items + (uint64_t)pool->used * size, 0, size);
	return pool->used++;
}

void list_grow(struct list *list)
{
	BUG_ON(list->capacity > UINT32_MAX / 2);
	list->capacity = list->capacity ? list->capacity * 2 : 16;
	list->items = mem_resize(list->items, list->capacity, sizeof(*list->items));
}

void list_release(struct list *list)
{
	free(list->items);
	*list = (struct list){0};
}
