/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/told.h"

#include "base/err.h"
#include "base/map.h"

#include <stdlib.h>

#define DEPTH 16 /* critical sections that are gone back over */

/* Events of one thread, ascending. */
struct tellings {
	uint32_t *events;
	uint32_t count, room;
};

/* A critical section. */
struct section {
	uint32_t begin, end; /* events; HISTORY_NONE: it does not end */
	uint32_t lock;
	bool write;
};

/* Those of one thread, by their beginning. */
struct sections {
	struct section *items;
	uint32_t count, room;
};

struct find {
	struct told *out;
	const struct history *h;
	uint32_t *allocated;       /* by block: event, plus one */
	struct tellings *allocs;   /* by thread: its allocations */
	struct tellings *told;     /* by thread: what may have told others something, ascending */
	uint32_t *writers;         /* by variable: the last write, plus one; 0 if another read it since */
	uint32_t *wrote;           /* by variable: the last write, plus one */
	uint32_t *heard;           /* by thread: the last event that may have told it something, plus one */
	bool *taken;               /* by thread: what it read then it took away, by writing there */
	bool *gave_up;             /* by thread: a lock, since then */
	struct sections *sections; /* by thread */
	struct map known;          /* block and thread */
	struct map limits; /* two threads: what the second did before it was last told of by the first, plus
			      one */
};

static void tell(struct tellings *t, uint32_t event)
{
	uint32_t at = t->count;

	if (t->count == t->room) {
		t->room = t->room ? t->room * 2 : 16;
		t->events = mem_resize(t->events, t->room, sizeof(*t->events));
	}
	/* A write may be read late; most come in order. */
	for (; at && t->events[at - 1] > event; at--)
		t->events[at] = t->events[at - 1];
	t->events[at] = event;
	t->count++;
}

/* Index of the first after the event. */
static uint32_t index_after(const struct tellings *t, uint32_t event)
{
	uint32_t low = 0, high = t->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->events[middle] <= event)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A write that somebody read only now. It matters to blocks that were allocated before it and after
 * whatever told something before it. */
static void tell_late(struct find *f, uint32_t thread, uint32_t event)
{
	struct tellings *told = &f->told[thread], *allocs = &f->allocs[thread];
	uint32_t before = index_after(told, event), alloc = index_after(allocs, event);

	if (alloc && (!before || allocs->events[alloc - 1] > told->events[before - 1]))
		tell(told, event);
}

/* The first after the event that can have told somebody of the block: not a write into it. */
static uint32_t first_told(const struct find *f, const struct tellings *t, uint32_t event, uint32_t block)
{
	for (uint32_t i = index_after(t, event); i < t->count; i++) {
		const struct history_event *e = &f->h->events[t->events[i]];

		if (!history_is_access(e) || f->h->variables[e->object].block != block)
			return t->events[i];
	}
	return HISTORY_NONE;
}

/* ---- critical sections ---- */

static void lock(struct sections *s, const struct history_event *e, uint32_t event)
{
	if (s->count == s->room) {
		s->room = s->room ? s->room * 2 : 16;
		s->items = mem_resize(s->items, s->room, sizeof(*s->items));
	}
	s->items[s->count++] = (struct section){event, HISTORY_NONE, e->object, e->kind == HISTORY_LOCK};
}

static void unlock(struct sections *s, const struct history_event *e, uint32_t event)
{
	for (uint32_t i = s->count; i && i + DEPTH > s->count; i--)
		if (s->items[i - 1].lock == e->object && s->items[i - 1].end == HISTORY_NONE) {
			s->items[i - 1].end = event;
			return;
		}
}

/* The section after this one, going outwards, that the event lies in; they are numbered from 1. */
static uint32_t around(const struct sections *s, uint32_t event, uint32_t inner)
{
	uint32_t low = 0, high = s->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->items[middle].begin <= event)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t i = inner ? inner - 1 : low; i && i + DEPTH > low; i--)
		if (s->items[i - 1].end >= event)
			return i;
	return 0;
}

/* If both hold a lock that keeps them apart, all of one critical section comes before all of the other. */
static struct told_edge whole_sections(const struct find *f, struct told_edge edge)
{
	const struct history_event *events = f->h->events;
	const struct sections *from = &f->sections[events[edge.said].thread];
	const struct sections *to = &f->sections[events[edge.heard].thread];

	for (uint32_t i = 0; (i = around(from, edge.said, i));)
		for (uint32_t k = 0; (k = around(to, edge.heard, k));) {
			const struct section *s = &from->items[i - 1], *h = &to->items[k - 1];

			if (s->lock == h->lock && (s->write || h->write) && s->end < h->begin)
				return (struct told_edge){s->end, h->begin};
		}
	return edge;
}

/* ---- blocks ---- */

static uint64_t two(uint32_t thread, uint32_t other)
{
	return (uint64_t)thread << 32 | other;
}

static void add_edge(struct find *f, struct told_edge edge)
{
	struct told *out = f->out;
	uint64_t threads = two(f->h->events[edge.heard].thread, f->h->events[edge.said].thread);

	if (out->count == out->room) {
		out->room = out->room ? out->room * 2 : 64;
		out->edges = mem_resize(out->edges, out->room, sizeof(*out->edges));
	}
	out->edges[out->count++] = edge;
	if (map_get(&f->limits, threads) < edge.said + 1)
		map_set(&f->limits, threads, edge.said + 1);
}

static void access_block(struct find *f, uint32_t block, uint32_t event)
{
	const struct history_event *events = f->h->events;
	uint32_t thread = events[event].thread, allocated = f->allocated[block], heard = f->heard[thread];
	uint64_t key = two(block, thread);
	uint32_t said;

	if (!allocated || events[allocated - 1].thread == thread || map_get(&f->known, key))
		return;
	map_set(&f->known, key, 1);
	said = first_told(f, &f->told[events[allocated - 1].thread], allocated - 1, block);
	if (said >= event)
		said = allocated - 1;
	add_edge(f,
		 whole_sections(f, (struct told_edge){said, f->taken[thread] && heard > said + 1 ? heard - 1
												 : event}));
}

static bool lets_others_go(const struct history_event *e)
{
	switch ((enum history_kind)e->kind) {
	case HISTORY_UNLOCK:
	case HISTORY_CREATE:
	case HISTORY_END:
	case HISTORY_SIGNAL:
	case HISTORY_BROADCAST:
	case HISTORY_BARRIER_ENTER:
	case HISTORY_POST:
	case HISTORY_ONCE_END:
	case HISTORY_RELEASE:
	case HISTORY_SET:
	case HISTORY_EXCHANGE:
	case HISTORY_SWAP:
	case HISTORY_MARK:
		return true;
	default:
		return false;
	}
}

/* The last write of the variable, or of what it was split off, plus one. */
static uint32_t last_write(const struct find *f, uint32_t variable)
{
	while (!f->wrote[variable] && f->h->variables[variable].parent != HISTORY_NONE)
		variable = f->h->variables[variable].parent;
	return f->wrote[variable];
}

/* What nobody or the thread itself wrote is none, nor is what was written before the thread was told of
 * something else: who wrote it knew no more then than others could have said already. */
static bool is_news(const struct find *f, const struct history_event *e)
{
	uint32_t write = last_write(f, e->object), by;

	if (!write)
		return false;
	by = f->h->events[write - 1].thread;
	return by != e->thread && write > map_get(&f->limits, two(e->thread, by));
}

/* Code that nobody sees may read anything once it has a lock, so locks count. */
static bool listens(const struct find *f, const struct history_event *e)
{
	switch ((enum history_kind)e->kind) {
	case HISTORY_READ:
		return is_news(f, e);
	case HISTORY_WRITE:
	case HISTORY_UNLOCK:
	case HISTORY_CREATE:
	case HISTORY_END:
	case HISTORY_WAIT:
	case HISTORY_SIGNAL:
	case HISTORY_BROADCAST:
	case HISTORY_BARRIER_ENTER:
	case HISTORY_POST:
	case HISTORY_ONCE_END:
	case HISTORY_ALLOC:
	case HISTORY_SET:
		return false;
	default:
		return true;
	}
}

static void look_at_access(struct find *f, const struct history_event *e, uint32_t i)
{
	uint32_t last = f->writers[e->object];

	if (f->h->variables[e->object].block != HISTORY_NONE)
		access_block(f, f->h->variables[e->object].block, i);
	if (e->kind == HISTORY_WRITE) {
		f->writers[e->object] = f->wrote[e->object] = i + 1;
	} else if (last && f->h->events[last - 1].thread != e->thread) {
		tell_late(f, f->h->events[last - 1].thread, last - 1);
		f->writers[e->object] = 0;
	}
}

static void look_at(struct find *f, const struct history_event *e, uint32_t i)
{
	if (lets_others_go(e))
		tell(&f->told[e->thread], i);
	if (e->kind == HISTORY_LOCK || e->kind == HISTORY_RDLOCK)
		lock(&f->sections[e->thread], e, i);
	if (e->kind == HISTORY_UNLOCK)
		unlock(&f->sections[e->thread], e, i);
	if (e->kind == HISTORY_UNLOCK)
		f->gave_up[e->thread] = true;
	if (e->kind == HISTORY_ALLOC) {
		f->allocated[e->object] = i + 1;
		tell(&f->allocs[e->thread], i);
	}
	if (history_is_access(e))
		look_at_access(f, e, i);
	if (listens(f, e)) {
		f->heard[e->thread] = i + 1;
		f->taken[e->thread] = f->gave_up[e->thread] = false;
	} else if (e->kind == HISTORY_WRITE && f->heard[e->thread] && !f->gave_up[e->thread]) {
		const struct history_event *read = &f->h->events[f->heard[e->thread] - 1];

		f->taken[e->thread] |= read->kind == HISTORY_READ && read->object == e->object;
	}
}

static int by_heard(const void *a, const void *b)
{
	const struct told_edge *x = a, *y = b;

	return x->heard != y->heard ? (x->heard > y->heard) - (x->heard < y->heard)
				    : (x->said > y->said) - (x->said < y->said);
}

void told_find(struct told *t, const struct history *h)
{
	struct find f = {.out = t, .h = h};

	*t = (struct told){0};
	f.allocated = mem_zalloc(h->block_count + 1ull, sizeof(*f.allocated));
	f.allocs = mem_zalloc(h->thread_count + 1ull, sizeof(*f.allocs));
	f.told = mem_zalloc(h->thread_count + 1ull, sizeof(*f.told));
	f.writers = mem_zalloc(h->variable_count + 1ull, sizeof(*f.writers));
	f.wrote = mem_zalloc(h->variable_count + 1ull, sizeof(*f.wrote));
	f.heard = mem_zalloc(h->thread_count + 1ull, sizeof(*f.heard));
	f.taken = mem_zalloc(h->thread_count + 1ull, sizeof(*f.taken));
	f.gave_up = mem_zalloc(h->thread_count + 1ull, sizeof(*f.gave_up));
	f.sections = mem_zalloc(h->thread_count + 1ull, sizeof(*f.sections));
	for (uint32_t i = 0; i < h->count; i++)
		look_at(&f, &h->events[i], i);
	if (t->count)
		qsort(t->edges, t->count, sizeof(*t->edges), by_heard);
	for (uint32_t i = 0; i < h->thread_count; i++) {
		free(f.allocs[i].events);
		free(f.told[i].events);
		free(f.sections[i].items);
	}
	free(f.allocated);
	free(f.allocs);
	free(f.told);
	free(f.writers);
	free(f.wrote);
	free(f.heard);
	free(f.taken);
	free(f.gave_up);
	free(f.sections);
	map_release(&f.limits);
	map_release(&f.known);
}

void told_release(struct told *t)
{
	free(t->edges);
	*t = (struct told){0};
}
