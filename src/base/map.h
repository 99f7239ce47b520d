/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * 64-bit keys to 32-bit numbers, none of them 0: open addressing with linear
 * probing, deletion without tombstones, so that a table that lives long does
 * not fill up with the dead. Zeroed memory is an empty map.
 */
#ifndef ATOMSAN_BASE_MAP_H
#define ATOMSAN_BASE_MAP_H

#include "base/err.h"

#include <stdint.h>
#include <stdlib.h>

struct map_slot {
	uint64_t key;
	uint32_t value; /* 0: free */
	uint32_t unused;
};

struct map {
	struct map_slot *slots;
	uint64_t mask; /* number of slots - 1 */
	uint64_t count;
};

static inline uint64_t map_hash(uint64_t key)
{
	key = (key ^ key >> 32) * 0x9e3779b97f4a7c15ull;
	return key ^ key >> 29;
}

static inline uint32_t map_get(const struct map *map, uint64_t key)
{
	if (!map->slots)
		return 0;
	for (uint64_t i = map_hash(key) & map->mask;; i = (i + 1) & map->mask) {
		const struct map_slot *slot = &map->slots[i];

		if (!slot->value || slot->key == key)
			return slot->value;
	}
}

void map_set(struct map *map, uint64_t key, uint32_t value);
void map_remove(struct map *map, uint64_t key);
void map_clear(struct map *map); /* empties it, keeps its room */
void map_release(struct map *map);

#endif
