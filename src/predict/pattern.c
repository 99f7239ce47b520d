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

/* From an access of x to one of y in one unit. */
struct stretch {
	uint32_t from, to; /* events */
	uint32_t x, y;
	uint32_t shape;
	uint32_t next; /* of the same two variables; 0: none */
	bool widest, narrowest;
};

struct pairs {
	struct shapes *s;
	struct predict *p;
	struct stretch *all; /* [0] is unused */
	uint32_t count, room;
	struct map heads, sizes; /* of the variables x and y */
	struct map known;        /* stretches that are alike */
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
	uint32_t size = map_get(&q->sizes, key);
	uint32_t points[POINTS];

	if (from->time == to->time)
		return;
	uint64_t like = predict_mix(predict_mix(key, s->thread), (uint64_t)from->site << 32 | to->site);
	uint32_t count = shape_points(q->p, s->thread, a->event + 1, b->event, points, POINTS);

	like = predict_mix(like, from->kind << 3 | to->kind << 2 | widest << 1 | narrowest);
	for (uint32_t i = 0; i < count; i++)
		like = predict_mix(like, lockset_context(&q->p->locks, s->thread, points[i]));
	like = predict_mix(like, s->segment);
	if (map_get(&q->known, like))
		return;
	if (q->count == STRETCH_LIMIT || size == PER_PAIR_LIMIT) {
		q->p->counts.skipped++;
		return;
	}
	map_set(&q->known, like, 1);
	if (q->count + 1 >= q->room) {
		q->room = q->room ? q->room * 2 : 1024;
		q->all = mem_resize(q->all, q->room, sizeof(*q->all));
	}
	q->all[++q->count] = (struct stretch){.from = a->event,
					      .to = b->event,
					      .x = a->variable,
					      .y = b->variable,
					      .shape = shape,
					      .next = map_get(&q->heads, key),
					      .widest = widest,
					      .narrowest = narrowest};
	map_set(&q->heads, key, q->count);
	map_set(&q->sizes, key, size + 1);
}

static bool same_kind(const struct pairs *q, const struct shape_access *a, const struct shape_access *b)
{
	return a->variable == b->variable && event_of(q, a->event)->kind == event_of(q, b->event)->kind;
}

/* The stretches from a variable to another: b is the last of its kind for the widest, the next for narrow
 * ones. */
static void look_at(struct pairs *q, uint32_t shape)
{
	const struct shape *s = &q->s->all[shape];
	const struct shape_access *accesses = q->s->accesses + s->first;

	for (uint32_t i = 0; i < s->count; i++) {
		bool first = true;

		for (uint32_t k = 0; k < i; k++)
			first &= !same_kind(q, &accesses[k], &accesses[i]);
		for (uint32_t k = i + 1; k < s->count; k++) {
			bool last = true, next = true, again = false;

			if (accesses[k].variable == accesses[i].variable)
				continue;
			for (uint32_t m = i + 1; m < s->count; m++) {
				if (m > k)
					last &= !same_kind(q, &accesses[m], &accesses[k]);
				if (m < k) {
					next &= !same_kind(q, &accesses[m], &accesses[k]);
					again |= same_kind(q, &accesses[m], &accesses[i]);
				}
			}
			bool widest = first && last, narrowest = next && !again;

			if (widest || narrowest)
				add_stretch(q, shape, &accesses[i], &accesses[k], widest, narrowest);
		}
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

/* All of v's stretch while u is in its own. */
static void try_nested(struct pairs *q, const struct stretch *u, const struct stretch *v)
{
	struct predict *p = q->p;
	uint32_t t1 = event_of(q, u->from)->thread, t2 = event_of(q, v->from)->thread, points[POINTS];
	uint32_t events[4] = {u->from, v->from, v->to, u->to};
	enum order_reason reason = ORDER_LOCKS;
	bool refused = false;

	if (!u->widest || !v->narrowest || !conflict(q, u->from, v->from) || !conflict(q, u->to, v->to))
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
					  .edges = {{0, u->from, 1, v->from}},
					  .edge_count = 1};

		if (predict_feasible(p, &goal, &reason)) {
			p->counts.cut_points++;
			report(q, PREDICT_NESTED, key, u, v, events, &goal);
			return;
		}
		refused = true;
	}
	if (refused) {
		p->counts.cut_points++;
		p->counts.impossible[reason]++;
		map_set(&p->known, key, 1);
	}
}

/* Both in their stretches at once. */
static void try_crossed(struct pairs *q, const struct stretch *u, const struct stretch *v)
{
	struct predict *p = q->p;
	uint32_t t1 = event_of(q, u->from)->thread, t2 = event_of(q, v->from)->thread;
	uint32_t ours[POINTS], theirs[POINTS], events[4] = {u->from, v->from, v->to, u->to};
	enum order_reason reason = ORDER_LOCKS;
	bool refused = false;

	if (!u->widest || !v->widest || !conflict(q, u->from, v->to) || !conflict(q, u->to, v->from))
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
						  .targets = {ours[i], theirs[k]}};

			if (predict_feasible(p, &goal, &reason)) {
				p->counts.cut_points++;
				report(q, PREDICT_CROSSED, key, u, v, events, &goal);
				return;
			}
			refused = true;
		}
	}
	if (refused) {
		p->counts.cut_points++;
		p->counts.impossible[reason]++;
		map_set(&p->known, key, 1);
	}
}

static bool other_thread(const struct pairs *q, const struct stretch *u, const struct stretch *v)
{
	return event_of(q, u->from)->thread != event_of(q, v->from)->thread;
}

void pattern_pairs(struct shapes *s, struct map *together)
{
	struct pairs q = {.s = s, .p = s->p, .together = together};

	for (uint32_t i = 0; i < s->count; i++)
		look_at(&q, i);
	for (uint32_t i = 1; i <= q.count; i++) {
		const struct stretch *u = &q.all[i];

		if (!u->widest)
			continue;
		for (uint32_t k = map_get(&q.heads, (uint64_t)u->x << 32 | u->y); k; k = q.all[k].next)
			if (other_thread(&q, u, &q.all[k]))
				try_nested(&q, u, &q.all[k]);
		/* The other way round it is the same: once for each two variables. */
		for (uint32_t k = u->x < u->y ? map_get(&q.heads, (uint64_t)u->y << 32 | u->x) : 0; k;
		     k = q.all[k].next)
			if (other_thread(&q, u, &q.all[k]))
				try_crossed(&q, u, &q.all[k]);
	}
	free(q.all);
	map_release(&q.heads);
	map_release(&q.sizes);
	map_release(&q.known);
}
