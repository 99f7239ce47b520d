/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * From "this edge closes a cycle" to the cycle: a breadth-first search from the
 * edge's end back to its start, so that no way between them has fewer edges.
 * Units behind the start in the order need no look.
 */
#include "base/err.h"
#include "check/graph.h"

/* Leaves in each unit on the way the edge by which it was reached. */
static void search(struct check *check, uint32_t from, uint32_t to)
{
	struct list *queue = &check->graph->queue;
	/* A unit from which no edge leads may have no place in the order: it is behind all that have one. */
	uint64_t bound = unit_at(check, to)->graph.label ? unit_at(check, to)->graph.label : UINT64_MAX;
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

			if (unit->mark == mark ||
			    (number != to && (!unit->graph.label || unit->graph.label > bound)))
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

/*
 * A step by program order goes on from one before it, so that several units of
 * a thread are one step.
 */
static void add_program_order(struct graph *graph, const struct check_unit_tag *from,
			      const struct check_unit_tag *to)
{
	struct check_edge *last = &graph->cycle[graph->cycle_length - 1];

	if (last->program_order)
		last->to = *to;
	else
		graph->cycle[graph->cycle_length++] =
			(struct check_edge){.from = *from, .to = *to, .program_order = true};
}

/* From the unit that the edges so far lead to, to the one of its accesses that makes the next edge. */
static void add_step_within(struct check *check, uint32_t unit, const struct check_access_tag *source)
{
	struct check_unit_tag to = unit_named(check, unit, source);

	if (to.begin != unit_at(check, unit)->tag.begin)
		add_program_order(check->graph, &unit_at(check, unit)->tag, &to);
}

/* How many of them there are is known, and the room is there. */
static const struct check_pair *add_pairs(struct check *check, const struct edge *edge)
{
	struct graph *graph = check->graph;
	const struct check_pair *first = graph->pairs + graph->pair_count;
	uint32_t more;

	for (more = edge->more; more; more = more_at(check, more)->next)
		graph->pairs[graph->pair_count++] = more_at(check, more)->pair;
	return first;
}

static void add_edge(struct check *check, uint32_t number)
{
	struct graph *graph = check->graph;
	struct edge *edge = edge_at(check, number);

	if (edge->program_order) {
		add_program_order(graph, &unit_at(check, edge->from)->tag, &unit_at(check, edge->to)->tag);
		return;
	}
	/* The closing edge comes first; the way to its source is the last step. */
	if (graph->cycle_length)
		add_step_within(check, edge->from, &edge->source);
	graph->cycle[graph->cycle_length++] = (struct check_edge){
		.from = unit_named(check, edge->from, &edge->source),
		.to = unit_at(check, edge->to)->tag,
		.source = edge->source,
		.target = edge->target,
		.more = add_pairs(check, edge),
		.more_count = edge->more_count,
	};
}

void cycle_report(struct check *check, uint32_t closing, bool again)
{
	struct graph *graph = check->graph;
	struct list *path = &graph->queue;
	uint32_t first = edge_at(check, closing)->to;
	uint32_t last = edge_at(check, closing)->from;
	uint32_t unit;

	if (!check->config.violation)
		return;
	search(check, first, last);
	path->count = 0;
	for (unit = last; unit != first; unit = edge_at(check, unit_at(check, unit)->graph.via)->from)
		list_add(path, unit_at(check, unit)->graph.via);
	/* Each edge may need a step to its source. */
	if (2 * path->count + 2 > graph->cycle_capacity) {
		graph->cycle_capacity = 4 * path->count + 4;
		graph->cycle = mem_resize(graph->cycle, graph->cycle_capacity, sizeof(*graph->cycle));
	}
	if ((path->count + 1) * CHECK_PAIRS > graph->pair_capacity) {
		graph->pair_capacity = (path->count + 1) * 2 * CHECK_PAIRS;
		graph->pairs = mem_resize(graph->pairs, graph->pair_capacity, sizeof(*graph->pairs));
	}
	graph->cycle_length = graph->pair_count = 0;
	add_edge(check, closing);
	while (path->count)
		add_edge(check, path->items[--path->count]);
	add_step_within(check, last, &edge_at(check, closing)->source);
	check->config.violation(check->config.user,
				&(struct check_cycle){graph->cycle, graph->cycle_length, again});
}
