/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/handover.h"

#include "base/err.h"
#include "base/map.h"

#include <stdlib.h>

/* What a thread knows of a block. Events and variables plus one; 0: none. */
struct known {
	uint32_t used; /* its last use */
	uint32_t from; /* variable that it read a pointer from, the last time */
	uint32_t put;  /* write that put the pointer there which it has read since */
	bool other;    /* it had another way since */
};

struct handover {
	const struct history *h;
	uint32_t *wrote;  /* by event: of a write, what it made the variable point into (as `points`) */
	uint32_t *writer; /* by variable: its last write, plus one */
	struct map index; /* block and thread to its place in `known`, plus one */
	struct known *known;
	uint32_t count, room;
};

struct handover *handover_new(const struct history *h)
{
	struct handover *ho;
	uint32_t i = 0;

	while (i < h->count && !h->events[i].points)
		i++;
	if (i == h->count)
		return NULL;
	ho = mem_zalloc(1, sizeof(*ho));
	ho->h = h;
	ho->wrote = mem_zalloc(h->count + 1ull, sizeof(*ho->wrote));
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
	free(ho->writer);
	free(ho->known);
	map_release(&ho->index);
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

/* Did the variable point into the block when the write was about to be done? */
static bool pointed_before(const struct handover *ho, uint32_t variable, uint32_t points, uint32_t write)
{
	uint32_t last = ho->writer[variable];

	if (last > write)
		return ho->h->events[last - 1].points == points;
	return !last || ho->wrote[last - 1] == points;
}

static void read_pointer(struct handover *ho, const struct history_event *e)
{
	const struct history_event *events = ho->h->events;
	struct known *k = known_of(ho, e->points - 1, e->thread);
	uint32_t write = ho->writer[e->object];
	bool put = write > k->used && events[write - 1].thread != e->thread &&
		   events[write - 1].points != e->points;

	if (put && k->from && k->from - 1 != e->object && pointed_before(ho, k->from - 1, e->points, write))
		put = false;
	if (put && k->put && events[k->put - 1].thread != events[write - 1].thread)
		put = false;
	if (!put)
		k->other = true;
	else if (!k->put || write < k->put)
		k->put = write;
	k->from = e->object + 1;
}

static unsigned use(struct handover *ho, uint32_t block, uint32_t event, uint32_t *write)
{
	struct known *k = known_of(ho, block, ho->h->events[event].thread);
	bool put = k->put && !k->other;

	if (put)
		*write = k->put - 1;
	k->used = event + 1;
	k->put = 0;
	k->other = false;
	return put;
}

unsigned handover_access(struct handover *ho, uint32_t event, uint32_t writes[HANDOVER_MOST])
{
	const struct history_event *e = &ho->h->events[event];
	uint32_t block = ho->h->variables[e->object].block, wrote = ho->wrote[event];
	unsigned count = 0;

	if (block != HISTORY_NONE)
		count += use(ho, block, event, &writes[count]);
	if (wrote && wrote - 1 != block)
		count += use(ho, wrote - 1, event, &writes[count]);
	if (e->kind == HISTORY_WRITE)
		ho->writer[e->object] = event + 1;
	else if (e->points && e->points - 1 != block)
		read_pointer(ho, e);
	return count;
}
