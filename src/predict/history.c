/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/history.h"

#include "base/err.h"
#include "base/map.h"
#include "predict/atomics.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more element; arrays double. */
#define GROW(array, count, room)                                                 \
	do {                                                                     \
		if ((count) == (room)) {                                         \
			(room) = (room) ? (room) * 2 : 64;                       \
			(array) = mem_resize((array), (room), sizeof(*(array))); \
		}                                                                \
	} while (0)

void history_init(struct history *h)
{
	*h = (struct history){0};
	GROW(h->units, h->unit_count, h->unit_room);
	h->units[h->unit_count++] = (struct history_unit){0};
}

void history_release(struct history *h)
{
	free(h->events);
	free(h->units);
	free(h->variables);
	free(h->sets);
	free(h->semaphores);
	free(h->barriers);
	*h = (struct history){0};
}

uint32_t history_set(struct history *h)
{
	GROW(h->sets, h->set_count, h->set_room);
	h->sets[h->set_count] = h->set_count;
	return h->set_count++;
}

uint32_t history_set_root(const struct history *h, uint32_t set)
{
	while (h->sets[set] != set)
		set = h->sets[set] = h->sets[h->sets[set]];
	return set;
}

void history_set_merge(struct history *h, uint32_t from, uint32_t to)
{
	h->sets[history_set_root(h, from)] = history_set_root(h, to);
}

uint32_t history_unit(struct history *h, uint32_t thread, uint32_t set)
{
	GROW(h->units, h->unit_count, h->unit_room);
	h->units[h->unit_count] =
		(struct history_unit){.thread = thread, .set = set, .merged = h->unit_count};
	return h->unit_count++;
}

static uint32_t unit_root(const struct history *h, uint32_t unit)
{
	while (h->units[unit].merged != unit)
		unit = h->units[unit].merged = h->units[h->units[unit].merged].merged;
	return unit;
}

void history_unit_merge(struct history *h, uint32_t from, uint32_t to)
{
	h->units[unit_root(h, from)].merged = unit_root(h, to);
}

uint32_t history_variable(struct history *h)
{
	GROW(h->variables, h->variable_count, h->variable_room);
	h->variables[h->variable_count] = (struct history_variable){.thread = HISTORY_NONE,
								    .parent = HISTORY_NONE,
								    .child = HISTORY_NONE,
								    .sibling = HISTORY_NONE,
								    .set = HISTORY_NONE,
								    .block = HISTORY_NONE};
	return h->variable_count++;
}

uint32_t history_variable_split(struct history *h, uint32_t variable)
{
	uint32_t new = history_variable(h);
	struct history_variable *v = &h->variables[new], *old = &h->variables[variable];

	v->thread = old->thread;
	v->shared = old->shared;
	v->written = old->written;
	v->set = old->set;
	v->block = old->block;
	v->parent = variable;
	v->since = h->count;
	v->sibling = old->child;
	old->child = new;
	return new;
}

uint32_t history_semaphore(struct history *h, uint32_t value)
{
	GROW(h->semaphores, h->semaphore_count, h->semaphore_room);
	h->semaphores[h->semaphore_count] = value;
	return h->semaphore_count++;
}

uint32_t history_barrier(struct history *h, uint32_t threads)
{
	GROW(h->barriers, h->barrier_count, h->barrier_room);
	h->barriers[h->barrier_count] = threads;
	return h->barrier_count++;
}

uint32_t history_add(struct history *h, struct history_event event)
{
	/* Indexes plus one are used as well. */
	if (h->count >= UINT32_MAX - 2) {
		h->full = true;
		return HISTORY_NONE;
	}
	GROW(h->events, h->count, h->room);
	if (h->count && h->events[h->count - 1].thread != event.thread)
		h->switches++;
	if (event.thread >= h->thread_count)
		h->thread_count = event.thread + 1;
	switch ((enum history_kind)event.kind) {
	case HISTORY_READ:
	case HISTORY_WRITE: {
		struct history_variable *v = &h->variables[event.object];

		h->accesses++;
		if (v->thread == HISTORY_NONE)
			v->thread = event.thread;
		else if (v->thread != event.thread)
			v->shared = true;
		v->written |= event.kind == HISTORY_WRITE;
		if (event.unit)
			v->set = h->units[event.unit].set;
		break;
	}
	case HISTORY_LOCK:
	case HISTORY_RDLOCK:
	case HISTORY_UNLOCK:
		if (event.object >= h->lock_count)
			h->lock_count = event.object + 1;
		break;
	case HISTORY_CREATE:
	case HISTORY_JOIN:
		if (event.object >= h->thread_count)
			h->thread_count = event.object + 1;
		break;
	case HISTORY_WAIT:
	case HISTORY_WAKE:
	case HISTORY_TIMEOUT:
	case HISTORY_SIGNAL:
	case HISTORY_BROADCAST:
		if (event.object >= h->condition_count)
			h->condition_count = event.object + 1;
		break;
	case HISTORY_ALLOC:
		if (event.object >= h->block_count)
			h->block_count = event.object + 1;
		break;
	case HISTORY_RELEASE:
	case HISTORY_ACQUIRE:
	case HISTORY_SET:
	case HISTORY_TEST:
	case HISTORY_EXCHANGE:
	case HISTORY_SWAP:
	case HISTORY_MARK:
		if (event.object >= h->atomic_count)
			h->atomic_count = event.object + 1;
		break;
	case HISTORY_ONCE_END:
	case HISTORY_ONCE_SEEN:
		if (event.object >= h->once_count)
			h->once_count = event.object + 1;
		break;
	default:
		break;
	}
	h->events[h->count] = event;
	return h->count++;
}

/* An access to a variable is an access to what was split off it later. */
static bool keep(struct history *h, uint32_t variable)
{
	struct history_variable *v = &h->variables[variable];
	bool any = v->kept = v->shared && v->written;

	for (uint32_t c = v->child; c != HISTORY_NONE; c = h->variables[c].sibling)
		any |= keep(h, c);
	return any;
}

/*
 * A semaphore that begins with 1 and that only those post who have waited for
 * it is a mutex, and reasoning about locks is sharper than counting tokens.
 */
static void semaphores_as_locks(struct history *h)
{
	bool *signal;
	struct map holders = {0}; /* semaphore to the thread that has it, plus one */

	if (!h->semaphore_count)
		return;
	signal = mem_zalloc(h->semaphore_count, sizeof(*signal));
	for (uint32_t s = 0; s < h->semaphore_count; s++)
		signal[s] = h->semaphores[s] != 1;
	for (uint32_t i = 0; i < h->count; i++) {
		const struct history_event *e = &h->events[i];

		if (e->kind == HISTORY_SEM_WAIT) {
			signal[e->object] |= map_get(&holders, e->object) != 0;
			map_set(&holders, e->object, e->thread + 1);
		} else if (e->kind == HISTORY_POST) {
			signal[e->object] |= map_get(&holders, e->object) != e->thread + 1;
			map_remove(&holders, e->object);
		}
	}
	for (uint32_t i = 0; i < h->count; i++) {
		struct history_event *e = &h->events[i];

		if ((e->kind != HISTORY_SEM_WAIT && e->kind != HISTORY_POST) || signal[e->object])
			continue;
		e->kind = e->kind == HISTORY_SEM_WAIT ? HISTORY_LOCK : HISTORY_UNLOCK;
		e->object += h->lock_count;
	}
	h->lock_count += h->semaphore_count;
	map_release(&holders);
	free(signal);
}

void history_finish(struct history *h)
{
	uint8_t *kept = mem_zalloc(h->variable_count + 1ull, 1),
		*blocks = mem_zalloc(h->block_count + 1ull, 1);
	uint32_t to = 0, split = 0;

	for (uint32_t v = 0; v < h->variable_count; v++) {
		kept[v] = keep(h, v);
		h->shared_variables += h->variables[v].kept;
		if (kept[v] && h->variables[v].block != HISTORY_NONE)
			blocks[h->variables[v].block] = 1;
		if (h->variables[v].set != HISTORY_NONE)
			h->variables[v].set = history_set_root(h, h->variables[v].set);
	}
	/* Variables were made in the order of time, so `since` never falls. */
	for (uint32_t i = 0; i <= h->count; i++) {
		for (; split < h->variable_count; split++) {
			struct history_variable *v = &h->variables[split];

			if (v->parent != HISTORY_NONE && v->since > i)
				break;
			if (v->parent != HISTORY_NONE)
				v->since = to;
		}
		if (i == h->count)
			break;
		struct history_event e = h->events[i];

		if (history_is_access(&e)) {
			if (!kept[e.object])
				continue;
			if (e.unit)
				e.unit = unit_root(h, e.unit);
		}
		if (e.kind == HISTORY_ALLOC && !blocks[e.object])
			continue;
		h->events[to++] = e;
	}
	h->count = to;
	free(kept);
	free(blocks);
	for (uint32_t u = 1; u < h->unit_count; u++)
		h->units[u].set = history_set_root(h, h->units[u].set);
	semaphores_as_locks(h);
	atomics_as_locks(h);
}
