/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/weave.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* Constraints that are looked at; only absurd programs need more, and are taken for possible. */
#define QUEUE_LIMIT 100000
#define VERSION_LIMIT 100000
#define LOCK_LIMIT 64
#define FOUND_LIMIT 64
#define BYSTANDERS 256 /* threads that are looked at beside the goal's */

static void fail(struct weave *w, enum order_reason reason)
{
	if (!w->failed)
		w->reason = reason;
	w->failed = true;
}

/* Index of the first step with `after` (or `before`) at or above the event. */
static uint32_t first_after(const struct weave_steps *s, uint32_t event)
{
	uint32_t low = 0, high = s->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->steps[middle].after < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t first_before(const struct weave_steps *s, uint32_t event)
{
	uint32_t low = 0, high = s->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s->steps[middle].before < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add(struct weave *w, uint32_t a, uint32_t before, uint32_t b, uint32_t after)
{
	struct weave_steps *s = &w->steps[a][b];
	const struct weave_steps *back = &w->steps[b][a];

	if (w->failed || a == b || before < w->from[a] || after >= w->goal->targets[b])
		return;
	if (before >= w->goal->targets[a] || after < w->from[b]) {
		fail(w, ORDER_LOCKS);
		return;
	}
	uint32_t at = first_after(s, after);

	/* Entailed by one that is there? */
	if ((at < s->count && s->steps[at].after == after && s->steps[at].before >= before) ||
	    (at && s->steps[at - 1].before >= before))
		return;
	/* A cycle: something at or after `after` must come before something at or before `before`. */
	uint32_t other = first_before(back, after);

	if (other < back->count && back->steps[other].after <= before) {
		fail(w, ORDER_LOCKS);
		return;
	}
	uint32_t end = at;

	while (end < s->count && s->steps[end].before <= before)
		end++;
	if (s->count + 1 > s->room) {
		s->room = s->room ? s->room * 2 : 8;
		s->steps = mem_resize(s->steps, s->room, sizeof(*s->steps));
	}
	memmove(s->steps + at + 1, s->steps + end, (s->count - end) * sizeof(*s->steps));
	s->steps[at].before = before;
	s->steps[at].after = after;
	s->count = s->count - (end - at) + 1;
	if (w->queued >= QUEUE_LIMIT)
		return;
	if (w->queued == w->queue_room) {
		w->queue_room = w->queue_room ? w->queue_room * 2 : 64;
		w->queue = mem_resize(w->queue, w->queue_room, sizeof(*w->queue));
	}
	w->queue[w->queued++] = (struct weave_edge){a, before, b, after};
}

static bool excludes(const struct lockset_section *s, bool write)
{
	return s->write || write;
}

/* Index of the first section that ends at or after the event. */
static uint32_t section_ending(const struct lockset_section *s, uint32_t count, uint32_t event)
{
	uint32_t low = 0, high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (s[middle].release < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* One section of thread a is known to begin before one of thread b ends. */
static void exclude(struct weave *w, uint32_t a, const struct lockset_section *first, uint32_t b,
		    const struct lockset_section *second)
{
	if (second->acquire >= w->goal->targets[b])
		return;
	if (first->release >= w->goal->targets[a]) /* never given up */
		fail(w, ORDER_LOCKS);
	else
		add(w, a, first->release, b, second->acquire);
}

/* What a constraint entails by the exclusion of sections that its ends lie in. */
static void entail_locks(struct weave *w, struct weave_edge e)
{
	const struct weave_goal *g = w->goal;
	struct lockset_lock held[LOCK_LIMIT];
	const struct lockset_section *ours, *theirs;

	/* Sections of a that `before` lies in, their first and last events included. */
	for (unsigned side = 0; side < 2; side++) {
		uint32_t limit =
			e.before + side; /* before it and after it: it may be a release or an acquire */
		uint32_t context = lockset_context(w->locks, g->threads[e.a], limit);
		uint32_t count = lockset_locks(w->locks, context, held, LOCK_LIMIT);

		for (uint32_t i = 0; i < count && i < LOCK_LIMIT; i++) {
			uint32_t n = lockset_sections(w->locks, g->threads[e.a], held[i].lock, &ours);
			uint32_t m = lockset_sections(w->locks, g->threads[e.b], held[i].lock, &theirs);
			uint32_t at = section_ending(ours, n, e.before);

			if (at == n)
				continue;
			for (uint32_t k = section_ending(theirs, m, e.after); k < m; k++)
				if (excludes(&theirs[k], ours[at].write)) {
					exclude(w, e.a, &ours[at], e.b, &theirs[k]);
					break;
				}
		}
	}
	/* Sections of b that `after` lies in. */
	for (unsigned side = 0; side < 2; side++) {
		uint32_t limit = e.after + side;
		uint32_t context = lockset_context(w->locks, g->threads[e.b], limit);
		uint32_t count = lockset_locks(w->locks, context, held, LOCK_LIMIT);

		for (uint32_t i = 0; i < count && i < LOCK_LIMIT; i++) {
			uint32_t n = lockset_sections(w->locks, g->threads[e.a], held[i].lock, &ours);
			uint32_t m = lockset_sections(w->locks, g->threads[e.b], held[i].lock, &theirs);
			uint32_t at = section_ending(theirs, m, e.after);

			if (at == m)
				continue;
			/* The last of a's that begins at or before `before`. */
			uint32_t last = section_ending(ours, n, e.before);

			if (last < n && ours[last].acquire <= e.before)
				last++;
			while (last-- > 0)
				if (excludes(&ours[last], theirs[at].write)) {
					exclude(w, e.a, &ours[last], e.b, &theirs[at]);
					break;
				}
		}
	}
}

static void entail_order(struct weave *w, struct weave_edge e)
{
	for (uint32_t r = 0; r < w->goal->count; r++) {
		if (r == e.a || r == e.b)
			continue;
		const struct weave_steps *on = &w->steps[e.b][r], *to = &w->steps[r][e.a];
		uint32_t next = first_before(on, e.after), last = first_after(to, e.before + 1);

		if (next < on->count)
			add(w, e.a, e.before, r, on->steps[next].after);
		if (last)
			add(w, r, to->steps[last - 1].before, e.b, e.after);
	}
}

/* Locks that a thread has at its target. */
static void open_sections(struct weave *w, uint32_t t)
{
	const struct weave_goal *g = w->goal;
	struct lockset_lock held[LOCK_LIMIT];
	const struct lockset_section *ours, *theirs;
	uint32_t context = lockset_context(w->locks, g->threads[t], g->targets[t]);
	uint32_t count = lockset_locks(w->locks, context, held, LOCK_LIMIT);

	for (uint32_t i = 0; i < count && i < LOCK_LIMIT; i++) {
		uint32_t n = lockset_sections(w->locks, g->threads[t], held[i].lock, &ours);
		uint32_t at = section_ending(ours, n, g->targets[t]);

		if (at == n)
			continue;
		for (uint32_t u = 0; u < g->count; u++) {
			if (u == t)
				continue;
			uint32_t m = lockset_sections(w->locks, g->threads[u], held[i].lock, &theirs);
			uint32_t last = section_ending(theirs, m, g->targets[u]);

			if (last < m && theirs[last].acquire < g->targets[u])
				last++;
			while (last-- > 0)
				if (excludes(&theirs[last], held[i].write)) {
					if (theirs[last].release >= g->targets[u])
						fail(w, ORDER_LOCKS);
					else
						add(w, u, theirs[last].release, t, ours[at].acquire);
					break;
				}
		}
	}
}

/* How far a thread that is none of the goal's must have come. */
static uint32_t needed(const struct weave *w, uint32_t thread)
{
	const struct weave_goal *g = w->goal;
	uint32_t most = 0;

	for (uint32_t t = 0; t < g->count; t++) {
		uint32_t need = g->threads[t] == thread
					? HISTORY_NONE
					: order_needs(w->order, g->threads[t], g->targets[t], thread);

		if (need > most)
			most = need;
	}
	return most == HISTORY_NONE ? 0 : most;
}

/*
 * A lock that t has at its target, and that somebody else must have had by
 * then: it had given it back before t took it. So nothing up to there can
 * have waited for what t did with the lock.
 */
static void look_at_bystanders(struct weave *w, uint32_t t)
{
	const struct weave_goal *g = w->goal;
	uint32_t threads = w->order->history->thread_count;
	struct lockset_lock held[LOCK_LIMIT];
	const struct lockset_section *ours, *theirs;
	uint32_t context = lockset_context(w->locks, g->threads[t], g->targets[t]);
	uint32_t count = lockset_locks(w->locks, context, held, LOCK_LIMIT);

	for (uint32_t u = 0; count && u < threads && u < BYSTANDERS; u++) {
		uint32_t need = needed(w, u);

		for (uint32_t i = 0; need && i < count && i < LOCK_LIMIT; i++) {
			uint32_t n = lockset_sections(w->locks, g->threads[t], held[i].lock, &ours);
			uint32_t m = lockset_sections(w->locks, u, held[i].lock, &theirs);
			uint32_t at = section_ending(ours, n, g->targets[t]);
			uint32_t last = section_ending(theirs, m, need);

			if (at == n)
				continue;
			if (last < m && theirs[last].acquire < need)
				last++;
			while (last > 0 && !excludes(&theirs[last - 1], held[i].write))
				last--;
			if (!last)
				continue;
			uint32_t limit =
				theirs[last - 1].release < need ? theirs[last - 1].release + 1 : need;

			if (order_needs(w->order, u, limit, g->threads[t]) > ours[at].acquire)
				fail(w, ORDER_LOCKS);
		}
	}
}

/* What synchronisation asks for on the way of a thread. */
static void order_constraints(struct weave *w, uint32_t t)
{
	const struct weave_goal *g = w->goal;
	const struct vclock_thread *clock = &order_whole(w->order)->threads[g->threads[t]];
	uint32_t looked = 0, low = 0, high = clock->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (clock->versions[middle].event < w->from[t])
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < clock->count && clock->versions[low].event < g->targets[t] && !w->failed; low++) {
		const struct vclock_version *v = &clock->versions[low];

		if (looked++ > VERSION_LIMIT)
			return;
		for (uint32_t u = 0; u < g->count; u++) {
			uint32_t need = g->threads[u] < v->length ? v->limits[g->threads[u]] : 0;

			if (u == t || need <= w->from[u])
				continue;
			if (need > g->targets[u]) {
				fail(w, order_explain(w->order, g->threads[t], g->targets[t], g->threads[u],
						      g->targets[u] + 1));
				return;
			}
			add(w, u, need - 1, t, v->event);
		}
	}
}

/*
 * What a thread is to do after its target it may have to find by a pointer that
 * it has read by then: so the pointer was there when it read it.
 */
static void pointer_constraints(struct weave *w, uint32_t t)
{
	const struct weave_goal *g = w->goal;
	const struct order *o = w->order;
	const struct history *h = o->history;
	const struct order_found *found = NULL;
	uint32_t first = order_found_from(o, g->threads[t], 0),
		 at = order_found_from(o, g->threads[t], g->intends[t] + 1);

	for (uint32_t i = 0; g->intends[t] && !found && at > first && i < FOUND_LIMIT; i++)
		if (o->found[--at].block == h->variables[h->events[g->intends[t]].object].block)
			found = &o->found[at];
	if (!found || found->read >= g->targets[t])
		return;
	for (uint32_t u = 0; u < g->count; u++) {
		if (g->threads[u] != found->by)
			continue;
		if (found->put >= g->targets[u])
			fail(w, ORDER_HANDOVER);
		else if (found->put >= w->from[u] && found->read >= w->from[t])
			add(w, u, found->put, t, found->read);
	}
}

/* No thread may start behind something that another has still to do: it starts further back. */
static void settle_starts(struct weave *w)
{
	const struct weave_goal *g = w->goal;
	const struct vclock *clock = order_whole(w->order);
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t t = 0; t < g->count; t++)
			for (uint32_t u = 0; u < g->count; u++) {
				if (u == t || vclock_needs(clock, g->threads[t], w->from[t], g->threads[u]) <=
						      w->from[u])
					continue;
				uint32_t event =
					vclock_first(clock, g->threads[t], g->threads[u], w->from[u] + 1);

				w->from[t] = lockset_free_before(w->locks, g->threads[t], event);
				again = true;
			}
	}
}

bool weave_solve(struct weave *w, const struct weave_goal *goal, struct locksets *locks,
		 const struct order *order)
{
	*w = (struct weave){.goal = goal, .locks = locks, .order = order, .start = UINT32_MAX};
	for (uint32_t t = 0; t < goal->count; t++) {
		w->free[t] = lockset_free_before(locks, goal->threads[t], goal->anchors[t]);
		if (w->free[t] < w->start)
			w->start = w->free[t];
	}
	for (uint32_t t = 0; t < goal->count; t++)
		w->from[t] = lockset_free_before(locks, goal->threads[t], w->start);
	settle_starts(w);
	for (uint32_t t = 0; t < goal->count; t++)
		order_constraints(w, t);
	for (uint32_t t = 0; t < goal->count; t++)
		pointer_constraints(w, t);
	for (uint32_t t = 0; t < goal->count; t++)
		open_sections(w, t);
	for (uint32_t i = 0; i < goal->edge_count; i++)
		add(w, goal->edges[i].a, goal->edges[i].before, goal->edges[i].b, goal->edges[i].after);
	for (uint32_t i = 0; i < w->queued && !w->failed; i++) {
		entail_locks(w, w->queue[i]);
		entail_order(w, w->queue[i]);
	}
	for (uint32_t t = 0; t < goal->count && !w->failed; t++)
		look_at_bystanders(w, t);
	return !w->failed;
}

void weave_release(struct weave *w)
{
	for (uint32_t a = 0; a < WEAVE_MAX_THREADS; a++)
		for (uint32_t b = 0; b < WEAVE_MAX_THREADS; b++)
			free(w->steps[a][b].steps);
	free(w->queue);
	*w = (struct weave){0};
}

void weave_run(const struct weave *w, uint32_t *at, uint32_t thread, uint32_t limit,
	       void (*run)(void *user, uint32_t thread, uint32_t from, uint32_t to), void *user)
{
	while (at[thread] < limit) {
		/* The nearest event that waits for another thread, and how far that one must come. */
		uint32_t stop = limit, other = thread, need = 0;

		for (uint32_t u = 0; u < w->goal->count; u++) {
			const struct weave_steps *s = &w->steps[u][thread];

			/* Steps ascend in both columns: the first that is not met yet. */
			uint32_t i = first_before(s, at[u]);

			if (u != thread && i < s->count && s->steps[i].after < stop) {
				stop = s->steps[i].after;
				other = u;
				need = s->steps[i].before + 1;
			}
		}
		if (stop > at[thread]) {
			run(user, thread, at[thread], stop);
			at[thread] = stop;
		}
		if (other != thread)
			weave_run(w, at, other, need, run, user);
	}
}

bool weave_may(const struct weave *w, const uint32_t *at, uint32_t thread)
{
	for (uint32_t u = 0; u < w->goal->count; u++) {
		const struct weave_steps *s = &w->steps[u][thread];
		uint32_t i = first_before(s, at[u]);

		if (u != thread && i < s->count && s->steps[i].after <= at[thread])
			return false;
	}
	return true;
}
