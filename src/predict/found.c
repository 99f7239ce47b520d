/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What threads found by pointers, by thread and by when they used it. */
#include "base/err.h"
#include "predict/order.h"

#include <stdlib.h>

static int by_thread_and_use(const void *a, const void *b)
{
	const struct order_found *one = a, *other = b;

	if (one->thread != other->thread)
		return one->thread < other->thread ? -1 : 1;
	return one->use < other->use ? -1 : one->use > other->use;
}

void order_add_found(struct order *o, struct order_found found)
{
	if (o->found_count == o->found_room) {
		o->found_room = o->found_room ? o->found_room * 2 : 64;
		o->found = mem_resize(o->found, o->found_room, sizeof(*o->found));
	}
	o->found[o->found_count++] = found;
}

void order_sort_found(struct order *o)
{
	if (o->found_count)
		qsort(o->found, o->found_count, sizeof(*o->found), by_thread_and_use);
}

uint32_t order_found_from(const struct order *o, uint32_t thread, uint32_t event)
{
	const struct order_found sought = {.thread = thread, .use = event};
	uint32_t low = 0, high = o->found_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (by_thread_and_use(&o->found[middle], &sought) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
