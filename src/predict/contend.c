/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/contend.h"

#include "base/err.h"

#include <stdlib.h>

#define READERS 4
#define ALONE 0x80000000u /* no unit, but a thread */

/* The accesses that the next one can conflict with first. Events plus one; 0: none. */
struct last {
	uint32_t write;
	uint32_t reads[READERS]; /* since the write, the last of each thread */
	uint32_t units[READERS]; /* that accessed it last, the latest first, or threads with ALONE */
};

struct find {
	struct contend *c;
	const struct order *order;
	struct last *last;
};

static bool ordered(const struct find *f, uint32_t before, uint32_t event)
{
	const struct history_event *events = f->order->history->events;
	uint32_t from = events[before - 1].thread, to = events[event].thread;

	return from == to || order_needs(f->order, to, event + 1, from) >= before;
}

/* Did this unit access it before somebody else did? Then others come in between even if they must. */
static bool comes_back(struct last *l, const struct history_event *e)
{
	uint32_t at = 0, unit = e->unit ? e->unit : ALONE | e->thread;

	if (l->units[0] == unit)
		return false;
	while (at < READERS - 1 && l->units[at] != unit)
		at++;
	bool back = l->units[at] == unit && e->unit;

	for (; at > 0; at--)
		l->units[at] = l->units[at - 1];
	l->units[0] = unit;
	return back;
}

static bool note_read(const struct find *f, struct last *l, uint32_t event)
{
	const struct history_event *events = f->order->history->events;

	for (unsigned i = 0; i < READERS; i++)
		if (!l->reads[i] || events[l->reads[i] - 1].thread == events[event].thread) {
			l->reads[i] = event + 1;
			return true;
		}
	return false;
}

static void look_at(struct find *f, uint32_t variable, uint32_t event)
{
	const struct history *h = f->order->history;
	const struct history_variable *v = &h->variables[variable];
	struct last *l = &f->last[variable];
	bool *contended = &f->c->variables[variable];

	if (v->kept && !*contended) {
		*contended = comes_back(l, &h->events[event]);
		if (l->write && !ordered(f, l->write, event))
			*contended = true;
		if (h->events[event].kind == HISTORY_WRITE) {
			for (unsigned i = 0; i < READERS && l->reads[i]; i++) {
				if (!ordered(f, l->reads[i], event))
					*contended = true;
				l->reads[i] = 0;
			}
			l->write = event + 1;
		} else if (!note_read(f, l, event)) {
			*contended = true; /* more readers than are worth it */
		}
		f->c->count += *contended;
	}
	for (uint32_t child = v->child; child != HISTORY_NONE; child = h->variables[child].sibling)
		if (h->variables[child].since > event)
			look_at(f, child, event);
}

/* Of a variable and of what was split off it later: is one contended for, or are they all beside one? */
static bool look_beside(struct find *f, uint32_t variable, uint32_t event, bool mark)
{
	const struct history *h = f->order->history;
	const struct history_variable *v = &h->variables[variable];
	bool any = f->c->variables[variable];

	if (mark && v->kept && !any)
		f->c->beside[variable] = true;
	for (uint32_t child = v->child; child != HISTORY_NONE; child = h->variables[child].sibling)
		if (h->variables[child].since > event)
			any |= look_beside(f, child, event, mark);
	return any;
}

static void find_beside(struct find *f)
{
	const struct history *h = f->order->history;
	bool *units = mem_zalloc(h->unit_count + 1ull, sizeof(*units));

	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < h->count; i++) {
			const struct history_event *e = &h->events[i];

			if (!history_is_access(e) || !e->unit || (pass && !units[e->unit]))
				continue;
			units[e->unit] |= look_beside(f, e->object, i, pass);
		}
	free(units);
}

void contend_find(struct contend *c, const struct order *order)
{
	const struct history *h = order->history;
	struct find f = {.c = c, .order = order};

	*c = (struct contend){0};
	c->variables = mem_zalloc(h->variable_count + 1ull, sizeof(*c->variables));
	c->beside = mem_zalloc(h->variable_count + 1ull, sizeof(*c->beside));
	f.last = mem_zalloc(h->variable_count + 1ull, sizeof(*f.last));
	for (uint32_t i = 0; i < h->count; i++)
		if (history_is_access(&h->events[i]))
			look_at(&f, h->events[i].object, i);
	find_beside(&f);
	free(f.last);
}

void contend_release(struct contend *c)
{
	free(c->variables);
	free(c->beside);
	*c = (struct contend){0};
}
