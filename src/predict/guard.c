/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/guard.h"

#include "base/err.h"

#include <stdlib.h>

/* Locks that may still turn out to be the guard; more than these are not considered. */
#define CANDIDATES 3
#define HELD 16
#define CHAIN_LIMIT 64

struct candidates {
	uint32_t locks[CANDIDATES]; /* plus one; 0: none */
	uint32_t context;           /* of the last access, plus one; 0: there was none */
	bool write;                 /* and its kind */
};

static bool has(const struct lockset_lock *held, uint32_t count, uint32_t lock, bool write)
{
	for (uint32_t i = 0; i < count && i < HELD; i++)
		if (held[i].lock == lock)
			return held[i].write || !write;
	return false;
}

static void look_at(const struct locksets *l, struct candidates *c, uint32_t context, bool write)
{
	struct lockset_lock held[HELD];
	uint32_t count, n = 0;

	if (c->context == context + 1 && c->write == write)
		return;
	count = lockset_locks(l, context, held, HELD);
	if (!c->context) {
		for (uint32_t i = 0; i < count && i < HELD && n < CANDIDATES; i++)
			if (held[i].write || !write)
				c->locks[n++] = held[i].lock + 1;
	} else {
		for (uint32_t i = 0; i < CANDIDATES; i++)
			if (c->locks[i] && !has(held, count, c->locks[i] - 1, write))
				c->locks[i] = 0;
	}
	c->context = context + 1;
	c->write = write;
}

static void look_at_all(const struct locksets *l, struct candidates *all, uint32_t variable, uint32_t event)
{
	const struct history *h = l->history;

	look_at(l, &all[variable], l->positions[lockset_at(l, event)].context,
		h->events[event].kind == HISTORY_WRITE);
	for (uint32_t c = h->variables[variable].child; c != HISTORY_NONE; c = h->variables[c].sibling)
		if (h->variables[c].since > event)
			look_at_all(l, all, c, event);
}

void guards_find(struct guards *g, const struct locksets *l, const struct order *order)
{
	const struct history *h = l->history;
	struct candidates *all = mem_zalloc(h->variable_count + 1ull, sizeof(*all));

	for (uint32_t i = 0; i < h->count; i++)
		if (history_is_access(&h->events[i]) && !order_alone(order, i))
			look_at_all(l, all, h->events[i].object, i);
	g->locks = mem_zalloc(h->variable_count + 1ull, sizeof(*g->locks));
	for (uint32_t v = 0; v < h->variable_count; v++)
		for (uint32_t i = 0; i < CANDIDATES; i++)
			if (all[v].locks[i] && (!g->locks[v] || all[v].locks[i] < g->locks[v]))
				g->locks[v] = all[v].locks[i];
	free(all);
}

void guards_release(struct guards *g)
{
	free(g->locks);
	*g = (struct guards){0};
}

bool guard_kept(const struct guards *g, const struct locksets *l, uint32_t variable, uint32_t from,
		uint32_t to)
{
	uint32_t guard = g->locks[variable], at = lockset_at(l, from);

	if (!guard)
		return false;
	/* Wherever something is given up, the guard must be there still. */
	for (unsigned i = 0; at && (!i || l->positions[at].event < to); i++, at = l->positions[at].next)
		if (i == CHAIN_LIMIT || !lockset_has(l, l->positions[at].context, guard - 1))
			return false;
	return true;
}
