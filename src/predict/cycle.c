/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Cycles of three units or more over one atomic set: each unit comes before the
 * next on some variable, and the last before the first. Unit j is left by an
 * access o(j), which comes before the access i(j+1) by which the next is entered.
 *
 * In some unit o must come before i, or time would go round in a circle: there
 * the others come in between, and the unit has to stop at a point from o to i.
 * A unit with i before o runs through both, and perhaps further. So the goal is a point for each
 * unit, and an order of those accesses that are behind these points.
 *
 * If every unit keeps the guards of all its variables from its first access to
 * its last there is no cycle, so a search begins with one that does not.
 *
 * Cycles in which two units are already known to break each other are left out.
 */
#include "base/err.h"
#include "predict/shape.h"

#include <stdlib.h>
#include <string.h>

#define SHAPES_PER_SET 64
#define STEPS_PER_SET 20000 /* in looking for cycles, */
#define STEPS 1000000       /* and in all */
#define LONGEST 4
#define POINTS 4

struct link {
	uint32_t out, in; /* accesses: numbers inside of their shapes */
};

struct ring {
	struct shapes *s;
	struct predict *p;
	const struct map *together;
	uint32_t *members, count; /* shapes of the set */
	uint32_t path[LONGEST], length;
	struct link links[LONGEST]; /* from path[j] to path[j + 1], the last to the first */
	uint32_t budget;
};

static const struct shape *shape_of(const struct ring *r, uint32_t j)
{
	return &r->s->all[r->path[j]];
}

static const struct shape_access *access_of(const struct ring *r, uint32_t j, uint32_t number)
{
	return &r->s->accesses[shape_of(r, j)->first + number];
}

static uint32_t out_event(const struct ring *r, uint32_t j)
{
	return access_of(r, j, r->links[j].out)->event;
}

static uint32_t in_event(const struct ring *r, uint32_t j)
{
	return access_of(r, j, r->links[(j + r->length - 1) % r->length].in)->event;
}

static uint32_t variable_of(const struct ring *r, uint32_t j, bool in)
{
	return in ? access_of(r, j, r->links[(j + r->length - 1) % r->length].in)->variable
		  : access_of(r, j, r->links[j].out)->variable;
}

static bool gap(const struct ring *r, uint32_t j)
{
	return out_event(r, j) < in_event(r, j);
}

static void put(struct ring *r, struct prediction *new, uint32_t j, bool in)
{
	const struct history *h = r->p->history;
	uint32_t event = in ? in_event(r, j) : out_event(r, j), n = new->access_count;

	if (n && new->accesses[n - 1] == event)
		return; /* a unit that is entered and left by one access */
	new->accesses[n] = event;
	new->variables[n] = variable_of(r, j, in);
	new->access_count++;
	new->places =
		predict_mix(new->places + 3, (uint64_t)h->events[event].site << 8 | h->events[event].kind);
}

static uint64_t key_of(const struct ring *r)
{
	const struct history_event *events = r->p->history->events;
	uint64_t sum = 0;

	/* The same wherever the cycle begins. */
	for (uint32_t j = 0; j < r->length; j++) {
		const struct history_event *o = &events[out_event(r, j)];
		const struct history_event *i = &events[in_event(r, (j + 1) % r->length)];

		sum += predict_mix((uint64_t)o->site << 1 | o->kind, (uint64_t)i->site << 1 | i->kind);
	}
	return predict_mix(sum, 0xc7c1e);
}

static void report(struct ring *r, uint64_t key, const struct weave_goal *goal)
{
	struct prediction *new = predict_add(r->p, key);

	if (!new)
		return;
	new->kind = PREDICT_CYCLE;
	new->goal = *goal;
	new->seen = true;
	for (uint32_t j = 0; j < r->length; j++)
		if (gap(r, j))
			put(r, new, j, false);
	for (uint32_t j = 0; j < r->length; j++)
		for (uint32_t k = 1; gap(r, j) && k < r->length && !gap(r, (j + k) % r->length); k++) {
			put(r, new, (j + k) % r->length, true);
			put(r, new, (j + k) % r->length, false);
		}
	for (uint32_t j = 0; j < r->length; j++) {
		if (gap(r, j))
			put(r, new, j, true);
		new->seen &= out_event(r, j) < in_event(r, (j + 1) % r->length);
	}
}

static void spend(struct ring *r)
{
	r->budget -= r->budget > 0;
}

/* Tries points for the units from j on; the others have theirs. */
static bool try_points(struct ring *r, struct weave_goal *goal, uint32_t j, enum order_reason *reason,
		       bool *refused)
{
	struct predict *p = r->p;
	uint32_t points[POINTS], count;

	if (j == r->length) {
		spend(r);
		if (predict_feasible(p, goal, reason))
			return true;
		*refused = true;
		return false;
	}
	/* Who has done both may go on, if only to give up a lock. */
	goal->threads[j] = shape_of(r, j)->thread;
	count = shape_points(p, goal->threads[j], out_event(r, j) + 1,
			     gap(r, j) ? in_event(r, j) : UINT32_MAX, points, POINTS);
	for (uint32_t k = 0; k < count && r->budget; k++) {
		uint32_t context = lockset_context(&p->locks, goal->threads[j], points[k]);
		bool fits = true;

		for (uint32_t i = 0; i < j && fits; i++)
			fits = lockset_compatible(
				&p->locks, lockset_context(&p->locks, goal->threads[i], goal->targets[i]),
				context);
		if (!fits)
			continue;
		goal->targets[j] = points[k];
		goal->anchors[j] = gap(r, j) ? points[k] : in_event(r, j);
		goal->intends[j] = gap(r, j) ? in_event(r, j) : 0;
		if (try_points(r, goal, j + 1, reason, refused))
			return true;
	}
	return false;
}

static void try_cycle(struct ring *r)
{
	struct weave_goal goal = {.count = r->length};
	enum order_reason reason = ORDER_LOCKS;
	bool refused = false, any = false;
	uint64_t key = key_of(r);

	if (map_get(&r->p->known, key) || !r->p->work)
		return;
	r->p->work--;
	for (uint32_t j = 0; j < r->length; j++) {
		uint32_t next = (j + 1) % r->length;

		any |= gap(r, j);
		if (!gap(r, next))
			goal.edges[goal.edge_count++] =
				(struct weave_edge){j, out_event(r, j), next, in_event(r, next)};
	}
	if (!any)
		return;
	if (try_points(r, &goal, 0, &reason, &refused))
		report(r, key, &goal);
	else if (refused)
		predict_refuse(r->p, key, reason);
}

/*
 * Accesses by which the shape at j can come before the shape at k: for each
 * variable and kind the first and the last, since what lies in between is no
 * easier to have.
 */
static uint32_t find_links(const struct ring *r, uint32_t j, uint32_t k, struct link *links, uint32_t room)
{
	const struct history_event *events = r->p->history->events;
	uint32_t count = 0;

	for (uint32_t a = 0; a < shape_of(r, j)->count; a++)
		for (uint32_t b = 0; b < shape_of(r, k)->count && count < room; b++) {
			const struct shape_access *x = access_of(r, j, a), *y = access_of(r, k, b);

			if (x->variable == y->variable && (events[x->event].kind == HISTORY_WRITE ||
							   events[y->event].kind == HISTORY_WRITE))
				links[count++] = (struct link){a, b};
		}
	return count;
}

/* Chooses links from j on, once the units are chosen. */
static void try_links(struct ring *r, uint32_t j)
{
	struct link links[6];

	if (j == r->length) {
		try_cycle(r);
		return;
	}
	uint32_t count = find_links(r, j, (j + 1) % r->length, links, 6);

	for (uint32_t i = 0; i < count && r->budget; i++) {
		spend(r);
		r->links[j] = links[i];
		try_links(r, j + 1);
	}
}

static bool linked(const struct ring *r, uint32_t j, uint32_t k)
{
	struct link link;

	return find_links(r, j, k, &link, 1);
}

/* Units that can follow, each of another thread, the one with the lowest number first. */
static void extend(struct ring *r)
{
	uint32_t last = r->length - 1;

	if (r->length >= 3 && linked(r, last, 0))
		try_links(r, 0);
	if (r->length == LONGEST)
		return;
	for (uint32_t m = 0; m < r->count && r->budget; m++) {
		/* Each cycle once: from the first of its open units. */
		bool fits = r->members[m] > r->path[0] || !r->s->all[r->members[m]].open;

		r->path[r->length] = r->members[m];
		for (uint32_t j = 0; j < r->length && fits; j++)
			fits = shape_of(r, j)->thread != shape_of(r, r->length)->thread &&
			       !map_get(r->together,
					shape_pair(shape_of(r, j)->face, shape_of(r, r->length)->face));
		/* A chord would make it two shorter cycles. */
		for (uint32_t j = 1; j < last && fits; j++)
			fits = !linked(r, j, r->length);
		if (!fits || !linked(r, last, r->length))
			continue;
		spend(r);
		r->length++;
		extend(r);
		r->length--;
	}
}

static int by_set(const void *a, const void *b, void *shapes)
{
	const struct shape *all = ((struct shapes *)shapes)->all;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (all[x].set != all[y].set)
		return (all[x].set > all[y].set) - (all[x].set < all[y].set);
	return (x > y) - (x < y);
}

static uint32_t threads_of(const struct shapes *s, const uint32_t *members, uint32_t count)
{
	uint32_t threads = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t k = 0;

		while (k < i && s->all[members[k]].thread != s->all[members[i]].thread)
			k++;
		threads += k == i;
	}
	return threads;
}

void pattern_cycles(struct shapes *s, const struct map *together)
{
	uint32_t *order = mem_zalloc(s->count + 1ull, sizeof(*order)), left = STEPS;

	for (uint32_t i = 0; i < s->count; i++)
		order[i] = i;
	qsort_r(order, s->count, sizeof(*order), by_set, s);
	for (uint32_t i = 0, end; i < s->count; i = end) {
		struct ring r = {.s = s,
				 .p = s->p,
				 .together = together,
				 .members = order + i,
				 .budget = left < STEPS_PER_SET ? left : STEPS_PER_SET};
		uint32_t budget = r.budget, open = 0;

		for (end = i; end < s->count && s->all[order[end]].set == s->all[order[i]].set;)
			end++;
		r.count = end - i;
		for (uint32_t m = 0; m < r.count; m++)
			open += s->all[r.members[m]].open;
		if (!open)
			continue;
		if (r.count > SHAPES_PER_SET) {
			s->p->counts.skipped += r.count - SHAPES_PER_SET;
			r.count = SHAPES_PER_SET;
		}
		if (r.count < 3 || threads_of(s, r.members, r.count) < 3)
			continue;
		for (uint32_t m = 0; m < r.count && r.budget; m++) {
			r.path[0] = r.members[m];
			r.length = 1;
			if (s->all[r.path[0]].open)
				extend(&r);
		}
		s->p->counts.skipped += !r.budget;
		left -= budget - r.budget;
	}
	free(order);
}
