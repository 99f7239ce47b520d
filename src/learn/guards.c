/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "learn/guards.h"

#include "base/err.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* Candidates that are kept of a location; who holds more at once loses the outermost. */
enum { CANDIDATES = 6 };

struct held {
	uint64_t lock;
	uint64_t since;
	uint32_t times;
	bool shared;
};

struct thread {
	struct held *held;
	uint32_t count;
};

/* A granule of 8 bytes, from the allocation of its block to the end of it. */
struct life {
	uint32_t next;  /* of the same granule, in order; 0: none */
	uint32_t first; /* thread + 1 */
	bool shared;    /* others came while there were others */
	bool ended;
	uint8_t count;
	uint64_t locks[CANDIDATES];
};

struct guards {
	struct thread *threads;
	uint32_t thread_count;
	uint64_t now; /* counts locks that are taken, and threads that come and go */
	uint32_t alive;
	uint64_t alone_since; /* if one is alive */
	struct map first;     /* granule to its first life */
	struct map current;   /* and to the one that it has now */
	struct life *lives;   /* from 1 */
	uint32_t life_count, life_room;
	bool again;
};

struct guards *guards_new(void)
{
	struct guards *g = mem_zalloc(1, sizeof(*g));

	g->life_room = 1024;
	g->lives = mem_zalloc(g->life_room, sizeof(*g->lives));
	g->life_count = 1;
	g->now = g->alone_since = 1;
	g->alive = 1;
	return g;
}

static void forget_threads(struct guards *g)
{
	for (uint32_t i = 0; i < g->thread_count; i++)
		free(g->threads[i].held);
	free(g->threads);
	g->threads = NULL;
	g->thread_count = 0;
}

void guards_free(struct guards *g)
{
	forget_threads(g);
	free(g->lives);
	map_release(&g->first);
	map_release(&g->current);
	free(g);
}

void guards_again(struct guards *g)
{
	forget_threads(g);
	map_release(&g->current);
	g->current = (struct map){0};
	for (uint32_t i = 1; i < g->life_count; i++)
		g->lives[i].ended = false;
	g->now = g->alone_since = 1;
	g->alive = 1;
	g->again = true;
}

/* ---- locks and threads ---- */

static struct thread *thread_of(struct guards *g, uint32_t number)
{
	if (number >= g->thread_count) {
		uint32_t count = g->thread_count ? g->thread_count : 16;

		while (count <= number)
			count *= 2;
		g->threads = mem_resize(g->threads, count, sizeof(*g->threads));
		memset(g->threads + g->thread_count, 0, (count - g->thread_count) * sizeof(*g->threads));
		g->thread_count = count;
	}
	return &g->threads[number];
}

static struct held *find_held(const struct thread *t, uint64_t lock)
{
	for (uint32_t i = t->count; i--;)
		if (t->held[i].lock == lock)
			return &t->held[i];
	return NULL;
}

static void take(struct guards *g, uint32_t thread, uint64_t lock, bool shared)
{
	struct thread *t = thread_of(g, thread);
	struct held *held = find_held(t, lock);

	if (held) {
		held->times++;
		return;
	}
	t->held = mem_resize(t->held, t->count + 1ul, sizeof(*t->held));
	t->held[t->count++] = (struct held){lock, ++g->now, 1, shared};
}

static void give(struct guards *g, uint32_t thread, uint64_t lock, bool all)
{
	struct thread *t = thread_of(g, thread);
	struct held *held = find_held(t, lock);

	if (!held || (--held->times && !all))
		return;
	memmove(held, held + 1, (size_t)(t->held + t->count - held - 1) * sizeof(*held));
	t->count--;
}

static void come_or_go(struct guards *g, int how_many)
{
	g->now++;
	if (how_many > 0 || g->alive > 1)
		g->alive += (uint32_t)how_many;
	g->alone_since = g->now;
}

void guards_op(struct guards *g, const struct trace_event *e)
{
	switch (e->op) {
	case TRACE_OP_LOCK:
	case TRACE_OP_RDLOCK:
		take(g, e->thread, e->address, e->op == TRACE_OP_RDLOCK);
		break;
	case TRACE_OP_UNLOCK:
		give(g, e->thread, e->address, false);
		break;
	/* A wait lets the mutex go, whichever way it ends. */
	case TRACE_OP_WAIT:
		give(g, e->thread, e->value, true);
		break;
	case TRACE_OP_WAKE:
		take(g, e->thread, e->value, false);
		break;
	case TRACE_OP_CREATE:
		come_or_go(g, 1);
		break;
	/* Joined, not ended: whoever is left knows of all that the other one did. */
	case TRACE_OP_JOIN:
	case TRACE_OP_CREATE_FAILED:
		come_or_go(g, -1);
		break;
	default:
		break;
	}
}

/* ---- locations ---- */

/* What the granule is now; 0: it was never accessed. */
static uint32_t life_of(struct guards *g, uint64_t granule)
{
	uint32_t now = map_get(&g->current, granule), next;

	if (!now && g->again)
		next = map_get(&g->first, granule);
	else if (now && !g->lives[now].ended)
		return now;
	else
		next = now ? g->lives[now].next : 0;
	if (!next && !g->again) {
		if (g->life_count == g->life_room) {
			g->life_room *= 2;
			g->lives = mem_resize(g->lives, g->life_room, sizeof(*g->lives));
		}
		next = g->life_count++;
		g->lives[next] = (struct life){0};
		if (now)
			g->lives[now].next = next;
		else
			map_set(&g->first, granule, next);
	}
	if (next)
		map_set(&g->current, granule, next);
	return next;
}

static bool counts(const struct thread *t, uint64_t lock, bool writes)
{
	const struct held *held = find_held(t, lock);

	return held && !(writes && held->shared);
}

static void see(struct guards *g, struct life *life, uint32_t number, bool writes)
{
	const struct thread *t = thread_of(g, number);
	uint8_t kept = 0;

	if (!life->first)
		life->first = number + 1;
	/* What one thread does before it shows it to others, or when there are no others, has no need of
	 * locks. */
	if (g->alive == 1 || (!life->shared && life->first == number + 1))
		return;
	if (!life->shared) {
		life->shared = true;
		for (uint32_t i = t->count; i-- && life->count < CANDIDATES;)
			if (counts(t, t->held[i].lock, writes))
				life->locks[life->count++] = t->held[i].lock;
		return;
	}
	for (uint8_t i = 0; i < life->count; i++)
		if (counts(t, life->locks[i], writes))
			life->locks[kept++] = life->locks[i];
	life->count = kept;
}

void guards_access(struct guards *g, uint32_t thread, uint64_t address, uint64_t length, bool writes)
{
	for (uint64_t granule = address >> 3; length && granule <= (address + length - 1) >> 3; granule++) {
		uint32_t life = life_of(g, granule);

		if (life && !g->again)
			see(g, &g->lives[life], thread, writes);
	}
}

void guards_forget(struct guards *g, uint64_t address, uint64_t length)
{
	for (uint64_t granule = address >> 3; length && granule <= (address + length - 1) >> 3; granule++) {
		uint32_t life = map_get(&g->current, granule);

		if (life)
			g->lives[life].ended = true;
	}
}

/* ---- asked ---- */

uint64_t guards_now(const struct guards *g)
{
	return g->now;
}

static bool is_guarded(const struct life *life, const struct thread *t, uint64_t since)
{
	if (!life->shared)
		return true;
	for (uint8_t i = 0; i < life->count; i++) {
		const struct held *held = t ? find_held(t, life->locks[i]) : NULL;

		if (held && held->since <= since)
			return true;
	}
	return false;
}

bool guards_cover(const struct guards *g, uint32_t thread, uint64_t since, uint64_t address, uint64_t length)
{
	const struct thread *t = thread < g->thread_count ? &g->threads[thread] : NULL;

	if (g->alive == 1 && g->alone_since <= since)
		return true;
	for (uint64_t granule = address >> 3; length && granule <= (address + length - 1) >> 3; granule++) {
		uint32_t life = map_get(&g->current, granule);

		if (!life || !is_guarded(&g->lives[life], t, since))
			return false;
	}
	return true;
}
