/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The conflict graph: edges between the units that matter, and a topological
 * order of them that is kept as edges come. There is one graph; no edge leads
 * from one set to another, so each set is a part of it on its own.
 */
#ifndef ATOMSAN_CHECK_GRAPH_H
#define ATOMSAN_CHECK_GRAPH_H

#include "check/state.h"

/* From any unit to any other there is at most one, with the first pair of accesses that made it. */
struct edge {
	uint32_t chain; /* next in the hash table, which has the edges into open units alone */
	uint32_t from, to;
	uint32_t in_next, in_previous; /* among the edges into `to` */
	uint32_t out_next;             /* those out of `from` go together */
	bool program_order;
	bool refused; /* known to close a cycle: no part of the order */
	uint8_t more_count;
	uint32_t more; /* first of the pairs on other locations, the latest first */
	struct check_access_tag source, target;
};

struct more {
	uint32_t next;
	struct check_pair pair;
};

struct graph {
	struct pool edges, more;
	uint32_t *heads;
	uint32_t mask, hashed;
	uint32_t last; /* of the order; slot 0 of the units stands before its first */
	uint64_t gap;  /* between labels, where there is room */
	uint64_t random;
	struct list forward, backward, forward_active, backward_active, forward_passive, backward_passive;
	struct list queue;
	struct check_edge *cycle;
	uint32_t cycle_length, cycle_capacity;
	struct check_pair *pairs; /* of the cycle's edges */
	uint32_t pair_count, pair_capacity;
};

static inline struct edge *edge_at(struct check *check, uint32_t edge)
{
	return (struct edge *)check->graph->edges.items + edge;
}

static inline struct more *more_at(struct check *check, uint32_t more)
{
	return (struct more *)check->graph->more.items + more;
}

/*
 * Makes the order fit an edge that is about to be added. False: the edge would
 * close a cycle, and the order is as it was.
 */
bool order_admits(struct check *check, uint32_t from, uint32_t to);
/* The unit leaves the graph. */
void order_remove(struct check *check, uint32_t unit);

/* Reports the cycle that the refused edge would close, a shortest one. */
void cycle_report(struct check *check, uint32_t edge, bool again);

#endif
