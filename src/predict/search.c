/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/search.h"

#include "base/err.h"
#include "base/map.h"

#include <stdlib.h>

/* Moves one after the other: the search calls itself for each. */
#define DEPTH_LIMIT 2048

struct search {
	struct machine *m;
	const struct weave *w;
	struct search_path *path;
	struct map left; /* states that lead nowhere */
	uint32_t *index; /* by thread: in the goal, plus one */
	uint32_t budget;
};

/* Whether it is done sooner or later is all the same to others: it takes nothing from them. */
static bool takes_nothing(const struct history_event *e)
{
	switch ((enum history_kind)e->kind) {
	case HISTORY_LOCK:
	case HISTORY_RDLOCK:
	case HISTORY_SEM_WAIT:
	case HISTORY_JOIN:
	case HISTORY_WAIT:
	case HISTORY_WAKE:
	case HISTORY_TIMEOUT:
	case HISTORY_SIGNAL:
	case HISTORY_BROADCAST:
	case HISTORY_BARRIER_LEAVE:
	case HISTORY_ONCE_SEEN:
		return false;
	default:
		return true;
	}
}

static uint32_t target_of(const struct search *s, uint32_t thread)
{
	return s->index[thread] ? s->w->goal->targets[s->index[thread] - 1] : HISTORY_NONE;
}

/* What must come first whatever happens: what the pattern asks for, and what synchronisation does. The
 * weave has both only from where it begins. */
static bool is_due(const struct search *s, uint32_t thread, uint32_t next)
{
	const struct weave_goal *g = s->w->goal;

	for (uint32_t i = 0; i < g->edge_count; i++)
		if (g->edges[i].b + 1 == s->index[thread] && g->edges[i].after <= next &&
		    machine_next(s->m, g->threads[g->edges[i].a]) <= g->edges[i].before)
			return false;
	if (!order_ends_segment(s->w->order, next))
		return true;
	for (uint32_t u = 0; u < s->m->history->thread_count; u++) {
		uint32_t need = order_needs(s->w->order, thread, next + 1, u);

		if (u != thread && need && machine_next(s->m, u) < need)
			return false;
	}
	return true;
}

/* May the thread do what is next? The goal's threads stop at their targets, and for each other. */
static bool may(const struct search *s, uint32_t thread)
{
	const struct weave_goal *g = s->w->goal;
	uint32_t at[WEAVE_MAX_THREADS], next = machine_next(s->m, thread);

	if (next >= target_of(s, thread) || !is_due(s, thread, next))
		return false;
	if (!s->index[thread])
		return true;
	for (uint32_t t = 0; t < g->count; t++)
		at[t] = machine_next(s->m, g->threads[t]);
	return weave_may(s->w, at, s->index[thread] - 1);
}

static bool step(struct search *s, uint32_t thread)
{
	struct search_path *p = s->path;

	if (!may(s, thread))
		return false;
	if (p->count == p->room) {
		p->room = p->room ? p->room * 2 : 256;
		p->steps = mem_resize(p->steps, p->room, sizeof(*p->steps));
	}
	p->steps[p->count] = machine_save(s->m, thread);
	if (!machine_step(s->m, thread))
		return false;
	p->count++;
	return true;
}

static void back_to(struct search *s, uint32_t count)
{
	while (s->path->count > count)
		machine_undo(s->m, &s->path->steps[--s->path->count]);
}

/* One event, and all after it that take nothing. */
static bool move(struct search *s, uint32_t thread)
{
	uint32_t next;

	if (!step(s, thread))
		return false;
	while ((next = machine_next(s->m, thread)) != HISTORY_NONE &&
	       takes_nothing(&s->m->history->events[next]) && step(s, thread))
		;
	return true;
}

static bool arrived(const struct search *s)
{
	const struct weave_goal *g = s->w->goal;

	for (uint32_t t = 0; t < g->count; t++)
		if (machine_next(s->m, g->threads[t]) < g->targets[t])
			return false;
	return true;
}

/* How far everybody is; and who waits for a condition, which depends on the order as well. */
static uint64_t state_of(const struct search *s)
{
	const struct history *h = s->m->history;
	uint64_t hash = 1;

	for (uint32_t t = 0; t < h->thread_count; t++)
		hash = map_hash(hash * 0x100000001b3ull ^ s->m->next[t]);
	for (uint32_t c = 0; c < h->condition_count; c++)
		hash = map_hash(hash * 0x100000001b3ull ^
				((uint64_t)s->m->waiting[c] << 32 | s->m->signalled[c]));
	return hash | 1;
}

static bool look(struct search *s, uint32_t last, uint32_t depth);

static bool try_thread(struct search *s, uint32_t thread, uint32_t depth)
{
	uint32_t before = s->path->count;

	if (!s->budget || !move(s, thread))
		return false;
	s->budget--;
	if (look(s, thread, depth + 1))
		return true;
	back_to(s, before);
	return false;
}

/* Who ran last goes on if it can; then those of the pattern, then the others. */
static bool look(struct search *s, uint32_t last, uint32_t depth)
{
	const struct weave_goal *g = s->w->goal;
	uint64_t state;

	if (arrived(s))
		return true;
	state = state_of(s);
	if (depth == DEPTH_LIMIT || map_get(&s->left, state))
		return false;
	if (last != HISTORY_NONE && try_thread(s, last, depth))
		return true;
	for (uint32_t t = 0; t < g->count; t++)
		if (g->threads[t] != last && try_thread(s, g->threads[t], depth))
			return true;
	for (uint32_t t = 0; t < s->m->history->thread_count; t++)
		if (t != last && !s->index[t] && try_thread(s, t, depth))
			return true;
	/* Only what was looked at to the end is known to lead nowhere; else the budget is spent anyway. */
	map_set(&s->left, state, 1);
	return false;
}

bool search_goal(struct machine *machine, const struct weave *weave, uint32_t *budget,
		 struct search_path *path)
{
	struct search s = {.m = machine, .w = weave, .path = path, .budget = *budget};
	bool found;

	s.index = mem_zalloc(machine->history->thread_count + 1ull, sizeof(*s.index));
	for (uint32_t t = 0; t < weave->goal->count; t++)
		s.index[weave->goal->threads[t]] = t + 1;
	found = look(&s, HISTORY_NONE, 0);
	*budget = s.budget;
	map_release(&s.left);
	free(s.index);
	return found;
}

void search_path_release(struct search_path *path)
{
	free(path->steps);
	*path = (struct search_path){0};
}
