/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "learn/pairs.h"

#include "atomicity/atomicity.h"
#include "base/map.h"

#include <string.h>

/* Bytes; what is longer is a copy of much at once, and makes no pair. */
enum { LONG = 64 };

/* A thread's latest access to bytes of a granule of 8. Several of one thread never overlap. */
struct latest {
	uint32_t next; /* of the same granule; 0: none */
	uint32_t thread;
	uint32_t place, unit;
	uint32_t waits;           /* of the thread, before it */
	uint64_t since;           /* guards_now() at it */
	uint64_t call;            /* in which it was made; 0: outside any */
	uint64_t address, length; /* of the whole access */
	uint8_t bytes;            /* of the granule */
	uint8_t kind;
	uint8_t between; /* kinds of accesses that others made since to some of the bytes */
};

struct call {
	uint64_t id;
	uint32_t unit;
	bool transparent;
};

struct thread {
	struct call *calls;
	uint32_t depth, room;
	uint32_t waits;
};

struct pairs {
	const struct guards *guards;
	struct map granules; /* to the first latest */
	struct latest *latest;
	uint32_t count, room, unused;
	struct thread *threads;
	uint32_t thread_count;
	uint64_t calls;
	struct pairs_pair *pairs;
	uint32_t pair_count, pair_room;
	struct map keys; /* hash of a pair to its number + 1 */
};

struct pairs *pairs_new(const struct guards *guards)
{
	struct pairs *p = mem_zalloc(1, sizeof(*p));

	p->guards = guards;
	p->room = 1024;
	p->latest = mem_zalloc(p->room, sizeof(*p->latest));
	p->count = 1; /* 0 is none */
	return p;
}

void pairs_free(struct pairs *p)
{
	for (uint32_t i = 0; i < p->thread_count; i++)
		free(p->threads[i].calls);
	free(p->threads);
	free(p->latest);
	free(p->pairs);
	map_release(&p->granules);
	map_release(&p->keys);
	free(p);
}

/* ---- calls ---- */

static struct thread *thread_of(struct pairs *p, uint32_t number)
{
	if (number >= p->thread_count) {
		uint32_t count = p->thread_count ? p->thread_count : 16;

		while (count <= number)
			count *= 2;
		p->threads = mem_resize(p->threads, count, sizeof(*p->threads));
		memset(p->threads + p->thread_count, 0, (count - p->thread_count) * sizeof(*p->threads));
		p->thread_count = count;
	}
	return &p->threads[number];
}

void pairs_enter(struct pairs *p, uint32_t thread, uint32_t unit, bool transparent)
{
	struct thread *t = thread_of(p, thread);

	if (t->depth == t->room) {
		t->room = t->room ? t->room * 2 : 64;
		t->calls = mem_resize(t->calls, t->room, sizeof(*t->calls));
	}
	t->calls[t->depth++] = (struct call){++p->calls, unit, transparent};
}

void pairs_leave(struct pairs *p, uint32_t thread, uint32_t count)
{
	struct thread *t = thread_of(p, thread);

	t->depth -= count < t->depth ? count : t->depth;
}

void pairs_wait(struct pairs *p, uint32_t thread)
{
	thread_of(p, thread)->waits++;
}

static const struct call *current(const struct thread *t)
{
	for (uint32_t i = t->depth; i--;)
		if (!t->calls[i].transparent)
			return &t->calls[i];
	return NULL;
}

/* Numbers of calls grow from the outermost to the innermost. */
static bool is_open(const struct thread *t, uint64_t call)
{
	uint32_t low = 0, high = t->depth;

	if (!call)
		return true;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->calls[middle].id < call)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->depth && t->calls[low].id == call;
}

/* ---- pairs ---- */

static uint64_t mix(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 31;
}

static bool same_pair(const struct pairs_pair *a, const struct pairs_pair *b)
{
	return a->first == b->first && a->last == b->last && a->first_kind == b->first_kind &&
	       a->last_kind == b->last_kind && a->unit == b->unit;
}

static struct pairs_pair *pair_of(struct pairs *p, const struct pairs_pair *wanted)
{
	uint64_t key = mix(mix(mix(0, (uint64_t)wanted->first << 32 | wanted->last), wanted->unit),
			   (uint64_t)wanted->first_kind << 8 | wanted->last_kind);
	uint32_t number;

	for (; (number = map_get(&p->keys, key)); key++)
		if (same_pair(&p->pairs[number - 1], wanted))
			return &p->pairs[number - 1];
	if (p->pair_count == p->pair_room) {
		p->pair_room = p->pair_room ? p->pair_room * 2 : 64;
		p->pairs = mem_resize(p->pairs, p->pair_room, sizeof(*p->pairs));
	}
	p->pairs[p->pair_count] = *wanted;
	map_set(&p->keys, key, ++p->pair_count);
	return &p->pairs[p->pair_count - 1];
}

const struct pairs_pair *pairs_all(const struct pairs *p, uint32_t *count)
{
	*count = p->pair_count;
	return p->pairs;
}

static void see_pair(struct pairs *p, const struct latest *first, uint32_t place, unsigned kind)
{
	struct pairs_pair wanted = {.first = first->place,
				    .last = place,
				    .first_kind = first->kind,
				    .last_kind = (uint8_t)kind,
				    .unit = first->unit};
	struct pairs_pair *pair;

	pair = pair_of(p, &wanted);
	if (first->between & ~atomicity_serializable(first->kind, kind))
		pair->broken++;
	else
		pair->times++;
	pair->guarded += p->guards &&
			 guards_cover(p->guards, first->thread, first->since, first->address, first->length);
}

/* ---- accesses ---- */

static uint32_t take_latest(struct pairs *p)
{
	uint32_t number = p->unused;

	if (number) {
		p->unused = p->latest[number].next;
		return number;
	}
	if (p->count == p->room) {
		p->room *= 2;
		p->latest = mem_resize(p->latest, p->room, sizeof(*p->latest));
	}
	return p->count++;
}

static void give_back(struct pairs *p, uint32_t number)
{
	p->latest[number].next = p->unused;
	p->unused = number;
}

static uint8_t bytes_of(uint64_t granule, uint64_t address, uint64_t length)
{
	uint8_t bytes = 0;

	for (unsigned i = 0; i < 8; i++)
		if (granule * 8 + i - address < length)
			bytes |= (uint8_t)(1u << i);
	return bytes;
}

/* The thread's latest access to exactly these bytes, if nothing of its own touched one of them since; what
 * others did to any of them is put together. */
static bool find_own(const struct pairs *p, const struct latest *now, struct latest *found)
{
	uint8_t between = 0;

	for (uint64_t g = now->address >> 3; g <= (now->address + now->length - 1) >> 3; g++) {
		uint32_t i = map_get(&p->granules, g);

		while (i && (p->latest[i].thread != now->thread || !p->latest[i].place ||
			     p->latest[i].address != now->address || p->latest[i].length != now->length))
			i = p->latest[i].next;
		if (!i)
			return false;
		between |= p->latest[i].between;
		*found = p->latest[i];
	}
	found->between = between;
	return true;
}

static void access_granule(struct pairs *p, uint64_t granule, struct latest now)
{
	uint32_t head = map_get(&p->granules, granule), kept = 0, next, number;
	uint8_t bytes = bytes_of(granule, now.address, now.length);

	for (uint32_t i = head; i; i = next) {
		struct latest *l = &p->latest[i];

		next = l->next;
		if (l->bytes & bytes && l->thread == now.thread) {
			/* What is left of a wider one makes no pair any more. */
			l->bytes &= (uint8_t)~bytes;
			l->place = 0;
			if (!l->bytes) {
				give_back(p, i);
				continue;
			}
		} else if (l->bytes & bytes) {
			l->between |= now.kind;
		}
		l->next = kept;
		kept = i;
	}
	if (now.place) {
		number = take_latest(p);
		now.bytes = bytes;
		now.between = 0;
		now.next = kept;
		p->latest[number] = now;
		kept = number;
	}
	if (kept)
		map_set(&p->granules, granule, kept);
	else if (head)
		map_remove(&p->granules, granule);
}

void pairs_access(struct pairs *p, uint32_t thread, uint64_t address, uint64_t length, unsigned kinds,
		  uint32_t place)
{
	const struct thread *t = thread_of(p, thread);
	const struct call *call = current(t);
	struct latest now = {.thread = thread,
			     .place = length <= LONG ? place : 0,
			     .unit = call ? call->unit : 0,
			     .call = call ? call->id : 0,
			     .waits = t->waits,
			     .since = p->guards ? guards_now(p->guards) : 0,
			     .address = address,
			     .length = length};

	for (unsigned kind = ATOMICITY_READ; kind <= ATOMICITY_WRITE; kind++) {
		struct latest before = {0};

		if (!(kinds & kind) || !length)
			continue;
		now.kind = (uint8_t)kind;
		if (now.place && find_own(p, &now, &before) && before.waits == t->waits &&
		    is_open(t, before.call))
			see_pair(p, &before, now.place, kind);
		for (uint64_t g = address >> 3; g <= (address + length - 1) >> 3; g++)
			access_granule(p, g, now);
	}
}

void pairs_forget(struct pairs *p, uint64_t address, uint64_t length)
{
	for (uint64_t g = address >> 3; length && g <= (address + length - 1) >> 3; g++) {
		uint32_t next;

		for (uint32_t i = map_get(&p->granules, g); i; i = next) {
			next = p->latest[i].next;
			give_back(p, i);
		}
		map_remove(&p->granules, g);
	}
}
