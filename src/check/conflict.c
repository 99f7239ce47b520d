/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Marathon's engine: units and the conflicts between them are a graph, and a
 * violation is a cycle in it (Sect. 3, Corollary 1). This file keeps nodes and
 * edges and frees those that no longer matter: a unit that is finished and has
 * no edge into it goes, its edges with it, and then perhaps the next one
 * (Sect. 4.2). order.c finds the cycles, cycle.c reports them.
 */
#include <stdlib.h>

#include "base/err.h"
#include "check/graph.h"

static void graph_init(struct check *check)
{
	struct graph *graph = check->graph = mem_zalloc(1, sizeof(*graph));

	pool_init(&graph->edges, sizeof(struct edge));
	pool_init(&graph->more, sizeof(struct more));
	graph->mask = 63;
	graph->heads = mem_zalloc(graph->mask + 1, sizeof(*graph->heads));
	graph->gap = 1ull << 20;
	graph->random = 1;
}

static void graph_release(struct check *check)
{
	struct graph *graph = check->graph;

	pool_release(&graph->edges);
	pool_release(&graph->more);
	free(graph->pairs);
	list_release(&graph->forward);
	list_release(&graph->backward);
	list_release(&graph->forward_active);
	list_release(&graph->backward_active);
	list_release(&graph->forward_passive);
	list_release(&graph->backward_passive);
	list_release(&graph->queue);
	free(graph->cycle);
	free(graph->heads);
	free(graph);
}

static uint32_t *head(struct graph *graph, uint32_t from, uint32_t to)
{
	uint64_t hash = ((uint64_t)from << 32 | to) * 0x9e3779b97f4a7c15u;

	return &graph->heads[hash >> 32 & graph->mask];
}

static uint32_t find(struct check *check, uint32_t from, uint32_t to)
{
	uint32_t edge = *head(check->graph, from, to);

	while (edge && (edge_at(check, edge)->from != from || edge_at(check, edge)->to != to))
		edge = edge_at(check, edge)->chain;
	return edge;
}

static void rehash(struct check *check)
{
	struct graph *graph = check->graph;
	uint32_t *old = graph->heads;
	uint32_t count = graph->mask + 1;
	uint32_t i, edge, next;

	graph->mask = count * 2 - 1;
	graph->heads = mem_zalloc(count * 2ul, sizeof(*graph->heads));
	for (i = 0; i < count; i++) {
		for (edge = old[i]; edge; edge = next) {
			struct edge *at = edge_at(check, edge);
			uint32_t *chain = head(graph, at->from, at->to);

			next = at->chain;
			at->chain = *chain;
			*chain = edge;
		}
	}
	free(old);
}

static uint32_t edge_new(struct check *check, uint32_t from, uint32_t to)
{
	struct graph *graph = check->graph;
	uint32_t number = pool_take(&graph->edges, sizeof(struct edge));
	struct edge *edge;
	uint32_t *chain;

	if (++graph->hashed > graph->mask)
		rehash(check);
	edge = edge_at(check, number);
	chain = head(graph, from, to);
	edge->chain = *chain;
	*chain = number;
	edge->from = from;
	edge->to = to;
	edge->more = edge->more_count = 0;
	return number;
}

static void edge_unhash(struct check *check, uint32_t number)
{
	struct edge *edge = edge_at(check, number);
	uint32_t *chain = head(check->graph, edge->from, edge->to);

	while (*chain != number)
		chain = &edge_at(check, *chain)->chain;
	*chain = edge->chain;
	check->graph->hashed--;
}

static void edge_free(struct check *check, uint32_t number)
{
	uint32_t more = edge_at(check, number)->more, next;

	for (; more; more = next) {
		next = more_at(check, more)->next;
		pool_give(&check->graph->more, sizeof(struct more), more);
	}
	pool_give(&check->graph->edges, sizeof(struct edge), number);
}

/* True if the two units did not conflict there before, as far as is remembered. */
static bool remember(struct check *check, uint32_t number, const struct check_access_tag *source,
		     const struct check_access_tag *target)
{
	struct edge *edge = edge_at(check, number);
	uint32_t more;

	if (edge->source.address == source->address || edge->more_count == CHECK_PAIRS - 1)
		return false;
	for (more = edge->more; more; more = more_at(check, more)->next)
		if (more_at(check, more)->pair.source.address == source->address)
			return false;
	more = pool_take(&check->graph->more, sizeof(struct more));
	*more_at(check, more) = (struct more){.next = edge->more, .pair = {*source, *target}};
	edge->more = more;
	edge->more_count++;
	return true;
}

static void one_more(struct check *check, uint32_t number)
{
	struct edge *edge = edge_at(check, number);
	const struct check_pair *pair = &more_at(check, edge->more)->pair;

	if (edge->refused)
		cycle_report(check, number, true);
	else if (check->config.conflict)
		check->config.conflict(check->config.user, &unit_at(check, edge->from)->tag,
				       &unit_at(check, edge->to)->tag, pair);
}

static void describe(struct edge *edge, const struct check_access_tag *source,
		     const struct check_access_tag *target)
{
	edge->program_order = !source;
	if (source) {
		edge->source = *source;
		edge->target = *target;
	}
}

static void link_edge(struct check *check, uint32_t number)
{
	struct edge *edge = edge_at(check, number);
	uint32_t *in = &unit_at(check, edge->to)->graph.in;
	uint32_t *out = &unit_at(check, edge->from)->graph.out;

	edge->in_previous = 0;
	edge->in_next = *in;
	edge->out_next = *out;
	if (*in)
		edge_at(check, *in)->in_previous = number;
	*in = *out = number;
	check->stats.edges++;
}

static void graph_begin(struct check *check, uint32_t unit)
{
	unit_at(check, unit)->graph = (struct graph_node){0};
}

static void graph_edge(struct check *check, uint32_t from, uint32_t to, const struct check_access_tag *source,
		       const struct check_access_tag *target)
{
	uint32_t number = find(check, from, to);
	struct edge *edge;

	if (number) {
		/* A report can show accesses better than program order. */
		edge = edge_at(check, number);
		if (source && edge->program_order) {
			check->news++;
			describe(edge, source, target);
		} else if (source && remember(check, number, source, target)) {
			check->news++;
			one_more(check, number);
		}
		return;
	}
	check->news++;
	number = edge_new(check, from, to);
	edge = edge_at(check, number);
	describe(edge, source, target);
	edge->refused = !order_admits(check, from, to);
	if (!edge->refused) {
		link_edge(check, number);
		return;
	}
	/* Kept beside the graph until `to` ends, so that a pair is reported
	 * once. `from` stays that long, since `to` comes before it. */
	edge->in_next = unit_at(check, to)->graph.refused;
	unit_at(check, to)->graph.refused = number;
	check->stats.violations++;
	cycle_report(check, number, false);
}

/* Frees the unit and, one after the other, those that waited for it alone. */
static void release_from(struct check *check, uint32_t first)
{
	struct list *queue = &check->graph->queue;
	uint32_t unit, number, next;

	queue->count = 0;
	list_add(queue, first);
	while (queue->count) {
		unit = queue->items[--queue->count];
		for (number = unit_at(check, unit)->graph.out; number; number = next) {
			struct edge *edge = edge_at(check, number);
			struct unit *to = unit_at(check, edge->to);

			next = edge->out_next;
			if (edge->in_next)
				edge_at(check, edge->in_next)->in_previous = edge->in_previous;
			if (edge->in_previous)
				edge_at(check, edge->in_previous)->in_next = edge->in_next;
			else
				to->graph.in = edge->in_next;
			if (to->open)
				edge_unhash(check, number);
			else if (!to->graph.in && !to->graph.held)
				list_add(queue, edge->to);
			edge_free(check, number);
		}
		order_remove(check, unit);
		unit_free(check, unit);
	}
}

/*
 * A unit in a cycle is kept as long as the other one is open, although nothing
 * comes before it: what else the two conflict on may matter to whoever was told.
 */
static void hold(struct check *check, uint32_t number)
{
	struct edge *edge = edge_at(check, number);
	struct graph_node *from = &unit_at(check, edge->from)->graph;

	unit_at(check, edge->to)->graph.held++;
	edge->in_next = from->holding;
	from->holding = number;
}

static void let_go(struct check *check, uint32_t unit)
{
	uint32_t number = unit_at(check, unit)->graph.holding, next;

	/* It may have waited for one of them alone, and goes after they have gone. */
	unit_at(check, unit)->graph.held++;
	for (; number; number = next) {
		uint32_t to = edge_at(check, number)->to;
		struct graph_node *node = &unit_at(check, to)->graph;

		next = edge_at(check, number)->in_next;
		edge_free(check, number);
		if (!--node->held && !node->in)
			release_from(check, to);
	}
	unit_at(check, unit)->graph.holding = 0;
	unit_at(check, unit)->graph.held--;
}

static void graph_end(struct check *check, uint32_t unit)
{
	struct graph_node *node = &unit_at(check, unit)->graph;
	uint32_t number, next;

	for (number = node->refused; number; number = next) {
		next = edge_at(check, number)->in_next;
		edge_unhash(check, number);
		if (unit_at(check, edge_at(check, number)->from)->open && check->config.conflict)
			hold(check, number);
		else
			edge_free(check, number);
	}
	node->refused = 0;
	/* Nobody will look for an edge into it again. */
	for (number = node->in; number; number = edge_at(check, number)->in_next)
		edge_unhash(check, number);
	let_go(check, unit);
	if (!node->in && !node->held)
		release_from(check, unit);
}

static bool graph_matters(struct check *check, uint32_t unit)
{
	const struct graph_node *node = &unit_at(check, unit)->graph;

	return node->in || node->refused || node->held;
}

static bool graph_same(struct check *check, uint32_t unit, const uint32_t *sources, uint32_t count)
{
	uint32_t first = unit_at(check, unit)->graph.in;
	bool after = false;
	uint32_t i, edge;

	for (i = 0; i < count; i++)
		after |= sources[i] == unit;
	/* What comes before the unit comes before the access. Where the unit
	 * itself does not, it must have no other predecessor. */
	if (!after)
		return count == 1 && edge_at(check, first)->from == sources[0] &&
		       !edge_at(check, first)->in_next;
	for (i = 0; i < count; i++) {
		if (sources[i] == unit)
			continue;
		for (edge = first; edge && edge_at(check, edge)->from != sources[i];)
			edge = edge_at(check, edge)->in_next;
		if (!edge)
			return false;
	}
	return true;
}

const struct engine graph_engine = {
	.init = graph_init,
	.begin = graph_begin,
	.end = graph_end,
	.matters = graph_matters,
	.edge = graph_edge,
	.same = graph_same,
	.release = graph_release,
};
