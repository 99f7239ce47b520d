/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A topological order of the conflict graph, kept while edges come: the two-way
 * search of Haeupler, Kavitha, Mathew, Sen and Tarjan ("Incremental cycle
 * detection, topological ordering, and strong component maintenance", Sect. 4,
 * soft-threshold search), O(sqrt m) steps an edge on average for m edges.
 *
 * The order is a list; labels that grow along it compare two units at once, and
 * are given anew for a stretch of the list where they get too close (Bender,
 * Cole, Demaine, Farach-Colton, Zito: "Two simplified algorithms for maintaining
 * order in a list").
 *
 * Units from which no edge leads are not in the list and count as behind
 * all that are: they can follow anything. Most edges of most programs lead to
 * such a unit and cost no search at all.
 */
#include <stdlib.h>

#include "base/err.h"
#include "check/graph.h"

#define LIMIT_BITS 62
#define LIMIT (1ull << LIMIT_BITS)

static struct graph_node *node_at(struct check *check, uint32_t unit)
{
	return &unit_at(check, unit)->graph;
}

static void list_link(struct check *check, uint32_t before, uint32_t unit)
{
	struct graph_node *node = node_at(check, unit);
	/* Slot 0 is no end: behind the last unit there is none. */
	uint32_t after = node_at(check, before)->after;

	node->before = before;
	node->after = after;
	node_at(check, before)->after = unit;
	if (after)
		node_at(check, after)->before = unit;
	else
		check->graph->last = unit;
}

static void list_unlink(struct check *check, uint32_t unit)
{
	struct graph_node *node = node_at(check, unit);

	node_at(check, node->before)->after = node->after;
	if (node->after)
		node_at(check, node->after)->before = node->before;
	else
		check->graph->last = node->before;
	node->label = 0;
}

void order_remove(struct check *check, uint32_t unit)
{
	if (node_at(check, unit)->label)
		list_unlink(check, unit);
}

/* Labels for `count` units from `unit` on, `step` apart. */
static void spread(struct check *check, uint32_t unit, uint64_t count, uint64_t label, uint64_t step)
{
	for (; count; count--) {
		label += step;
		node_at(check, unit)->label = label;
		unit = node_at(check, unit)->after;
	}
}

static void append(struct check *check, uint32_t unit)
{
	uint32_t last = check->graph->last;
	uint64_t label = node_at(check, last)->label + check->graph->gap;
	uint64_t count = 0;
	uint64_t step;

	list_link(check, last, unit);
	node_at(check, unit)->label = label;
	if (label < LIMIT)
		return;
	/* The labels are used up, by units most of which are gone. */
	for (unit = node_at(check, 0)->after; unit; unit = node_at(check, unit)->after)
		count++;
	step = LIMIT / 2 / (count + 1);
	spread(check, node_at(check, 0)->after, count, 0,
	       step < check->graph->gap ? step : check->graph->gap);
}

/*
 * Room for a label in front of the unit: the smallest stretch around it that is
 * sparse enough is spread out. The longer the stretch, the sparser it must be,
 * which is what keeps the cost of an insertion logarithmic on average.
 */
static void make_room(struct check *check, uint32_t unit)
{
	uint64_t label = node_at(check, unit)->label;
	uint32_t first = unit, last = unit;
	uint64_t inside = 1;
	double most = 1;
	int bits;

	for (bits = 1; bits <= LIMIT_BITS; bits++) {
		uint64_t low = label >> bits << bits;
		uint64_t high = low + (1ull << bits);
		uint32_t next;

		most *= 1.5;
		while ((next = node_at(check, first)->before) && node_at(check, next)->label >= low) {
			first = next;
			inside++;
		}
		while ((next = node_at(check, last)->after) && node_at(check, next)->label < high) {
			last = next;
			inside++;
		}
		if (inside <= most && 2 * (inside + 1) <= high - low) {
			spread(check, first, inside, low, (high - low) / (inside + 1));
			return;
		}
	}
	BUG_ON("there are too many units for their labels");
}

/* Puts units, by their labels so far, behind `before`; they are in the list elsewhere. */
static void move_behind(struct check *check, uint32_t before, struct list *units)
{
	uint32_t i;

	for (i = 0; i < units->count; i++) {
		uint32_t unit = units->items[i];
		uint32_t after = node_at(check, before)->after;
		uint64_t left = units->count - i;
		uint64_t gap;

		if (!after) {
			append(check, unit);
		} else {
			if (node_at(check, after)->label - node_at(check, before)->label < 2)
				make_room(check, after);
			gap = (node_at(check, after)->label - node_at(check, before)->label) / (left + 1);
			list_link(check, before, unit);
			node_at(check, unit)->label = node_at(check, before)->label + (gap ? gap : 1);
		}
		before = unit;
	}
}

static int by_label(const void *a, const void *b, void *check)
{
	uint64_t first = node_at(check, *(const uint32_t *)a)->label;
	uint64_t second = node_at(check, *(const uint32_t *)b)->label;

	return first < second ? -1 : first > second;
}

/* Keeps in the list of visited units those on one side of the label, in order. */
static void keep(struct check *check, struct list *units, uint64_t label, bool below)
{
	uint32_t kept = 0;
	uint32_t i;

	for (i = 0; i < units->count; i++) {
		uint64_t own = node_at(check, units->items[i])->label;

		if (below ? own < label : own > label)
			units->items[kept++] = units->items[i];
	}
	units->count = kept;
	if (kept > 1)
		qsort_r(units->items, kept, sizeof(*units->items), by_label, check);
}

static void unlink_all(struct check *check, const struct list *units)
{
	uint32_t i;

	for (i = 0; i < units->count; i++)
		list_unlink(check, units->items[i]);
}

/*
 * Sect. 4: t is the first unit that the forward search has not done with, or
 * the source of the edge. What the forward search found before t goes behind
 * what the backward search found after it, and both to where t is.
 */
static void reorder(struct check *check, uint32_t from)
{
	struct graph *graph = check->graph;
	uint32_t t = from;
	uint32_t i, before;

	for (i = 0; i < graph->forward.count; i++) {
		uint32_t unit = graph->forward.items[i];

		if (node_at(check, unit)->out_at && node_at(check, unit)->label < node_at(check, t)->label)
			t = unit;
	}
	keep(check, &graph->forward, node_at(check, t)->label, true);
	keep(check, &graph->backward, node_at(check, t)->label, false);
	unlink_all(check, &graph->forward);
	unlink_all(check, &graph->backward);
	before = t == from ? t : node_at(check, t)->before;
	move_behind(check, before, &graph->backward);
	if (graph->backward.count)
		before = graph->backward.items[graph->backward.count - 1];
	move_behind(check, before, &graph->forward);
}

/* Which of the units that a side has set aside becomes its threshold: any one, by lot. */
static uint64_t threshold(struct check *check, const struct list *passive)
{
	struct graph *graph = check->graph;

	graph->random ^= graph->random << 13;
	graph->random ^= graph->random >> 7;
	graph->random ^= graph->random << 17;
	return node_at(check, passive->items[graph->random % passive->count])->label;
}

/* Units up to the threshold (from it on, backward) can be looked at again. */
static void awake(struct check *check, struct list *passive, struct list *active, uint64_t bound,
		  bool forward)
{
	uint32_t kept = 0;
	uint32_t i;

	for (i = 0; i < passive->count; i++) {
		uint64_t label = node_at(check, passive->items[i])->label;

		if (forward ? label <= bound : label >= bound)
			list_add(active, passive->items[i]);
		else
			passive->items[kept++] = passive->items[i];
	}
	passive->count = kept;
}

/* A unit comes in sight. The marks of the two directions are neighbours. */
static bool visit(struct check *check, uint32_t unit, uint64_t mark, bool forward)
{
	struct graph *graph = check->graph;
	struct unit *at = unit_at(check, unit);

	if (at->mark == mark + forward)
		return true;
	/* Nothing leads on from a unit that has no place, and nothing to it matters. */
	if (at->mark == mark + !forward || !at->graph.label)
		return false;
	at->mark = mark + !forward;
	check->stats.searched++;
	at->graph.out_at = at->graph.out;
	at->graph.in_at = at->graph.in;
	list_add(forward ? &graph->forward : &graph->backward, unit);
	if (forward ? at->graph.out_at : at->graph.in_at)
		list_add(forward ? &graph->forward_active : &graph->backward_active, unit);
	return false;
}

/* Follows an edge out of a unit and an edge into another, the last active ones. True: the two searches met.
 */
static bool step(struct check *check, uint64_t mark)
{
	struct list *fa = &check->graph->forward_active, *ba = &check->graph->backward_active;
	struct graph_node *first = node_at(check, fa->items[fa->count - 1]);
	struct graph_node *second = node_at(check, ba->items[ba->count - 1]);
	struct edge *out = edge_at(check, first->out_at);
	struct edge *in = edge_at(check, second->in_at);

	first->out_at = out->out_next;
	if (!first->out_at)
		fa->count--;
	second->in_at = in->in_next;
	if (!second->in_at)
		ba->count--;
	return visit(check, out->to, mark, true) || visit(check, in->from, mark, false);
}

/*
 * Both ways at once, from `to` along the edges and from `from` against them,
 * always a unit before another. Units beyond the threshold are set aside until
 * nothing else is left on their side. True: there is a cycle.
 */
static bool search(struct check *check, uint32_t from, uint32_t to)
{
	struct graph *graph = check->graph;
	struct list *fa = &graph->forward_active, *ba = &graph->backward_active;
	struct list *fp = &graph->forward_passive, *bp = &graph->backward_passive;
	uint64_t bound = node_at(check, from)->label;
	uint64_t low = 0, high = UINT64_MAX; /* no unit before, none behind is of use */
	uint64_t mark = check->marks + 1;

	check->marks += 2;
	graph->forward.count = graph->backward.count = 0;
	fa->count = ba->count = fp->count = bp->count = 0;
	visit(check, to, mark, true);
	visit(check, from, mark, false);
	for (;;) {
		uint64_t first, second;

		if (!fa->count) {
			if (!fp->count)
				return false;
			/* What is left forward lies behind the threshold: no use for what is before it. */
			low = bound;
			bp->count = 0;
			bound = threshold(check, fp);
			awake(check, fp, fa, bound, true);
		}
		if (!ba->count) {
			if (!bp->count)
				return false;
			high = bound;
			fp->count = 0;
			bound = threshold(check, bp);
			awake(check, bp, ba, bound, false);
		}
		first = node_at(check, fa->items[fa->count - 1])->label;
		second = node_at(check, ba->items[ba->count - 1])->label;
		if (first >= high) {
			fa->count--;
		} else if (second <= low) {
			ba->count--;
		} else if (first < second) {
			if (step(check, mark))
				return true;
		} else {
			if (first > bound)
				list_add(fp, fa->items[--fa->count]);
			if (second < bound)
				list_add(bp, ba->items[--ba->count]);
		}
	}
}

bool order_admits(struct check *check, uint32_t from, uint32_t to)
{
	struct graph_node *source = node_at(check, from);
	struct graph_node *target = node_at(check, to);

	if (!target->out) {
		/* It may have been put in the list as the source of a refused edge. */
		order_remove(check, to);
		if (!source->label)
			append(check, from);
		return true;
	}
	if (!source->label)
		append(check, from);
	if (source->label < target->label)
		return true;
	if (search(check, from, to))
		return false;
	reorder(check, from);
	return true;
}
