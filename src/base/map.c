/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "base/map.h"

#include <string.h>

static void put(struct map *map, uint64_t key, uint32_t value)
{
	uint64_t i = map_hash(key) & map->mask;

	while (map->slots[i].value && map->slots[i].key != key)
		i = (i + 1) & map->mask;
	if (!map->slots[i].value)
		map->count++;
	map->slots[i].key = key;
	map->slots[i].value = value;
}

static void grow(struct map *map)
{
	struct map_slot *old = map->slots;
	uint64_t size = old ? map->mask + 1 : 0;

	map->slots = mem_zalloc(old ? size * 2 : 16, sizeof(*map->slots));
	map->mask = (old ? size * 2 : 16) - 1;
	map->count = 0;
	for (uint64_t i = 0; i < size; i++)
		if (old[i].value)
			put(map, old[i].key, old[i].value);
	free(old);
}

void map_set(struct map *map, uint64_t key, uint32_t value)
{
	BUG_ON(!value);
	/* Three quarters full at most. */
	if (!map->slots || (map->count + 1) * 4 > (map->mask + 1) * 3)
		grow(map);
	put(map, key, value);
}

void map_remove(struct map *map, uint64_t key)
{
	uint64_t i, hole;

	if (!map->slots)
		return;
	for (i = map_hash(key) & map->mask; map->slots[i].key != key || !map->slots[i].value;
	     i = (i + 1) & map->mask)
		if (!map->slots[i].value)
			return;
	/* What comes behind and would be looked for through the hole moves into it. */
	for (hole = i;;) {
		i = (i + 1) & map->mask;
		if (!map->slots[i].value)
			break;
		uint64_t home = map_hash(map->slots[i].key) & map->mask;

		if (((i - home) & map->mask) >= ((i - hole) & map->mask)) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole].value = 0;
	map->count--;
}

void map_clear(struct map *map)
{
	if (map->count)
		memset(map->slots, 0, (map->mask + 1) * sizeof(*map->slots));
	map->count = 0;
}

void map_release(struct map *map)
{
	free(map->slots);
	*map = (struct map){0};
}
