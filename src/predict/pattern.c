/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Patterns over two variables x and y of one atomic set (Vaziri, Tip, Dolby,
 * POPL 2006): unit u comes before unit v on x, and v before u on y. Let u access
 * x in a and y in b, and v access x in c and y in d: a comes before c, and d
 * before b. By the order of the four in their units there are two cases, up to
 * exchanging u and v and x and y:
 *
 *   nested    a .. b in u, c .. d in v: a c d b. All of c .. d happens while u is
 *             between a and b.
 *   crossed   a .. b in u, d .. c in v: some time u is past a and not yet at b
 *             while v is past d and not yet at c. Two points that can be reached
 *             at once, as for one variable.
 *
 * Each unit gives, for each two of its variables in order, its widest stretch
 * from the one to the other, which is what others can come into, and its
 * narrowest ones, which can most easily be in between. Stretches are grouped by
 * the two variables, and those of different threads are combined.
 */
#include "base/err.h"
#include "predict/shape.h"

#include <stdlib.h>

#define STRETCH_LIMIT (1u << 22)
#define PER_PAIR_LIMIT 512 /* stretches from one variable to another that are combined */
#define POINTS 16
#define TRIES_PER_CLASS 16 /* of pairs of stretches that differ in where they stand alone */
#define ALIKE 4            /* stretches of one class between two variables that are kept */
#define COMBINATIONS 30000000

/* From an access of x to one of y in one unit. */
struct stretch {
	uint32_t from, to; /* events */
	uint32_t x, y;
	uint32_t shape;
	uint32_t class; /* the same for stretches that differ in their variables alone */
	uint32_t next;  /* of the same two variables; 0: none */
	bool widest, narrowest;
	bool shut_x, shut_y; /* the guard of the variable is kept all the while */
};

struct pairs {
	struct shapes *s;
	struct predict *p;
	struct stretch *all; /* [0] is unused */
	uint32_t count, room;
	struct map heads, sizes; /* of the variables x and y */
	struct map known;        /* stretches that are alike */
	struct map classes;      /* with numbers from 1 on */
	struct map tried;        /* pairs of classes that were combined */
	struct map open;         /* two variables between which some thread can be disturbed */
	bool survey;             /* that is all that is asked so far */
	struct map *together;
};

static const struct history_event *event_of(const struct pairs *q, uint32_t event)
{
	return &q->p->history->events[event];
}

static void add_stretch(struct pairs *q, uint32_t shape, const struct shape_access *a,
			const struct shape_access *b, bool widest, bool narrowest)
{
	const struct shape *s = &q->s->all[shape];
	const struct history_event *from = event_of(q, a->event), *to = event_of(q, b->event);
	uint64_t key = (uint64_t)a->variable << 32 | b->variable;
	uint32_t size;

	if (from->time == to->time ||
	    (!q->p->contend.variables[a->variable] && !q->p->contend.variables[b->variable]))
		return;
	bool shut_x = guard_kept(&q->p->guards, &q->p->locks, a->variable, a->event, b->event);
	bool shut_y = guard_kept(&q->p->guards, &q->p->locks, b->variable, a->event, b->event);

	/* Two that are shut on one variable cannot meet, and one must be open for both. */
	if (q->survey) {
		if (widest && !(shut_x && shut_y) && !map_get(&q->open, key))
			map_set(&q->open, key, 1);
		return;
	}
	if (!map_get(&q->open, key) && !map_get(&q->open, (uint64_t)b->variable << 32 | a->variable))
		return;
	uint64_t like = predict_mix(s->thread, (uint64_t)from->site << 32 | to->site);
	uint32_t at = lockset_at(&q->p->locks, a->event);

	like = predict_mix(like, from->kind << 3 | to->kind << 2 | widest << 1 | narrowest);
	like = predict_mix(like, shut_x << 1 | shut_y);
	for (unsigned i = 0; i < POINTS && at && (!i || q->p->locks.positions[at].event < b->event); i++) {
		like = predict_mix(like, q->p->locks.positions[at].context);
		at = q->p->locks.positions[at].next;
	}
	like = predict_mix(like, q->p->locks.positions[lockset_at(&q->p->locks, b->event)].context);
	uint32_t class = map_get(&q->classes, like);

	if (!class)
		map_set(&q->classes, like, class = (uint32_t)q->classes.count + 1);
	like = predict_mix(key, class);
	uint32_t alike = map_get(&q->known, like);
	uint64_t here = predict_mix(like, s->segment);

	if (alike == ALIKE || map_get(&q->known, here))
		return;
	size = map_get(&q->sizes, key);
	if (q->count == STRETCH_LIMIT || size == PER_PAIR_LIMIT) {
		q->p->counts.skipped++;
		return;
	}
	map_set(&q->known, like, alike + 1);
	map_set(&q->known, here, 1);
	if (q->count + 1 >= q->room) {
		q->room = q->room ? q->room * 2 : 1024;
		q->all = mem_resize(q->all, q->room, sizeof(*q->all));
	}
	q->all[++q->count] = (struct stretch){.from = a->event,
					      .to = b->event,
					      .x = a->variable,
					      .y = b->variable,
					      .shape = shape,
					      .class = class,
					      .next = map_get(&q->heads, key),
					      .widest = widest,
					      .shut_x = shut_x,
					      .shut_y = shut_y,
					      .narrowest = narrowest};
	map_set(&q->heads, key, q->count);
	map_set(&q->sizes, key, size + 1);
}

/*
 * The stretches from a variable to another. For the widest, the first access is
 * the first of its kind, and the last is the last; in a narrow one neither kind
 * comes again in between.
 */
static void look_at(struct pairs *q, uint32_t shape)
{
	const struct shape *s = &q->s->all[shape];
	const struct shape_access *accesses = q->s->accesses + s->first;
	uint32_t before[SHAPE_ACCESSES], after[SHAPE_ACCESSES]; /* of the same variable and kind, plus one */

	for (uint32_t i = 0; i < s->count; i++) {
		before[i] = 0;
		after[i] = s->count + 1;
		for (uint32_t k = i; k-- > 0 && !before[i];)
			if (accesses[k].variable == accesses[i].variable &&
			    event_of(q, accesses[k].event)->kind == event_of(q, accesses[i].event)->kind) {
				before[i] = k + 1;
				after[k] = i + 1;
			}
	}
	for (uint32_t i = 0; i < s->count; i++)
		for (uint32_t k = i + 1; k < s->count; k++) {
			bool widest = !before[i] && after[k] > s->count;
			bool narrowest = before[k] <= i + 1 && after[i] > k + 1;

			if (accesses[k].variable != accesses[i].variable && (widest || narrowest))
				add_stretch(q, shape, &accesses[i], &accesses[k], widest, narrowest);
		}
}

static bool conflict(const struct pairs *q, uint32_t a, uint32_t b)
{
	return event_of(q, a)->kind == HISTORY_WRITE || event_of(q, b)->kind == HISTORY_WRITE;
}

/* One prediction for each pair of threads and each four places, whichever elements of arrays they access. */
static uint64_t key_of(const struct pairs *q, enum predict_kind kind, const uint32_t *events)
{
	uint64_t key = predict_mix(kind + 77, (uint64_t)event_of(q, events[0])->thread << 32 |
						      event_of(q, events[1])->thread);

	for (unsigned i = 0; i < 4; i++)
		key = predict_mix(key,
				  (uint64_t)event_of(q, events[i])->site << 1 | event_of(q, events[i])->kind);
	return key;
}

static void report(struct pairs *q, enum predict_kind kind, uint64_t key, const struct stretch *u,
		   const struct stretch *v, const uint32_t *events, const struct weave_goal *goal)
{
	struct prediction *new = predict_add(q->p, key);

	if (!new)
		return;
	new->kind = kind;
	new->access_count = 4;
	new->goal = *goal;
	for (unsigned i = 0; i < 4; i++) {
		const struct history_event *e = event_of(q, events[i]);
		bool on_x = i == 0 || events[i] == (kind == PREDICT_NESTED ? v->from : v->to);

		new->accesses[i] = events[i];
		new->variables[i] = on_x ? u->x : u->y;
		new->places = predict_mix(new->places + kind, (uint64_t)e->site << 8 | e->kind);
	}
	/* In the observed run, too? */
	new->seen = true;
	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = i + 1; k < 4; k++)
			if (new->variables[i] == new->variables[k])
				new->seen &= new->accesses[i] < new->accesses[k];
	map_set(q->together, shape_pair(q->s->all[u->shape].face, q->s->all[v->shape].face), 1);
}

/*
 * What two stretches can do to each other depends on their classes, and on
 * where they stand in the order of synchronisation: a few tries tell.
 */
static bool was_tried(struct pairs *q, const struct stretch *u, const struct stretch *v, unsigned form)
{
	uint64_t key = (uint64_t)form << 63 | (uint64_t)u->class << 31 | v->class;
	uint32_t tries = map_get(&q->tried, key);

	if (tries == TRIES_PER_CLASS)
		return true;
	map_set(&q->tried, key, tries + 1);
	return false;
}

/* All of v's stretch while u is in its own. */
static void try_nested(struct pairs *q, const struct stretch *u, const struct stretch *v)
{
	struct predict *p = q->p;
	uint32_t t1 = event_of(q, u->from)->thread, t2 = event_of(q, v->from)->thread, points[POINTS];
	uint32_t events[4] = {u->from, v->from, v->to, u->to};
	enum order_reason reason = ORDER_LOCKS;
	bool refused = false;

	if (u->shut_x || u->shut_y || !v->narrowest || was_tried(q, u, v, 0) ||
	    !conflict(q, u->from, v->from) || !conflict(q, u->to, v->to))
		return;
	uint64_t key = key_of(q, PREDICT_NESTED, events);

	if (map_get(&p->known, key) || !p->work)
		return;
	p->work--;
	uint32_t need = order_needs(&p->order, t2, v->to + 1, t1),
		 low = u->from + 1 > need ? u->from + 1 : need;
	uint32_t count = shape_points(p, t1, low, u->to, points, POINTS);
	uint32_t context = lockset_context(&p->locks, t2, v->to);

	for (uint32_t i = 0; i < count; i++) {
		if (order_needs(&p->order, t1, points[i], t2) > v->to)
			break;
		if (!lockset_compatible(&p->locks, lockset_context(&p->locks, t1, points[i]), context))
			continue;
		struct weave_goal goal = {.count = 2,
					  .threads = {t1, t2},
					  .anchors = {points[i], v->from},
					  .targets = {points[i], v->to + 1},
					  .intends = {u->to},
					  .edges = {{0, u->from, 1, v->from}},
					  .edge_count = 1};

		if (predict_feasible(p, &goal, &reason)) {
			report(q, PREDICT_NESTED, key, u, v, events, &goal);
			return;
		}
		refused = true;
	}
	if (refused)
		predict_refuse(p, key, reason);
}

/* Both in their stretches at once. */
static void try_crossed(struct pairs *q, const struct stretch *u, const struct stretch *v)
{
	struct predict *p = q->p;
	uint32_t t1 = event_of(q, u->from)->thread, t2 = event_of(q, v->from)->thread;
	uint32_t ours[POINTS], theirs[POINTS], events[4] = {u->from, v->from, v->to, u->to};
	enum order_reason reason = ORDER_LOCKS;
	bool refused = false;

	if (!v->widest || (u->shut_x && v->shut_y) || (u->shut_y && v->shut_x) || was_tried(q, u, v, 1) ||
	    !conflict(q, u->from, v->to) || !conflict(q, u->to, v->from))
		return;
	uint64_t key = key_of(q, PREDICT_CROSSED, events);

	if (map_get(&p->known, key) || !p->work)
		return;
	p->work--;
	uint32_t low = order_needs(&p->order, t1, u->from + 1, t2);
	uint32_t m = shape_points(p, t2, low > v->from + 1 ? low : v->from + 1, v->to, theirs, POINTS);

	for (uint32_t k = 0; k < m; k++) {
		uint32_t need = order_needs(&p->order, t2, theirs[k], t1);
		uint32_t n =
			shape_points(p, t1, need > u->from + 1 ? need : u->from + 1, u->to, ours, POINTS);

		for (uint32_t i = 0; i < n; i++) {
			if (order_needs(&p->order, t1, ours[i], t2) > theirs[k])
				break;
			if (!lockset_compatible(&p->locks, lockset_context(&p->locks, t1, ours[i]),
						lockset_context(&p->locks, t2, theirs[k])))
				continue;
			struct weave_goal goal = {.count = 2,
						  .threads = {t1, t2},
						  .anchors = {ours[i], theirs[k]},
						  .targets = {ours[i], theirs[k]},
						  .intends = {u->to, v->to}};

			if (predict_feasible(p, &goal, &reason)) {
				report(q, PREDICT_CROSSED, key, u, v, events, &goal);
				return;
			}
			refused = true;
		}
	}
	if (refused)
		predict_refuse(p, key, reason);
}

static bool other_thread(const struct pairs *q, const struct stretch *u, const struct stretch *v)
{
	return event_of(q, u->from)->thread != event_of(q, v->from)->thread;
}

void pattern_pairs(struct shapes *s, struct map *together)
{
	struct pairs q = {.s = s, .p = s->p, .together = together};
	uint32_t combinations = COMBINATIONS;

	for (unsigned pass = 0; pass < 2; pass++) {
		q.survey = !pass;
		for (uint32_t i = 0; i < s->count; i++)
			look_at(&q, i);
	}
	for (uint32_t i = 1; i <= q.count; i++) {
		const struct stretch *u = &q.all[i];

		if (!u->widest)
			continue;
		for (uint32_t k = map_get(&q.heads, (uint64_t)u->x << 32 | u->y); k && combinations;
		     k = q.all[k].next, combinations--)
			if (other_thread(&q, u, &q.all[k]))
				try_nested(&q, u, &q.all[k]);
		/* The other way round it is the same: once for each two variables. */
		for (uint32_t k = u->x < u->y ? map_get(&q.heads, (uint64_t)u->y << 32 | u->x) : 0;
		     k && combinations; k = q.all[k].next, combinations--)
			if (other_thread(&q, u, &q.all[k]))
				try_crossed(&q, u, &q.all[k]);
	}
	q.p->counts.skipped += !combinations;
	free(q.all);
	map_release(&q.heads);
	map_release(&q.sizes);
	map_release(&q.known);
	map_release(&q.classes);
	map_release(&q.tried);
	map_release(&q.open);
}
