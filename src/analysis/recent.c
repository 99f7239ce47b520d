/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "analysis/recent.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define MORE (CHECK_PAIRS - 1)

void recent_add(struct recent *recent, const struct check_cycle *cycle)
{
	struct recent_cycle *at = &recent->cycles[recent->next];

	recent->next = (recent->next + 1) % RECENT_CYCLES;
	if (at->room < cycle->length) {
		at->room = cycle->length * 2;
		at->edges = mem_resize(at->edges, at->room, sizeof(*at->edges));
		at->pairs = mem_resize(at->pairs, (size_t)at->room * MORE, sizeof(*at->pairs));
	}
	at->length = cycle->length;
	for (uint32_t i = 0; i < cycle->length; i++) {
		struct check_edge *edge = &at->edges[i];

		*edge = cycle->edges[i];
		if (edge->program_order)
			edge->more_count = 0;
		if (edge->more_count)
			memcpy(at->pairs + (size_t)i * MORE, edge->more,
			       edge->more_count * sizeof(*edge->more));
		edge->more = at->pairs + (size_t)i * MORE;
	}
}

static bool same_unit(const struct check_unit_tag *a, const struct check_unit_tag *b)
{
	return a->thread == b->thread && a->begin == b->begin && a->context == b->context;
}

bool recent_more(struct recent_cycle *cycle, const struct check_unit_tag *from,
		 const struct check_unit_tag *to, const struct check_pair *pair)
{
	for (uint32_t i = 0; i < cycle->length; i++) {
		struct check_edge *edge = &cycle->edges[i];

		if (edge->program_order || edge->more_count == MORE || !same_unit(&edge->from, from) ||
		    !same_unit(&edge->to, to))
			continue;
		cycle->pairs[(size_t)i * MORE + edge->more_count++] = *pair;
		return true;
	}
	return false;
}

void recent_release(struct recent *recent)
{
	for (uint32_t i = 0; i < RECENT_CYCLES; i++) {
		free(recent->cycles[i].edges);
		free(recent->cycles[i].pairs);
	}
}
