/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "analysis/waiting.h"

#include <stdlib.h>
#include <string.h>

#define WAITING_MOST 1024

/* Which sites conflict with which decides what becomes of a cycle; which objects they touched does not. */
static uint64_t hash_of(uint64_t key, const struct check_cycle *cycle)
{
	for (uint32_t i = 0; i < cycle->length; i++) {
		const struct check_edge *edge = &cycle->edges[i];

		if (edge->program_order)
			continue;
		key = map_hash(key * 31 + ((uint64_t)edge->source.site << 32 | edge->target.site));
		for (uint32_t k = 0; k < edge->more_count; k++)
			key = map_hash(key * 31 + ((uint64_t)edge->more[k].source.site << 32 |
						   edge->more[k].target.site));
	}
	return key;
}

struct waiting_cycle *waiting_find(struct waiting *waiting, uint64_t key, const struct check_cycle *cycle)
{
	uint32_t number = map_get(&waiting->known, hash_of(key, cycle));

	return number ? &waiting->items[number - 1] : NULL;
}

struct waiting_cycle *waiting_add(struct waiting *waiting, uint64_t key, const struct check_cycle *cycle)
{
	uint32_t pairs = 0;

	if (waiting->count == WAITING_MOST)
		return NULL;
	if (waiting->count == waiting->room) {
		waiting->room = waiting->room ? waiting->room * 2 : 16;
		waiting->items = mem_resize(waiting->items, waiting->room, sizeof(*waiting->items));
	}
	struct waiting_cycle *item = &waiting->items[waiting->count++];

	map_set(&waiting->known, hash_of(key, cycle), waiting->count);
	for (uint32_t i = 0; i < cycle->length; i++)
		pairs += cycle->edges[i].program_order ? 0 : cycle->edges[i].more_count;
	*item = (struct waiting_cycle){.key = key,
				       .seen = 1,
				       .length = cycle->length,
				       .edges = mem_zalloc(cycle->length, sizeof(*item->edges)),
				       .pairs = mem_zalloc(pairs + 1, sizeof(*item->pairs))};
	pairs = 0;
	for (uint32_t i = 0; i < cycle->length; i++) {
		struct check_edge *edge = &item->edges[i];

		*edge = cycle->edges[i];
		edge->more = item->pairs + pairs;
		if (edge->program_order)
			edge->more_count = 0;
		for (uint32_t k = 0; k < edge->more_count; k++)
			item->pairs[pairs++] = cycle->edges[i].more[k];
	}
	return item;
}

void waiting_let_go(struct waiting_cycle *cycle)
{
	free(cycle->edges);
	free(cycle->pairs);
	cycle->edges = NULL;
	cycle->pairs = NULL;
}

void waiting_release(struct waiting *waiting)
{
	for (uint32_t i = 0; i < waiting->count; i++)
		waiting_let_go(&waiting->items[i]);
	free(waiting->items);
	map_release(&waiting->known);
}
