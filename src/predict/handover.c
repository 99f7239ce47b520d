/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/handover.h"

#include "base/err.h"
#include "base/map.h"

#include <stdlib.h>

enum {
	ORIGINS = 16, /* hands that a pointer went through */
	BACK = 64,    /* writes of a variable that are gone back over */
};

/* What a thread knows of a block. Events and variables plus one; 0: none. */
struct known {
	uint32_t used; /* its last use */
	uint32_t from; /* variable that it read a pointer from, the last time */
	uint32_t put;  /* write that put the pointer there which it has read since */
	uint32_t read; /* the first such read */
};

/* A read that the thread relied on, of a variable that has not been written since. */
struct relied {
	uint32_t read;
	uint32_t next; /* of the same variable, plus one */
};

struct handover {
	const struct history *h;
	uint32_t *wrote;  /* by event: of a write, what it made the variable point into (as `points`) */
	uint32_t *origin; /* by event: of a write of a pointer, the one that it was read from, plus one */
	uint32_t *before; /* by event: of a write, the variable's write before it, plus one */
	uint32_t *writer; /* by variable: its last write, plus one */
	struct map index; /* block and thread to its place in `known`, plus one */
	struct known *known;
	uint32_t count, room;
	struct map first; /* variable to its first relied, plus one */
	struct relied *relied;
	uint32_t relied_count, relied_room;
	struct handover_sink sink;
};

struct handover *handover_new(const struct history *h, const struct handover_sink *sink)
{
	struct handover *ho;
	uint32_t i = 0;

	while (i < h->count && !h->events[i].points)
		i++;
	if (i == h->count)
		return NULL;
	ho = mem_zalloc(1, sizeof(*ho));
	ho->h = h;
	ho->sink = *sink;
	ho->wrote = mem_zalloc(h->count + 1ull, sizeof(*ho->wrote));
	ho->origin = mem_zalloc(h->count + 1ull, sizeof(*ho->origin));
	ho->before = mem_zalloc(h->count + 1ull, sizeof(*ho->before));
	ho->writer = mem_zalloc(h->variable_count + 1ull, sizeof(*ho->writer));
	/* What a write left there is what the next access finds. */
	for (i = 0; i < h->count; i++) {
		const struct history_event *e = &h->events[i];
		uint32_t *last;

		if (!history_is_access(e))
			continue;
		last = &ho->writer[e->object];
		if (*last)
			ho->wrote[*last - 1] = e->points;
		*last = e->kind == HISTORY_WRITE ? i + 1 : 0;
	}
	for (i = 0; i < h->variable_count; i++)
		ho->writer[i] = 0;
	return ho;
}

void handover_free(struct handover *ho)
{
	if (!ho)
		return;
	free(ho->wrote);
	free(ho->origin);
	free(ho->before);
	free(ho->writer);
	free(ho->known);
	free(ho->relied);
	map_release(&ho->index);
	map_release(&ho->first);
	free(ho);
}

static struct known *known_of(struct handover *ho, uint32_t block, uint32_t thread)
{
	uint64_t key = (uint64_t)block << 32 | thread;
	uint32_t at = map_get(&ho->index, key);

	if (!at) {
		if (ho->count == ho->room) {
			ho->room = ho->room ? ho->room * 2 : 64;
			ho->known = mem_resize(ho->known, ho->room, sizeof(*ho->known));
		}
		ho->known[ho->count] = (struct known){0};
		at = ++ho->count;
		map_set(&ho->index, key, at);
	}
	return &ho->known[at - 1];
}

/* Did the variable point into the block all the time from the thread's last use of it up to the write? */
static bool pointed_since(const struct handover *ho, uint32_t variable, uint32_t points, uint32_t used,
			  uint32_t write)
{
	uint32_t last = ho->writer[variable];

	for (unsigned i = 0; last > write; last = ho->before[last - 1], i++)
		if (i == BACK)
			return true;
	return last <= used && (!last || ho->wrote[last - 1] == points);
}

static void read_pointer(struct handover *ho, uint32_t event)
{
	const struct history_event *events = ho->h->events, *e = &events[event];
	struct known *k = known_of(ho, e->points - 1, e->thread);
	uint32_t write = ho->writer[e->object];
	bool own = write && events[write - 1].thread == e->thread;
	bool put = write > k->used && !own && events[write - 1].points != e->points;

	/* What it found elsewhere and put here itself. */
	if (own && ho->origin[write - 1])
		return;
	if (put && k->from && k->from - 1 != e->object &&
	    pointed_since(ho, k->from - 1, e->points, k->used, write))
		put = false;
	/* Put there anew since it was read and not used: somebody else had it meanwhile. */
	if (put && write > k->read)
		k->put = k->read = 0;
	if (put && k->put && events[k->put - 1].thread != events[write - 1].thread)
		put = false;
	if (!put)
		k->put = k->read = 0;
	else if (!k->put || write < k->put)
		k->put = write;
	if (put && !k->read)
		k->read = event + 1;
	k->from = e->object + 1;
}

/* What it read it must have read before somebody puts something else there. */
static void rely(struct handover *ho, uint32_t read, uint32_t put)
{
	uint32_t variable = ho->h->events[read].object;

	if (ho->writer[variable] != put)
		return;
	if (ho->relied_count == ho->relied_room) {
		ho->relied_room = ho->relied_room ? ho->relied_room * 2 : 64;
		ho->relied = mem_resize(ho->relied, ho->relied_room, sizeof(*ho->relied));
	}
	ho->relied[ho->relied_count] = (struct relied){read, map_get(&ho->first, variable)};
	map_set(&ho->first, variable, ++ho->relied_count);
}

static void use(struct handover *ho, uint32_t block, uint32_t event)
{
	const struct history_event *events = ho->h->events;
	struct known *k = known_of(ho, block, events[event].thread);

	if (k->put) {
		ho->sink.found(ho->sink.user, block, k->put - 1, k->read - 1, event);
		rely(ho, k->read - 1, k->put);
		for (uint32_t put = k->put, i = 0; put && i < ORIGINS; put = ho->origin[put - 1], i++)
			if (events[put - 1].thread != events[event].thread)
				ho->sink.edge(ho->sink.user, put - 1, event);
	}
	k->used = event + 1;
	k->put = k->read = 0;
}

/* Who only passes a pointer on relies on nothing; who finds it then relies on both. */
static void pass_on(struct handover *ho, uint32_t block, uint32_t event)
{
	ho->origin[event] = known_of(ho, block, ho->h->events[event].thread)->put;
}

static void write_pointer(struct handover *ho, uint32_t event)
{
	const struct history_event *events = ho->h->events, *e = &events[event];
	uint32_t at = map_get(&ho->first, e->object);

	map_remove(&ho->first, e->object);
	for (; at; at = ho->relied[at - 1].next) {
		const struct history_event *read = &events[ho->relied[at - 1].read];

		if (read->thread != e->thread && read->points == e->points && ho->wrote[event] != e->points)
			ho->sink.edge(ho->sink.user, ho->relied[at - 1].read, event);
	}
	ho->before[event] = ho->writer[e->object];
	ho->writer[e->object] = event + 1;
}

void handover_access(struct handover *ho, uint32_t event)
{
	const struct history_event *e = &ho->h->events[event];
	uint32_t block = ho->h->variables[e->object].block, wrote = ho->wrote[event];

	if (block != HISTORY_NONE)
		use(ho, block, event);
	if (wrote && wrote - 1 != block)
		pass_on(ho, wrote - 1, event);
	if (e->kind == HISTORY_WRITE)
		write_pointer(ho, event);
	else if (e->points && e->points - 1 != block)
		read_pointer(ho, event);
}
