/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Cut-points of patterns over one variable (PENELOPE, section 4.1). One pass
 * over the run collects, for each thread and variable, the paper's witnesses:
 *
 *   R, W    accesses, with the context in which they are made: here `singles`
 *   WW, AA  points between two accesses of one unit: here `gaps`
 *
 * Witnesses with the same places and lock contexts are a group, of which one is
 * kept for each stretch between synchronisation operations, since two in one
 * stretch are alike. Then gaps and singles of different threads are combined
 * (combine.c).
 *
 * For e1 and e2 all accesses of their kinds need not be paired: f falls between
 * the last e1 before it and the first e2 after it, so for each e2 there are two
 * gaps at most of each kind of e1 (see look_back). That keeps the pass linear.
 */
#include "predict/witness.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_BEHIND 32 /* accesses of others between e1 and e2 that are looked at */

/* What a unit did with a variable so far. Events plus one; 0: none. */
struct slot {
	uint32_t unit;
	uint32_t last[2];   /* read, write */
	uint32_t before[2]; /* access of the other kind before last[k], the latest */
	uint32_t since[2];  /* access of the other kind after last[k], the first */
};

struct collect {
	struct predict *p;
	struct groups gaps, singles;
	struct slot *slots;
	uint32_t slot_count, slot_room;
	struct map slot_index;
	uint32_t *segments; /* per thread */
	uint32_t *ends;     /* per thread: the event that ended the last segment, plus one */
	uint32_t *previous; /* access to the same variable before this event, plus one; 0: none */
	uint32_t *latest;   /* by variable, plus one */
	struct map seen;    /* patterns that the run has */
};

static uint64_t class_of(const struct group *g)
{
	return predict_mix(predict_mix(g->site1, g->site2),
			   (uint64_t)g->context << 8 | g->kind1 << 4 | g->kind2 << 1 | g->inside);
}

/* The group that equals this one, found by a hash of 64 bits, or made. */
static struct group *find_group(struct groups *groups, uint64_t chain, const struct group *like)
{
	uint64_t class = predict_mix(class_of(like), chain);
	uint64_t hash = predict_mix(class, (uint64_t)like->thread << 32 | like->variable);
	uint32_t index = map_get(&groups->index, hash), number;

	if (index)
		return &groups->all[index];
	number = map_get(&groups->classes, class);
	if (!number) {
		number = (uint32_t)groups->classes.count + 1;
		map_set(&groups->classes, class, number);
	}
	if (groups->count + 1 >= groups->room) {
		groups->room = groups->room ? groups->room * 2 : 1024;
		groups->all = mem_resize(groups->all, groups->room, sizeof(*groups->all));
	}
	index = ++groups->count;
	groups->all[index] = *like;
	groups->all[index].class = number;
	groups->all[index].next = groups->heads[like->variable];
	groups->heads[like->variable] = index;
	map_set(&groups->index, hash, index);
	return &groups->all[index];
}

static void add_gap(struct group *g, struct gap gap)
{
	if (!g->count) {
		g->gap = gap;
		g->count = 1;
		return;
	}
	if (g->count == 1) {
		struct gap first = g->gap;

		g->room = 4;
		g->gaps = mem_alloc(g->room * sizeof(*g->gaps));
		g->gaps[0] = first;
	} else if (g->count == g->room) {
		g->room *= 2;
		g->gaps = mem_resize(g->gaps, g->room, sizeof(*g->gaps));
	}
	g->gaps[g->count++] = gap;
}

static void add_single(struct group *g, uint32_t event)
{
	if (!g->count) {
		g->single = event;
		g->count = 1;
		return;
	}
	if (g->count == 1) {
		uint32_t first = g->single;

		g->room = 4;
		g->singles = mem_alloc(g->room * sizeof(*g->singles));
		g->singles[0] = first;
	} else if (g->count == g->room) {
		g->room *= 2;
		g->singles = mem_resize(g->singles, g->room, sizeof(*g->singles));
	}
	g->singles[g->count++] = event;
}

/* The contexts of the points in a gap that are worth a look, as one number. */
uint64_t witness_chain(const struct locksets *l, uint32_t low, uint32_t e2)
{
	uint32_t position = lockset_at(l, low);
	uint64_t hash = 0;

	for (unsigned i = 0; i < WITNESS_CHAIN; i++) {
		hash = predict_mix(hash, l->positions[position].context);
		position = l->positions[position].next;
		if (!position || l->positions[position].event >= e2)
			break;
	}
	return hash;
}

uint64_t witness_key(const struct history *h, uint32_t variable, uint32_t e1, uint32_t f, uint32_t e2)
{
	const struct history_event *a = &h->events[e1], *b = &h->events[f], *c = &h->events[e2];
	uint64_t hash = predict_mix(variable, (uint64_t)a->thread << 32 | b->thread);

	hash = predict_mix(hash, (uint64_t)a->site << 32 | b->site);
	return predict_mix(hash, (uint64_t)c->site << 32 | a->kind << 4 | b->kind << 2 | c->kind);
}

bool witness_is_pattern(unsigned kind1, unsigned f, unsigned kind2)
{
	return f == HISTORY_WRITE || (kind1 == HISTORY_WRITE && kind2 == HISTORY_WRITE);
}

/* Others' accesses that the run already has between e1 and e2. */
static void look_behind(struct collect *c, uint32_t variable, uint32_t e1, uint32_t e2)
{
	const struct history *h = c->p->history;
	uint32_t at = c->latest[variable];

	for (unsigned i = 0; i < LOOK_BEHIND && at && at - 1 > e1; i++, at = c->previous[at - 1]) {
		const struct history_event *f = &h->events[at - 1];

		if (f->thread != h->events[e2].thread &&
		    witness_is_pattern(h->events[e1].kind, f->kind, h->events[e2].kind))
			map_set(&c->seen, witness_key(h, variable, e1, at - 1, e2), 1);
	}
}

static void note_gap(struct collect *c, uint32_t variable, uint32_t e1, uint32_t low, uint32_t e2)
{
	const struct history *h = c->p->history;
	const struct history_event *a = &h->events[e1], *b = &h->events[e2];
	struct group like = {.thread = b->thread,
			     .variable = variable,
			     .site1 = a->site,
			     .site2 = b->site,
			     .kind1 = a->kind,
			     .kind2 = b->kind};
	uint32_t segment = c->segments[b->thread] + 1;

	/* Halves of one event: nobody comes between, unless it is an update that is not one step. */
	if (a->time == b->time) {
		if (!b->update || a->kind != HISTORY_READ || !h->units[b->unit].rule)
			return;
		like.inside = true;
	}
	if (guard_kept(&c->p->guards, &c->p->locks, variable, low, e2))
		return;
	look_behind(c, variable, e1, e2);
	uint64_t chain = witness_chain(&c->p->locks, low, e2);
	struct group *g = find_group(&c->gaps, chain, &like);

	g->last_gap = (struct gap){e1, e2, low};
	/* A gap that synchronisation falls into is like no other. */
	if (low >= c->ends[b->thread]) {
		if (g->segment == segment)
			return;
		g->segment = segment;
	}
	add_gap(g, (struct gap){e1, e2, low});
}

/*
 * e2 has come. Of the accesses of kind k1 that may be e1, and the points at
 * which f may come so that e2 is the next of its kind: all points since the last
 * access of e2's kind. The last k1 before e2 is e1 for the points after it; for
 * the points before it, if any are left, e1 is an earlier one.
 */
static void look_back(struct collect *c, const struct slot *s, uint32_t variable, uint32_t e2)
{
	unsigned k2 = c->p->history->events[e2].kind, k1 = !k2;

	if (s->last[k2])
		note_gap(c, variable, s->last[k2] - 1, s->last[k2] - 1, e2);
	if (!s->last[k1])
		return;
	if (s->last[k1] > s->last[k2]) {
		note_gap(c, variable, s->last[k1] - 1, s->last[k1] - 1, e2);
		if (s->last[k2] && s->before[k2])
			note_gap(c, variable, s->before[k2] - 1, s->last[k2] - 1, e2);
		else if (s->since[k2] && s->since[k2] < s->last[k1])
			note_gap(c, variable, s->since[k2] - 1, s->since[k2] - 1, e2);
	} else {
		note_gap(c, variable, s->last[k1] - 1, s->last[k2] - 1, e2);
	}
}

static struct slot *slot_of(struct collect *c, uint32_t thread, uint32_t variable)
{
	uint64_t key = (uint64_t)thread << 32 | variable;
	uint32_t index = map_get(&c->slot_index, key);

	if (!index) {
		if (c->slot_count + 1 >= c->slot_room) {
			c->slot_room = c->slot_room ? c->slot_room * 2 : 1024;
			c->slots = mem_resize(c->slots, c->slot_room, sizeof(*c->slots));
		}
		index = ++c->slot_count;
		c->slots[index] = (struct slot){0};
		map_set(&c->slot_index, key, index);
	}
	return &c->slots[index];
}

static void note_single(struct collect *c, uint32_t variable, uint32_t event)
{
	const struct history_event *e = &c->p->history->events[event];
	struct group like = {.thread = e->thread,
			     .variable = variable,
			     .site1 = e->site,
			     .kind1 = e->kind,
			     .context = c->p->locks.positions[lockset_at(&c->p->locks, event)].context};
	struct group *g = find_group(&c->singles, 0, &like);
	uint32_t segment = c->segments[e->thread] + 1;

	g->last_single = event;
	if (g->segment == segment)
		return;
	g->segment = segment;
	add_single(g, event);
}

static void access_variable(struct collect *c, uint32_t variable, uint32_t event)
{
	const struct history *h = c->p->history;
	const struct history_event *e = &h->events[event];
	const struct history_variable *v = &h->variables[variable];

	if (c->p->contend.variables[variable]) {
		if (!order_alone(&c->p->order, event))
			note_single(c, variable, event);
		if (e->unit) {
			struct slot *s = slot_of(c, e->thread, variable);
			unsigned k = e->kind;

			if (s->unit != e->unit)
				*s = (struct slot){.unit = e->unit};
			look_back(c, s, variable, event);
			s->before[k] = s->last[!k];
			s->since[k] = 0;
			if (!s->since[!k])
				s->since[!k] = event + 1;
			s->last[k] = event + 1;
		}
		if (variable == e->object) {
			c->previous[event] = c->latest[variable];
			c->latest[variable] = event + 1;
		}
	}
	/* What was split off later shares this past. */
	for (uint32_t child = v->child; child != HISTORY_NONE; child = h->variables[child].sibling)
		if (h->variables[child].since > event)
			access_variable(c, child, event);
}

static void groups_release(struct groups *groups)
{
	for (uint32_t i = 1; i <= groups->count; i++)
		if (groups->all[i].count > 1)
			free(groups->all[i].gaps);
	free(groups->all);
	free(groups->heads);
	map_release(&groups->index);
	map_release(&groups->classes);
}

void cutpoint_run(struct predict *p)
{
	const struct history *h = p->history;
	struct collect c = {.p = p};

	c.gaps.heads = mem_zalloc(h->variable_count + 1ull, sizeof(*c.gaps.heads));
	c.singles.heads = mem_zalloc(h->variable_count + 1ull, sizeof(*c.singles.heads));
	c.segments = mem_zalloc(h->thread_count + 1ull, sizeof(*c.segments));
	c.ends = mem_zalloc(h->thread_count + 1ull, sizeof(*c.ends));
	c.previous = mem_zalloc(h->count + 1ull, sizeof(*c.previous));
	c.latest = mem_zalloc(h->variable_count + 1ull, sizeof(*c.latest));
	for (uint32_t i = 0; i < h->count; i++) {
		uint32_t thread = h->events[i].thread;
		bool end = order_ends_segment(&p->order, i);

		if (end) {
			c.segments[thread]++;
			c.ends[thread] = i;
		}
		if (history_is_access(&h->events[i]))
			access_variable(&c, h->events[i].object, i);
		if (end) {
			c.segments[thread]++;
			c.ends[thread] = i + 1;
		}
	}
	map_release(&c.slot_index);
	free(c.slots);
	combine_all(p, &c.gaps, &c.singles, &c.seen);
	groups_release(&c.gaps);
	groups_release(&c.singles);
	free(c.segments);
	free(c.ends);
	free(c.previous);
	free(c.latest);
	map_release(&c.seen);
}
