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
 * stretch are alike. Then gaps and singles of different threads are combined.
 *
 * For e1 and e2 all accesses of their kinds need not be paired: f falls between
 * the last e1 before it and the first e2 after it, so for each e2 there are two
 * gaps at most of each kind of e1 (see look_back). That keeps the pass linear.
 */
#include "predict/predict.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define TRIES_PER_PAIR 4096 /* combinations of witnesses of one pair of groups */
#define SOLVED_PER_PAIR 8   /* of which so many may turn out to be impossible */
#define CHAIN_LIMIT 64      /* points between e1 and e2 that are looked at */
#define LOOK_BEHIND 32      /* accesses of others between e1 and e2 that are looked at */

/* What a unit did with a variable so far. Events plus one; 0: none. */
struct slot {
	uint32_t unit;
	uint32_t last[2];   /* read, write */
	uint32_t before[2]; /* access of the other kind before last[k], the latest */
	uint32_t since[2];  /* access of the other kind after last[k], the first */
};

struct gap {
	uint32_t e1, e2;
	uint32_t low; /* f may come from here on: event e1 or one after it */
};

/* Witnesses are kept in the group itself as long as there is one. */
struct group {
	uint32_t thread, variable;
	uint32_t site1, site2; /* a single has only the first */
	uint32_t context;      /* single */
	uint8_t kind1, kind2;
	bool inside;
	uint32_t next; /* of the same variable; 0: none */
	uint32_t count, room;
	uint32_t segment; /* of the latest witness, plus one */
	union {
		struct gap gap, *gaps;
		uint32_t single, *singles;
	};
};

struct groups {
	struct group *all; /* [0] is unused */
	uint32_t count, room;
	struct map index;
	uint32_t *heads; /* by variable */
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

static uint64_t hash_of(const struct group *g)
{
	uint64_t hash = predict_mix(g->thread, g->variable);

	hash = predict_mix(hash, (uint64_t)g->site1 << 32 | g->site2);
	return predict_mix(hash, (uint64_t)g->context << 8 | g->kind1 << 4 | g->kind2 << 1 | g->inside);
}

/* The group that equals this one, found by a hash of 64 bits, or made. */
static struct group *find_group(struct groups *groups, uint64_t hash, const struct group *like)
{
	uint32_t index = map_get(&groups->index, hash);

	if (index)
		return &groups->all[index];
	if (groups->count + 1 >= groups->room) {
		groups->room = groups->room ? groups->room * 2 : 1024;
		groups->all = mem_resize(groups->all, groups->room, sizeof(*groups->all));
	}
	index = ++groups->count;
	groups->all[index] = *like;
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
static uint64_t chain_hash(const struct locksets *l, uint32_t low, uint32_t e2)
{
	uint32_t position = lockset_at(l, low);
	uint64_t hash = 0;

	for (unsigned i = 0; i < CHAIN_LIMIT; i++) {
		hash = predict_mix(hash, l->positions[position].context);
		position = l->positions[position].next;
		if (!position || l->positions[position].event >= e2)
			break;
	}
	return hash;
}

static uint64_t pattern_key(const struct history *h, uint32_t variable, uint32_t e1, uint32_t f, uint32_t e2)
{
	const struct history_event *a = &h->events[e1], *b = &h->events[f], *c = &h->events[e2];
	uint64_t hash = predict_mix(variable, (uint64_t)a->thread << 32 | b->thread);

	hash = predict_mix(hash, (uint64_t)a->site << 32 | b->site);
	return predict_mix(hash, (uint64_t)c->site << 32 | a->kind << 4 | b->kind << 2 | c->kind);
}

static bool is_pattern(unsigned kind1, unsigned f, unsigned kind2)
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
		    is_pattern(h->events[e1].kind, f->kind, h->events[e2].kind))
			map_set(&c->seen, pattern_key(h, variable, e1, at - 1, e2), 1);
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
	uint64_t chain = chain_hash(&c->p->locks, low, e2);
	struct group *g = find_group(&c->gaps, predict_mix(hash_of(&like), chain), &like);

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
	struct group *g = find_group(&c->singles, hash_of(&like), &like);
	uint32_t segment = c->segments[e->thread] + 1;

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

/* The contexts at the points of a gap are the same for the whole group. */
static bool locks_allow(struct predict *p, const struct group *g, struct gap gap, uint32_t context)
{
	const struct lockset_position *positions = p->locks.positions;
	uint32_t at = lockset_at(&p->locks, gap.low);

	for (unsigned i = 0; i < CHAIN_LIMIT && at && (!i || positions[at].event < gap.e2);
	     i++, at = positions[at].next)
		if (lockset_compatible(&p->locks, positions[at].context, context))
			return true;
	return false;
}

/* Can f come at some point of the gap? Then `limit` is how far the gap's thread has come. */
static bool find_point(struct predict *p, const struct vclock *clock, const struct group *g, struct gap gap,
		       uint32_t thread, uint32_t f, uint32_t *limit)
{
	struct locksets *l = &p->locks;
	uint32_t context = l->positions[lockset_at(l, f)].context;
	uint32_t need = vclock_needs(clock, thread, f + 1, g->thread);
	uint32_t at = need > gap.low + 1 ? need : gap.low + 1;
	uint32_t position;

	if (at > gap.e2)
		return false;
	position = need > gap.low + 1 ? lockset_position(l, g->thread, at) : lockset_at(l, gap.low);
	for (unsigned i = 0; i < CHAIN_LIMIT; i++) {
		if (vclock_needs(clock, g->thread, at, thread) > f)
			return false;
		if (lockset_compatible(l, l->positions[position].context, context)) {
			*limit = at;
			return true;
		}
		position = l->positions[position].next;
		if (!position || l->positions[position].event >= gap.e2)
			return false;
		at = l->positions[position].event + 1;
	}
	return false;
}

/* Index of the first single at or after the limit. */
static uint32_t first_single(const struct group *s, const uint32_t *singles, uint32_t limit)
{
	uint32_t low = 0, high = s->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (singles[middle] < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct match {
	struct gap gap;
	uint32_t f, limit;
};

static struct weave_goal goal_of(const struct group *g, const struct group *s, const struct match *m)
{
	return (struct weave_goal){.count = 2,
				   .threads = {g->thread, s->thread},
				   .anchors = {m->limit, m->f},
				   .targets = {m->limit, m->f + 1},
				   .edges = {{0, m->gap.e1, 1, m->f}},
				   .edge_count = 1};
}

/*
 * A gap and a single of two groups that can meet. With `solve` everything is
 * asked; without, only what the paper asks, to tell what is impossible for
 * other reasons from what is no cut-point at all.
 */
static bool find_match(struct predict *p, const struct group *g, const struct group *s, bool solve,
		       struct match *m, enum order_reason *reason, bool *refused)
{
	const struct vclock *clock = solve ? order_whole(&p->order) : &p->order.basic;
	const struct gap *gaps = g->count == 1 ? &g->gap : g->gaps;
	const uint32_t *singles = s->count == 1 ? &s->single : s->singles;
	unsigned tries = 0, solved = 0;

	if (!locks_allow(p, g, gaps[0], s->context))
		return false;
	for (uint32_t i = 0; i < g->count; i++) {
		uint32_t k =
			first_single(s, singles, vclock_needs(clock, g->thread, gaps[i].low + 1, s->thread));

		for (;
		     k < s->count && vclock_needs(clock, s->thread, singles[k] + 1, g->thread) <= gaps[i].e2;
		     k++) {
			if (++tries > TRIES_PER_PAIR || !p->work) {
				p->counts.skipped++;
				return false;
			}
			p->work--;
			*m = (struct match){gaps[i], singles[k], 0};
			if (!find_point(p, clock, g, gaps[i], s->thread, singles[k], &m->limit))
				continue;
			if (!solve)
				return true;
			struct weave_goal goal = goal_of(g, s, m);

			if (predict_feasible(p, &goal, reason))
				return true;
			*refused = true;
			if (++solved == SOLVED_PER_PAIR)
				return false;
		}
	}
	return false;
}

static enum order_reason reason_of(const struct predict *p, const struct group *g, const struct group *s,
				   const struct match *m)
{
	if (order_needs(&p->order, s->thread, m->f + 1, g->thread) > m->gap.e2)
		return order_explain(&p->order, s->thread, m->f + 1, g->thread, m->gap.e2 + 1);
	if (order_needs(&p->order, g->thread, m->limit, s->thread) > m->f)
		return order_explain(&p->order, g->thread, m->limit, s->thread, m->f + 1);
	return ORDER_LOCKS;
}

static void combine(struct collect *c, const struct group *g, const struct group *s)
{
	struct predict *p = c->p;
	enum order_reason reason = ORDER_LOCKS;
	bool refused = false;
	struct match m;

	if (g->thread == s->thread || !is_pattern(g->kind1, s->kind1, g->kind2))
		return;
	if (find_match(p, g, s, true, &m, &reason, &refused)) {
		const struct history_event *events = p->history->events;
		uint64_t key = predict_mix(pattern_key(p->history, g->variable, m.gap.e1, m.f, m.gap.e2),
					   s->context);

		key = predict_mix(key, chain_hash(&p->locks, m.gap.low, m.gap.e2));
		struct prediction *new = predict_add(p, key);

		if (!new)
			return;
		new->kind = PREDICT_SINGLE;
		new->access_count = 3;
		new->accesses[0] = m.gap.e1;
		new->accesses[1] = m.f;
		new->accesses[2] = m.gap.e2;
		for (unsigned i = 0; i < 3; i++) {
			new->variables[i] = g->variable;
			new->places = predict_mix(new->places, (uint64_t)events[new->accesses[i]].site << 8 |
								       events[new->accesses[i]].kind);
		}
		new->goal = goal_of(g, s, &m);
		new->inside = g->inside;
		new->seen = map_get(&c->seen, pattern_key(p->history, g->variable, m.gap.e1, m.f, m.gap.e2));
	} else if (refused) {
		p->counts.impossible[reason]++;
	} else if (!p->order.same && find_match(p, g, s, false, &m, &reason, &refused)) {
		p->counts.impossible[reason_of(p, g, s, &m)]++;
	}
}

static void groups_release(struct groups *groups)
{
	for (uint32_t i = 1; i <= groups->count; i++)
		if (groups->all[i].count > 1)
			free(groups->all[i].gaps);
	free(groups->all);
	free(groups->heads);
	map_release(&groups->index);
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
	for (uint32_t v = 0; v < h->variable_count; v++)
		for (uint32_t g = c.gaps.heads[v]; g; g = c.gaps.all[g].next)
			for (uint32_t s = c.singles.heads[v]; s; s = c.singles.all[s].next)
				combine(&c, &c.gaps.all[g], &c.singles.all[s]);
	groups_release(&c.gaps);
	groups_release(&c.singles);
	free(c.segments);
	free(c.ends);
	free(c.previous);
	free(c.latest);
	map_release(&c.seen);
}
