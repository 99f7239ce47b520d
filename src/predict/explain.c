/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Why the order says no: see order.h. */
#include "predict/order.h"

#include "base/err.h"

static const char *const texts[] = {
#define X(name, text) [ORDER_##name] = text,
	ORDER_REASONS(X)
#undef X
};

const char *order_reason_text(enum order_reason reason)
{
	return texts[reason];
}

/* Edges are in the order of the events that they lead to: the first that leads to this one. */
static uint32_t first_edge(const struct order *o, uint32_t event)
{
	uint32_t low = 0, high = o->edge_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (o->edges[middle].to_event < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Walks back along the edges that brought the need about. Of the reasons on the
 * way the first that the paper does not know is named, if there is one.
 */
enum order_reason order_explain(const struct order *o, uint32_t thread, uint32_t limit, uint32_t other,
				uint32_t need)
{
	const struct vclock *v = order_whole(o);
	enum order_reason reason = ORDER_CREATE;
	bool any = false;

	while (thread != other) {
		uint32_t event = vclock_first(v, thread, other, need);
		const struct order_edge *found = NULL;

		if (event == HISTORY_NONE || event >= limit)
			break;
		for (uint32_t i = first_edge(o, event); i < o->edge_count && o->edges[i].to_event == event;
		     i++) {
			const struct order_edge *e = &o->edges[i];

			if (e->from == other ? e->from_event + 1 >= need
					     : vclock_needs(v, e->from, e->from_event + 1, other) >= need)
				found = e;
		}
		if (!found)
			break;
		if (!any || (reason <= ORDER_BARRIER && found->reason > ORDER_BARRIER))
			reason = found->reason;
		any = true;
		thread = found->from;
		limit = found->from_event + 1;
	}
	return reason;
}
