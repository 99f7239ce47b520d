/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/shape.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define SHAPE_LIMIT (1u << 20)
#define SAME_FACE_LIMIT 4096 /* units of one thread and one set that differ in variables or locks alone */

/* A unit that is open: what it did so far. */
struct open {
	uint32_t unit, count;
	uint32_t segment; /* of its thread, when it began */
	struct shape_access accesses[SHAPE_ACCESSES];
};

struct collect {
	struct shapes *s;
	struct open *open; /* [0] is unused */
	uint32_t count, room;
	struct map index;   /* thread and set */
	struct map faces;   /* how many shapes there are of a face in a set and thread */
	uint32_t *segments; /* by thread */
};

uint32_t shape_points_at(const struct predict *p, uint32_t at, uint32_t from, uint32_t to, uint32_t *limits,
			 uint32_t room)
{
	const struct lockset_position *positions = p->locks.positions;
	uint32_t count = 0;

	if (from > to)
		return 0;
	limits[count++] = from;
	while (count < room && (at = positions[at].next) && positions[at].event < to)
		limits[count++] = positions[at].event + 1;
	return count;
}

uint32_t shape_points(const struct predict *p, uint32_t thread, uint32_t from, uint32_t to, uint32_t *limits,
		      uint32_t room)
{
	return shape_points_at(p, lockset_position(&p->locks, thread, from), from, to, limits, room);
}

/* Contexts from the first access to the last. */
static uint64_t hash_contexts(const struct locksets *l, uint32_t from, uint32_t to)
{
	uint32_t at = lockset_at(l, from), end = lockset_at(l, to);
	uint64_t hash = 0;

	for (unsigned i = 0; i < 64 && at <= end; i++, at++)
		hash = predict_mix(hash, l->positions[at].context);
	return hash;
}

static bool is_open(const struct predict *p, const struct open *o)
{
	for (uint32_t i = 0; i < o->count; i++)
		if (!guard_kept(&p->guards, &p->locks, o->accesses[i].variable, o->accesses[0].event,
				o->accesses[o->count - 1].event))
			return true;
	return false;
}

static void keep(struct collect *c, const struct open *o)
{
	struct shapes *s = c->s;
	const struct history *h = s->p->history;
	const struct history_unit *unit = &h->units[o->unit];
	uint64_t face = 1, key;

	if (o->count < 2)
		return;
	key = predict_mix(predict_mix(unit->thread, unit->set), o->segment);
	for (uint32_t i = 0; i < o->count; i++) {
		const struct history_event *e = &h->events[o->accesses[i].event];

		face = predict_mix(face, (uint64_t)e->site << 1 | e->kind);
		key = predict_mix(key, o->accesses[i].variable);
	}
	key = predict_mix(predict_mix(key, face),
			  hash_contexts(&s->p->locks, o->accesses[0].event, o->accesses[o->count - 1].event));
	uint32_t face_number = map_get(&s->face_numbers, face);

	if (!face_number) {
		if (s->face_count == s->face_room) {
			s->face_room = s->face_room ? s->face_room * 2 : 64;
			s->faces = mem_resize(s->faces, s->face_room, sizeof(*s->faces));
		}
		s->faces[s->face_count++] = face;
		map_set(&s->face_numbers, face, face_number = s->face_count);
	}
	map_set(&s->unit_faces, o->unit, face_number);
	if (map_get(&s->known, key))
		return;
	map_set(&s->known, key, 1);
	uint64_t same = predict_mix(predict_mix(face, unit->thread), unit->set);
	uint32_t number = map_get(&c->faces, same);

	if (s->count == SHAPE_LIMIT || number == SAME_FACE_LIMIT) {
		s->skipped++;
		return;
	}
	map_set(&c->faces, same, number + 1);
	if (s->count == s->room) {
		s->room = s->room ? s->room * 2 : 256;
		s->all = mem_resize(s->all, s->room, sizeof(*s->all));
	}
	if (s->access_count + o->count > s->access_room) {
		s->access_room = (s->access_count + o->count) * 2;
		s->accesses = mem_resize(s->accesses, s->access_room, sizeof(*s->accesses));
	}
	s->all[s->count++] = (struct shape){.thread = unit->thread,
					    .set = unit->set,
					    .first = s->access_count,
					    .count = o->count,
					    .segment = o->segment,
					    .open = is_open(s->p, o),
					    .face = face};
	memcpy(s->accesses + s->access_count, o->accesses, o->count * sizeof(*o->accesses));
	s->access_count += o->count;
}

static void note(struct collect *c, uint32_t event, uint32_t variable)
{
	const struct history *h = c->s->p->history;
	const struct history_event *e = &h->events[event];
	const struct history_variable *v = &h->variables[variable];

	const struct contend *contend = &c->s->p->contend;
	bool contended = contend->variables[variable];

	if (contended || contend->beside[variable]) {
		uint64_t key = (uint64_t)e->thread << 32 | h->units[e->unit].set;
		uint32_t index = map_get(&c->index, key);

		if (!index) {
			if (c->count + 1 >= c->room) {
				c->room = c->room ? c->room * 2 : 64;
				c->open = mem_resize(c->open, c->room, sizeof(*c->open));
			}
			index = ++c->count;
			c->open[index] = (struct open){.unit = e->unit, .segment = c->segments[e->thread]};
			map_set(&c->index, key, index);
		}
		struct open *o = &c->open[index];

		if (o->unit != e->unit) {
			keep(c, o);
			o->unit = e->unit;
			o->count = 0;
			o->segment = c->segments[e->thread];
		}
		/* Those that are contended for shall find room. */
		if (o->count < (contended ? SHAPE_ACCESSES : SHAPE_ACCESSES / 2))
			o->accesses[o->count++] = (struct shape_access){event, variable};
		else
			c->s->skipped += contended;
	}
	for (uint32_t child = v->child; child != HISTORY_NONE; child = h->variables[child].sibling)
		if (h->variables[child].since > event)
			note(c, event, child);
}

void shapes_collect(struct shapes *s, struct predict *p)
{
	const struct history *h = p->history;
	struct collect c = {.s = s};

	*s = (struct shapes){.p = p};
	c.segments = mem_zalloc(h->thread_count + 1ull, sizeof(*c.segments));
	for (uint32_t i = 0; i < h->count; i++) {
		const struct history_event *e = &h->events[i];

		bool end = order_ends_segment(&p->order, i);

		c.segments[e->thread] += end;
		if (history_is_access(e) && e->unit)
			note(&c, i, e->object);
		c.segments[e->thread] += end;
	}
	for (uint32_t i = 1; i <= c.count; i++)
		keep(&c, &c.open[i]);
	free(c.open);
	free(c.segments);
	map_release(&c.index);
	map_release(&c.faces);
}

void shapes_release(struct shapes *s)
{
	free(s->all);
	free(s->accesses);
	free(s->faces);
	map_release(&s->known);
	map_release(&s->face_numbers);
	map_release(&s->unit_faces);
	*s = (struct shapes){0};
}

/* Units that a pattern over one variable already brings together. */
static void note_singles(const struct shapes *s, struct map *together)
{
	const struct history_event *events = s->p->history->events;

	for (uint32_t i = 0; i < s->p->count; i++) {
		const struct prediction *x = &s->p->predictions[i];
		uint32_t a = map_get(&s->unit_faces, events[x->accesses[0]].unit);
		uint32_t b = map_get(&s->unit_faces, events[x->accesses[1]].unit);

		if (a && b)
			map_set(together, shape_pair(s->faces[a - 1], s->faces[b - 1]), 1);
	}
}

void pattern_run(struct predict *p)
{
	struct shapes shapes;
	struct map together = {0};

	if (p->options.no_pairs)
		return;
	shapes_collect(&shapes, p);
	note_singles(&shapes, &together);
	pattern_pairs(&shapes, &together);
	if (!p->options.no_cycles)
		pattern_cycles(&shapes, &together);
	p->counts.skipped += shapes.skipped;
	map_release(&together);
	shapes_release(&shapes);
}
