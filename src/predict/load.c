/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/load.h"

#include "base/map.h"
#include "predict/blocks.h"
#include "predict/count.h"

#include <stdlib.h>
#include <string.h>

#define RANGE_LIMIT 16384       /* bytes of one access that are looked at */
#define NOT_ATOMIC (1ull << 63) /* with an address: volatile data and the like */

struct load {
	struct trace *trace;
	struct model *model;
	struct count *count;
	struct history *h;
	struct history own; /* while names are looked for: numbers only, no events */
	const struct trace_event *event;
	struct map locks, semaphores, conditions, barriers, onces; /* address to number, plus one */
	uint32_t lock_count, condition_count, once_count;
	struct map written;      /* variable to its last write, plus one, where values are recorded */
	struct map atomics;      /* address to number, plus one */
	uint32_t *atomic_blocks; /* by number: the block that it lies in */
	uint32_t atomic_count, atomic_room;
	struct blocks blocks;
	bool told;     /* the model handed on an access of the current event */
	uint64_t time; /* of the current event */
	uint64_t number;
	/* Names. */
	const uint32_t *wanted;
	uint32_t wanted_count, next;
	void (*seen)(void *user, const struct load_access *access);
	void *user;
};

static bool is_wanted(const struct load *l)
{
	return l->next < l->wanted_count && l->wanted[l->next] == l->time;
}

static uint32_t add(struct load *l, enum history_kind kind, uint32_t object, uint32_t unit, uint32_t site,
		    bool update)
{
	if (l->seen)
		return HISTORY_NONE;
	return history_add(l->h, (struct history_event){.thread = l->event->thread,
							.kind = kind,
							.update = update,
							.object = object,
							.site = site,
							.unit = unit,
							.time = (uint32_t)l->time,
							.number = (uint32_t)l->number});
}

static uint32_t set_new(void *user)
{
	return history_set(((struct load *)user)->h);
}

static void set_merge(void *user, uint32_t from, uint32_t to)
{
	history_set_merge(((struct load *)user)->h, from, to);
}

static void set_free(void *user, uint32_t set)
{
}

static uint32_t unit_begin(void *user, const struct model_unit *unit)
{
	struct load *l = user;
	uint32_t number = history_unit(l->h, unit->thread, unit->set);

	l->h->units[number].context = unit->context;
	l->h->units[number].rule = unit->rule;
	l->h->units[number].begin = (uint32_t)unit->begin;
	return number;
}

static void unit_end(void *user, uint32_t unit)
{
}

static void unit_merge(void *user, uint32_t from, uint32_t to)
{
	history_unit_merge(((struct load *)user)->h, from, to);
}

static uint32_t location_new(void *user)
{
	return history_variable(((struct load *)user)->h);
}

static uint32_t location_split(void *user, uint32_t location)
{
	return history_variable_split(((struct load *)user)->h, location);
}

static void location_free(void *user, uint32_t location)
{
}

static void show(struct load *l, uint32_t unit, const struct model_unit *alone, uint32_t location,
		 const struct model_access *access, bool write)
{
	const struct history_unit *u = &l->h->units[unit];

	if (is_wanted(l))
		l->seen(l->user, &(struct load_access){.model = l->model,
						       .access = access,
						       .unit = unit,
						       .set = alone ? alone->set : u->set,
						       .context = alone ? alone->context : u->context,
						       .rule = alone ? alone->rule : u->rule,
						       .begin = alone ? 0 : u->begin,
						       .variable = location,
						       .write = write});
}

/* What an access found is what the last write left. */
static void note_value(struct load *l, uint32_t location, uint32_t event, bool write)
{
	int64_t found;
	uint32_t hash, last;

	if (event == HISTORY_NONE || l->event->kind != TRACE_ACCESS || !trace_event_found(l->event, &found))
		return;
	if (l->event->value == sizeof(void *))
		l->h->events[event].points = blocks_find(&l->blocks, (uint64_t)found) + 1;
	hash = (uint32_t)map_hash((uint64_t)found) | 1;
	last = map_get(&l->written, location);
	if (last)
		l->h->events[last - 1].value = hash;
	if (!write)
		l->h->events[event].value = hash;
	else
		map_set(&l->written, location, event + 1);
	if (last && !write)
		map_remove(&l->written, location);
}

static void access_location(struct load *l, uint32_t unit, const struct model_unit *alone, uint32_t location,
			    const struct model_access *access, bool write)
{
	/* An update is two events to a schedule: when it has only read, it has done one less. */
	bool update = access->op == MODEL_UPDATE && l->event->kind == TRACE_ACCESS;

	l->told = true;
	if (l->seen) {
		show(l, unit, alone, location, access, write);
		return;
	}
	struct history_variable *v = &l->h->variables[location];

	if (v->thread == HISTORY_NONE && v->block == HISTORY_NONE)
		v->block = blocks_find(&l->blocks, access->address);
	l->number -= update && !write;
	note_value(
		l, location,
		add(l, write ? HISTORY_WRITE : HISTORY_READ, location, unit, access->site, update && write),
		write);
	l->number += update && !write;
}

static void read_location(void *user, uint32_t unit, uint32_t location, const struct model_access *access)
{
	access_location(user, unit, NULL, location, access, false);
}

static void write_location(void *user, uint32_t unit, uint32_t location, const struct model_access *access)
{
	access_location(user, unit, NULL, location, access, true);
}

static void unary_read(void *user, const struct model_unit *unit, uint32_t location,
		       const struct model_access *access)
{
	access_location(user, 0, unit, location, access, false);
}

static void unary_write(void *user, const struct model_unit *unit, uint32_t location,
			const struct model_access *access)
{
	access_location(user, 0, unit, location, access, true);
}

/* The number of a lock, condition or once control. */
static uint32_t object(struct map *map, uint32_t *count, uint64_t address)
{
	uint32_t number = map_get(map, address);

	if (!number) {
		number = ++*count;
		map_set(map, address, number);
	}
	return number - 1;
}

static uint32_t semaphore(struct load *l, uint64_t address, bool fresh, uint64_t value)
{
	uint32_t number = map_get(&l->semaphores, address);

	if (!number || fresh) {
		number = history_semaphore(l->h, value > UINT32_MAX ? UINT32_MAX : (uint32_t)value) + 1;
		map_set(&l->semaphores, address, number);
	}
	return number - 1;
}

static uint32_t barrier(struct load *l, uint64_t address, bool fresh, uint64_t threads)
{
	uint32_t number = map_get(&l->barriers, address);

	if (!number || fresh) {
		number = history_barrier(l->h, threads > UINT32_MAX ? 0 : (uint32_t)threads) + 1;
		map_set(&l->barriers, address, number);
	}
	return number - 1;
}

static void lock(struct load *l, enum history_kind kind, uint64_t address)
{
	add(l, kind, object(&l->locks, &l->lock_count, address), 0, l->event->site, false);
}

/* What lies in memory that was given back and allocated again is something else. */
static uint32_t atomic_object(struct load *l, uint64_t address)
{
	uint32_t number = map_get(&l->atomics, address), block = blocks_find(&l->blocks, address);

	if (number && l->atomic_blocks[number - 1] == block)
		return number - 1;
	if (l->atomic_count == l->atomic_room) {
		l->atomic_room = l->atomic_room ? l->atomic_room * 2 : 64;
		l->atomic_blocks = mem_resize(l->atomic_blocks, l->atomic_room, sizeof(*l->atomic_blocks));
	}
	l->atomic_blocks[l->atomic_count] = block;
	map_set(&l->atomics, address, ++l->atomic_count);
	return l->atomic_count - 1;
}

/* Atomic data that is written as plain data is made there, in place of what was there before. */
static void make_anew(struct load *l, const struct trace_event *e)
{
	if (e->kind == TRACE_ACCESS && (e->access == ATOMSAN_WRITE || e->access == ATOMSAN_UPDATE) &&
	    l->atomics.count)
		map_remove(&l->atomics, e->address);
}

/* What belongs to no atomic set may still be how threads talk to each other. */
static void atomic(struct load *l, uint64_t address, enum history_kind kind)
{
	add(l, kind, atomic_object(l, address), 0, l->event->site, false);
}

static bool guards(const struct load *l, uint64_t site)
{
	struct trace_site found;
	struct err ignored;

	return site && !trace_site(l->trace, site, &found, &ignored) && found.flags & ATOMSAN_SITE_GUARDS;
}

static bool releases(const struct trace_event *e)
{
	return e->flags == ATOMSAN_RELEASE || e->flags == ATOMSAN_ACQ_REL || e->flags == ATOMSAN_SEQ_CST;
}

static enum history_kind atomic_kind(const struct load *l, const struct trace_event *e)
{
	bool acquires =
		e->flags == ATOMSAN_ACQUIRE || e->flags == ATOMSAN_ACQ_REL || e->flags == ATOMSAN_SEQ_CST;

	switch (e->op) {
	case TRACE_OP_ATOMIC_LOAD:
		return acquires && guards(l, e->site) ? HISTORY_TEST : HISTORY_ACQUIRE;
	case TRACE_OP_ATOMIC_STORE:
		return releases(e) ? HISTORY_SET : HISTORY_RELEASE;
	case TRACE_OP_ATOMIC_RMW:
		return acquires ? HISTORY_EXCHANGE : releases(e) ? HISTORY_SWAP : HISTORY_MARK;
	default:
		return HISTORY_ACQUIRE;
	}
}

static void thread_event(struct load *l, enum history_kind kind)
{
	int64_t child = trace_thread_index(l->trace, (uint32_t)l->event->value);

	if (child >= 0)
		add(l, kind, (uint32_t)child, 0, l->event->site, false);
}

static void operation(void *user, const struct trace_event *e, uint64_t time)
{
	struct load *l = user;
	uint64_t at = e->address;

	if (l->seen)
		return;
	switch (e->op) {
	case TRACE_OP_START:
		add(l, HISTORY_START, e->thread, 0, e->site, false);
		break;
	case TRACE_OP_END:
		add(l, HISTORY_END, e->thread, 0, e->site, false);
		break;
	case TRACE_OP_CREATE:
		thread_event(l, HISTORY_CREATE);
		break;
	case TRACE_OP_JOIN:
		thread_event(l, HISTORY_JOIN);
		break;
	case TRACE_OP_LOCK:
	case TRACE_OP_RDLOCK:
		if (!(e->flags & TRACE_LOCK_RECURSIVE))
			lock(l, e->op == TRACE_OP_LOCK ? HISTORY_LOCK : HISTORY_RDLOCK, at);
		break;
	case TRACE_OP_UNLOCK:
		if (!(e->flags & TRACE_LOCK_RECURSIVE))
			lock(l, HISTORY_UNLOCK, at);
		break;
	case TRACE_OP_LOCK_INIT:
	case TRACE_OP_LOCK_DESTROY:
		map_remove(&l->locks, at); /* the next one here is another lock */
		break;
	case TRACE_OP_WAIT:
		lock(l, HISTORY_UNLOCK, e->value);
		add(l, HISTORY_WAIT, object(&l->conditions, &l->condition_count, at), 0, e->site, false);
		break;
	case TRACE_OP_WAKE:
		/* Nobody was needed to end a wait that timed out. */
		add(l, e->other ? HISTORY_TIMEOUT : HISTORY_WAKE,
		    object(&l->conditions, &l->condition_count, at), 0, e->site, false);
		lock(l, HISTORY_LOCK, e->value);
		break;
	case TRACE_OP_SIGNAL:
	case TRACE_OP_BROADCAST:
		add(l, e->op == TRACE_OP_SIGNAL ? HISTORY_SIGNAL : HISTORY_BROADCAST,
		    object(&l->conditions, &l->condition_count, at), 0, e->site, false);
		break;
	case TRACE_OP_BARRIER_INIT:
		barrier(l, at, true, e->value);
		break;
	case TRACE_OP_BARRIER_ENTER:
	case TRACE_OP_BARRIER_LEAVE:
		add(l, e->op == TRACE_OP_BARRIER_ENTER ? HISTORY_BARRIER_ENTER : HISTORY_BARRIER_LEAVE,
		    barrier(l, at, false, 0), 0, e->site, false);
		break;
	case TRACE_OP_SEM_INIT:
		semaphore(l, at, true, e->value);
		break;
	case TRACE_OP_SEM_POST:
		add(l, HISTORY_POST, semaphore(l, at, false, 0), 0, e->site, false);
		break;
	case TRACE_OP_SEM_WAIT:
		/* Nobody saw it made: what it had at first is not known, and nobody waits in vain. */
		add(l, HISTORY_SEM_WAIT, semaphore(l, at, false, UINT32_MAX / 4), 0, e->site, false);
		break;
	case TRACE_OP_ALLOC:
		add(l, HISTORY_ALLOC, blocks_add(&l->blocks, at, e->value), 0, e->site, false);
		break;
	case TRACE_OP_FREE:
		blocks_remove(&l->blocks, at);
		break;
	case TRACE_OP_ATOMIC_LOAD:
	case TRACE_OP_ATOMIC_FAILED:
	case TRACE_OP_ATOMIC_STORE:
	case TRACE_OP_ATOMIC_RMW:
		atomic(l, at, atomic_kind(l, e));
		break;
	case TRACE_OP_ONCE_END:
	case TRACE_OP_ONCE_SEEN:
		add(l, e->op == TRACE_OP_ONCE_END ? HISTORY_ONCE_END : HISTORY_ONCE_SEEN,
		    object(&l->onces, &l->once_count, at), 0, e->site, false);
		break;
	default:
		break;
	}
}

static void load_init(struct load *l, struct trace *trace, const struct model_options *options)
{
	struct model_sink sink = {.user = l,
				  .set_new = set_new,
				  .set_merge = set_merge,
				  .set_free = set_free,
				  .unit_begin = unit_begin,
				  .unit_end = unit_end,
				  .unit_merge = unit_merge,
				  .location_new = location_new,
				  .location_split = location_split,
				  .location_free = location_free,
				  .read = read_location,
				  .write = write_location,
				  .unary_read = unary_read,
				  .unary_write = unary_write,
				  .op = operation};

	l->trace = trace;
	l->model = model_new(trace, options, &sink);
}

static void load_release(struct load *l)
{
	model_free(l->model);
	count_free(l->count);
	map_release(&l->locks);
	map_release(&l->written);
	map_release(&l->semaphores);
	map_release(&l->conditions);
	map_release(&l->barriers);
	map_release(&l->onces);
	map_release(&l->atomics);
	free(l->atomic_blocks);
	blocks_release(&l->blocks);
	history_release(&l->own);
}

/*
 * What is read or written in one stroke is one place in the program: the first
 * variables of a long range stand for all, lest a memset of a gigabyte become a
 * hundred million variables.
 */
static bool cut(struct trace_event *event)
{
	if (event->kind != TRACE_ACCESS || event->access == ATOMSAN_OBJECT || event->value <= RANGE_LIMIT)
		return false;
	event->value = RANGE_LIMIT;
	return true;
}

int load_history(struct trace *trace, const struct model_options *options, struct history *history,
		 struct load_stats *stats, struct err *err)
{
	struct load l = {.h = history};
	struct trace_cursor *cursor = trace_cursor_open(trace);
	struct trace_event event;
	int more;

	*stats = (struct load_stats){0};
	history_init(history);
	load_init(&l, trace, options);
	l.count = count_new(trace);
	l.event = &event;
	while ((more = trace_next(cursor, &event)) > 0) {
		l.time++;
		l.number = count_event(l.count, &event);
		l.told = false;
		stats->cut += cut(&event);
		make_anew(&l, &event);
		model_event(l.model, &event);
		if (event.kind == TRACE_ACCESS && event.access != ATOMSAN_OBJECT && !l.told)
			atomic(&l, event.address | NOT_ATOMIC,
			       event.access == ATOMSAN_WRITE || event.access == ATOMSAN_UPDATE
				       ? HISTORY_RELEASE
				       : HISTORY_ACQUIRE);
		if (l.time == UINT32_MAX || history->full) {
			more = err_set(err, "%s: there are more events than prediction can number",
				       trace->path);
			break;
		}
	}
	if (more < 0 && trace_cursor_error(cursor)->text[0])
		*err = *trace_cursor_error(cursor);
	model_finish(l.model);
	model_stats(l.model, &stats->model);
	stats->events = l.time;
	stats->threads = trace->thread_count;
	trace_cursor_close(cursor);
	load_release(&l);
	history_finish(history);
	return more < 0 ? -1 : 0;
}

int load_names(struct trace *trace, const struct model_options *options, const uint32_t *wanted,
	       uint32_t count, void (*seen)(void *user, const struct load_access *access),
	       void (*ended)(void *user, struct model *model), void *user, struct err *err)
{
	struct load l = {.wanted = wanted, .wanted_count = count, .seen = seen, .user = user};
	struct trace_cursor *cursor = trace_cursor_open(trace);
	struct trace_event event;
	int more = 0;

	l.h = &l.own;
	history_init(l.h);
	load_init(&l, trace, options);
	l.event = &event;
	while ((ended || l.next < l.wanted_count) && (more = trace_next(cursor, &event)) > 0) {
		l.time++;
		cut(&event);
		model_event(l.model, &event);
		if (is_wanted(&l))
			l.next++;
	}
	if (more < 0)
		*err = *trace_cursor_error(cursor);
	if (ended) {
		model_finish(l.model);
		ended(user, l.model);
	}
	trace_cursor_close(cursor);
	load_release(&l);
	/* Damage behind all that was wanted does no harm. */
	return more < 0 && l.next < l.wanted_count ? -1 : 0;
}
