/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * From "this edge closes a cycle" to the cycle: a breadth-first search from the
 * edge's end back to its start, so that no shorter cycle goes through the edge.
 * Units behind the start in the order need no look.
 */
#include "base/err.h"
#include "check/graph.h"

/* Leaves in each unit on the way the edge by which it was reached. */
static void search(struct check *check, uint32_t from, uint32_t to)
{
	struct list *queue = &check->graph->queue;
	uint64_t bound = unit_at(check, to)->graph.label;
	uint64_t mark = ++check->marks;
	uint32_t at, edge;

	queue->count = 0;
	list_add(queue, from);
	unit_at(check, from)->mark = mark;
	for (at = 0; at < queue->count; at++) {
		check->stats.searched++;
		for (edge = unit_at(check, queue->items[at])->graph.out; edge;
		     edge = edge_at(check, edge)->out_next) {
			uint32_t number = edge_at(check, edge)->to;
			struct unit *unit = unit_at(check, number);

			if (unit->mark == mark || !unit->graph.label || unit->graph.label > bound)
				continue;
			unit->mark = mark;
			unit->graph.via = edge;
			if (number == to)
				return;
			list_add(queue, number);
		}
	}
	BUG_ON("the order says there is a cycle, the edges say there is none");
}

static void tell(struct check *check, struct check_edge *told, uint32_t number)
{
	struct edge *edge = edge_at(check, number);

	*told = (struct check_edge){
		.from = unit_at(check, edge->from)->tag,
		.to = unit_at(check, edge->to)->tag,
		.program_order = edge->program_order,
	};
	if (!edge->program_order) {
		told->source = edge->source;
		told->target = edge->target;
	}
}

/* Program order over several units of a thread is one step of it. */
static uint32_t shorten(struct check_edge *edges, uint32_t length)
{
	uint32_t kept = 1;
	uint32_t i;

	for (i = 1; i < length; i++) {
		if (edges[i].program_order && edges[kept - 1].program_order)
			edges[kept - 1].to = edges[i].to;
		else
			edges[kept++] = edges[i];
	}
	return kept;
}

void cycle_report(struct check *check, uint32_t closing)
{
	struct graph *graph = check->graph;
	uint32_t first = edge_at(check, closing)->to;
	uint32_t last = edge_at(check, closing)->from;
	uint32_t length = 1;
	uint32_t unit, i;

	if (!check->config.violation)
		return;
	search(check, first, last);
	for (unit = last; unit != first; unit = edge_at(check, unit_at(check, unit)->graph.via)->from)
		length++;
	if (length > graph->cycle_capacity) {
		graph->cycle_capacity = length * 2;
		graph->cycle = mem_resize(graph->cycle, graph->cycle_capacity, sizeof(*graph->cycle));
	}
	tell(check, &graph->cycle[0], closing);
	for (unit = last, i = length - 1; i; i--) {
		uint32_t edge = unit_at(check, unit)->graph.via;

		tell(check, &graph->cycle[i], edge);
		unit = edge_at(check, edge)->from;
	}
	length = shorten(graph->cycle, length);
	check->config.violation(check->config.user, &(struct check_cycle){graph->cycle, length});
}
