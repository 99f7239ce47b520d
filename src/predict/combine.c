/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Gaps and singles of different threads, put together (PENELOPE, section 4.1).
 *
 * What many threads do to many variables at the same places and with the same
 * locks is one class, and its members differ in nothing but numbers. Their
 * pairs can be more than the run has events: n threads that each go over an array
 * of n elements make n * n * n of them. So of each two classes enough are looked
 * at to have something of all threads and many variables, and the rest
 * is counted. That keeps the whole linear in the length of the run. Where each of
 * many objects has a lock of its own, there are as many classes as locks: of the
 * same places all classes together have a limit, too.
 */
#include "predict/witness.h"

#include "base/err.h"

#include <stdlib.h>

#define TRIES_PER_PAIR 4096 /* combinations of witnesses of one pair of groups */
#define SOLVED_PER_PAIR 8   /* of which so many may turn out to be impossible */
#define LAST_TRIES 16       /* to find the last that can meet */
#define FOUND_PER_VARIABLE 1000
#define FOUND_PER_CLASS 4000
#define PAIRS_PER_CLASS 40000
#define FOUND_PER_PLACES 4000 /* but fewer where there are many, so that they are about FOUND_IN_ALL */
#define FOUND_LEAST 64
#define FOUND_IN_ALL 500000

/* The contexts at the points of a gap are the same for the whole group. */
static bool locks_allow(struct predict *p, const struct group *g, struct gap gap, uint32_t context)
{
	const struct lockset_position *positions = p->locks.positions;
	uint32_t at = lockset_at(&p->locks, gap.low);

	for (unsigned i = 0; i < WITNESS_CHAIN && at && (!i || positions[at].event < gap.e2);
	     i++, at = positions[at].next)
		if (lockset_compatible(&p->locks, positions[at].context, context))
			return true;
	return false;
}

struct match {
	struct gap gap;
	uint32_t f, limit;
	uint32_t position; /* of the gap's thread at the limit */
	unsigned points;   /* looked at so far */
};

/* Is the point that the match is at one at which f can come, as far as pairs of threads go? If not, is there
 * a later one? */
static bool settle_point(struct predict *p, const struct vclock *clock, const struct group *g,
			 uint32_t thread, struct match *m)
{
	struct locksets *l = &p->locks;
	uint32_t context = l->positions[lockset_at(l, m->f)].context;

	for (; m->points < WITNESS_CHAIN; m->points++) {
		uint32_t next = l->positions[m->position].next;

		if (vclock_needs(clock, g->thread, m->limit, thread) > m->f)
			return false;
		if (lockset_compatible(l, l->positions[m->position].context, context))
			return true;
		if (!next || l->positions[next].event >= m->gap.e2)
			return false;
		m->position = next;
		m->limit = l->positions[next].event + 1;
	}
	return false;
}

/* Can f come at some point of the gap? Then `limit` is how far the gap's thread has come. */
static bool first_point(struct predict *p, const struct vclock *clock, const struct group *g, uint32_t thread,
			struct match *m)
{
	uint32_t need = vclock_needs(clock, thread, m->f + 1, g->thread), low = m->gap.low + 1;

	m->limit = need > low ? need : low;
	if (m->limit > m->gap.e2)
		return false;
	m->position = need > low ? lockset_position(&p->locks, g->thread, m->limit)
				 : lockset_at(&p->locks, m->gap.low);
	return settle_point(p, clock, g, thread, m);
}

/* The next one, for when the locks are free and yet the threads cannot both get there. */
static bool next_point(struct predict *p, const struct vclock *clock, const struct group *g, uint32_t thread,
		       struct match *m)
{
	m->limit = predict_later_point(p, g->thread, m->limit);
	if (++m->points >= WITNESS_CHAIN || m->limit > m->gap.e2)
		return false;
	m->position = lockset_position(&p->locks, g->thread, m->limit);
	return settle_point(p, clock, g, thread, m);
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

static struct weave_goal goal_of(const struct group *g, const struct group *s, const struct match *m)
{
	return (struct weave_goal){.count = 2,
				   .threads = {g->thread, s->thread},
				   .anchors = {m->limit, m->f},
				   .targets = {m->limit, m->f + 1},
				   .intends = {m->gap.e2},
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
			*m = (struct match){.gap = gaps[i], .f = singles[k]};
			for (bool is = first_point(p, clock, g, s->thread, m); is;
			     is = next_point(p, clock, g, s->thread, m)) {
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
	}
	return false;
}

/* The i-th from the end: the last of all, and then those that were kept. */
static struct gap gap_from_end(const struct group *g, uint32_t i)
{
	return !i ? g->last_gap : g->count == 1 ? g->gap : g->gaps[g->count - i];
}

static uint32_t single_from_end(const struct group *s, uint32_t i)
{
	return !i ? s->last_single : s->count == 1 ? s->single : s->singles[s->count - i];
}

/* The other way round: the last gap and the last single that can meet. */
static bool find_last_match(struct predict *p, const struct group *g, const struct group *s, struct match *m)
{
	const struct vclock *clock = order_whole(&p->order);
	enum order_reason ignored;
	unsigned tries = 0;

	for (uint32_t i = 0; i <= g->count; i++)
		for (uint32_t k = 0; k <= s->count; k++) {
			if (++tries > LAST_TRIES)
				return false;
			*m = (struct match){.gap = gap_from_end(g, i), .f = single_from_end(s, k)};
			if (!first_point(p, clock, g, s->thread, m))
				continue;
			struct weave_goal goal = goal_of(g, s, m);

			if (predict_feasible(p, &goal, &ignored))
				return true;
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

static struct prediction *add(struct predict *p, const struct group *g, const struct group *s,
			      const struct match *m, const struct map *seen, bool late)
{
	const struct history_event *events = p->history->events;
	uint64_t pattern = witness_key(p->history, g->variable, m->gap.e1, m->f, m->gap.e2);
	uint64_t key = predict_mix(pattern, s->context);
	struct prediction *new;

	key = predict_mix(key, witness_chain(&p->locks, m->gap.low, m->gap.e2));
	new = predict_add(p, late ? predict_mix(key, late) : key);
	if (!new)
		return NULL;
	new->kind = PREDICT_SINGLE;
	new->late = late;
	new->access_count = 3;
	new->accesses[0] = m->gap.e1;
	new->accesses[1] = m->f;
	new->accesses[2] = m->gap.e2;
	for (unsigned i = 0; i < 3; i++) {
		new->variables[i] = g->variable;
		new->places = predict_mix(new->places, (uint64_t)events[new->accesses[i]].site << 8 |
							       events[new->accesses[i]].kind);
	}
	new->goal = goal_of(g, s, m);
	new->inside = g->inside;
	new->seen = map_get(seen, pattern);
	return new;
}

static bool combine(struct predict *p, const struct group *g, const struct group *s, const struct map *seen)
{
	enum order_reason reason = ORDER_LOCKS;
	bool refused = false;
	struct match m, last;

	if (find_match(p, g, s, true, &m, &reason, &refused)) {
		/* A loop comes to its limits in its last round. */
		if (add(p, g, s, &m, seen, false) && find_last_match(p, g, s, &last) &&
		    (last.gap.e2 != m.gap.e2 || last.f != m.f))
			add(p, g, s, &last, seen, true);
		return true;
	}
	if (refused)
		p->counts.impossible[reason]++;
	else if (!p->order.same && find_match(p, g, s, false, &m, &reason, &refused))
		p->counts.impossible[reason_of(p, g, s, &m)]++;
	return false;
}

/* What two classes have given so far, or all that are at the same places. */
struct tally {
	uint32_t pairs, found;
};

struct tallies {
	struct map index;
	struct tally *all; /* [0] is unused */
	uint32_t count, room;
};

static uint64_t classes_of(const struct group *g, const struct group *s)
{
	return (uint64_t)g->class << 32 | s->class;
}

static uint64_t places_of(const struct group *g, const struct group *s)
{
	uint64_t places = predict_mix(predict_mix(g->site1, g->site2), s->site1);

	return predict_mix(places, (uint64_t)g->kind1 << 16 | g->kind2 << 8 | s->kind1);
}

static struct tally *tally_of(struct tallies *t, uint64_t key)
{
	uint32_t index = map_get(&t->index, key);

	if (index)
		return &t->all[index];
	if (t->count + 1 >= t->room) {
		t->room = t->room ? t->room * 2 : 64;
		t->all = mem_resize(t->all, t->room, sizeof(*t->all));
	}
	t->all[++t->count] = (struct tally){0, 0};
	map_set(&t->index, key, t->count);
	return &t->all[t->count];
}

/* The groups of a variable, those of one class side by side. */
struct row {
	const struct group **groups;
	uint32_t count, room;
};

static int by_class(const void *a, const void *b)
{
	const struct group *x = *(const struct group *const *)a, *y = *(const struct group *const *)b;

	if (x->class != y->class)
		return (x->class > y->class) - (x->class < y->class);
	return (x < y) - (x > y);
}

static void fill(struct row *row, const struct groups *groups, uint32_t variable)
{
	row->count = 0;
	for (uint32_t g = groups->heads[variable]; g; g = groups->all[g].next) {
		if (row->count == row->room) {
			row->room = row->room ? row->room * 2 : 16;
			row->groups = mem_resize(row->groups, row->room, sizeof(*row->groups));
		}
		row->groups[row->count++] = &groups->all[g];
	}
	qsort(row->groups, row->count, sizeof(*row->groups), by_class);
}

static uint32_t end_of_class(const struct row *row, uint32_t at)
{
	uint32_t end = at + 1;

	while (end < row->count && row->groups[end]->class == row->groups[at]->class)
		end++;
	return end;
}

/* How many of the same places are looked for, of all that were seen so far. */
static uint32_t most_of(const struct tallies *places)
{
	uint32_t share = FOUND_IN_ALL / (places->count ? places->count : 1);

	return share > FOUND_PER_PLACES ? FOUND_PER_PLACES : share < FOUND_LEAST ? FOUND_LEAST : share;
}

/* n gaps of one class and m singles of another, all of one variable. */
static void combine_classes(struct predict *p, const struct group **g, uint32_t n, const struct group **s,
			    uint32_t m, struct tally *t, struct tally *places, uint32_t most,
			    const struct map *seen)
{
	uint32_t found = 0;

	/* Diagonal by diagonal, so that every thread comes early on both sides. */
	for (uint32_t shift = 0; shift < m; shift++)
		for (uint32_t i = 0; i < n; i++) {
			uint32_t k = (uint32_t)((i + (uint64_t)shift) % m);

			if (g[i]->thread == s[k]->thread)
				continue;
			if (found == FOUND_PER_VARIABLE || t->found == FOUND_PER_CLASS ||
			    t->pairs == PAIRS_PER_CLASS || places->found >= most) {
				p->counts.alike += (uint64_t)n * (m - shift) - i;
				return;
			}
			t->pairs++;
			if (combine(p, g[i], s[k], seen)) {
				t->found++;
				places->found++;
				found++;
			}
		}
}

void combine_all(struct predict *p, const struct groups *gaps, const struct groups *singles,
		 const struct map *seen)
{
	struct tallies classes = {0}, places = {0};
	struct row g = {0}, s = {0};

	for (uint32_t v = 0; v < p->history->variable_count; v++) {
		if (!gaps->heads[v])
			continue;
		fill(&g, gaps, v);
		fill(&s, singles, v);
		for (uint32_t i = 0, i_end; i < g.count; i = i_end) {
			i_end = end_of_class(&g, i);
			for (uint32_t k = 0, k_end; k < s.count; k = k_end) {
				k_end = end_of_class(&s, k);
				const struct group *a = g.groups[i], *b = s.groups[k];

				if (!witness_is_pattern(a->kind1, b->kind1, a->kind2))
					continue;
				struct tally *alike = tally_of(&classes, classes_of(a, b)),
					     *there = tally_of(&places, places_of(a, b));

				combine_classes(p, g.groups + i, i_end - i, s.groups + k, k_end - k, alike,
						there, most_of(&places), seen);
			}
		}
	}
	free(g.groups);
	free(s.groups);
	free(classes.all);
	free(places.all);
	map_release(&classes.index);
	map_release(&places.index);
}
