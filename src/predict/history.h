/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What prediction keeps of a run: PENELOPE's execution (section 3), a word of
 * reads, writes and synchronisation in the order in which they were observed.
 * Variables, locks, units and threads are numbers; whoever fills a history
 * (load.c from a trace, the tests from random programs) knows their names.
 *
 * Events are named by their index. How far a thread has come is said by a limit:
 * it has executed those of its events whose index is below the limit. Several events may have the same
 * `time`: then they are parts of one event of the trace, between which no other thread can run.
 */
#ifndef ATOMSAN_PREDICT_HISTORY_H
#define ATOMSAN_PREDICT_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

enum history_kind {
	HISTORY_READ,
	HISTORY_WRITE,
	/* locks; a thread never takes one that it has */
	HISTORY_LOCK,
	HISTORY_RDLOCK,
	HISTORY_UNLOCK,
	/* threads; the object is the child */
	HISTORY_CREATE,
	HISTORY_JOIN,
	HISTORY_START, /* object: nothing */
	HISTORY_END,
	/* a wait is UNLOCK, WAIT, and later WAKE (or TIMEOUT, if no signal caused it), LOCK */
	HISTORY_WAIT,
	HISTORY_WAKE,
	HISTORY_TIMEOUT,
	HISTORY_SIGNAL,
	HISTORY_BROADCAST,
	HISTORY_BARRIER_ENTER,
	HISTORY_BARRIER_LEAVE,
	HISTORY_POST,
	HISTORY_SEM_WAIT,
	HISTORY_ONCE_END,
	HISTORY_ONCE_SEEN,
	/* memory; the object is a block, see variables */
	HISTORY_ALLOC,
	/* atomic and volatile data that belongs to no atomic set: written, read */
	HISTORY_RELEASE,
	HISTORY_ACQUIRE,
	/* atomic data, see atomics.h: stored with release, loaded with acquire to decide where to go on, and
	 * read and written in one: with acquire, with release alone, with neither */
	HISTORY_SET,
	HISTORY_TEST,
	HISTORY_EXCHANGE,
	HISTORY_SWAP,
	HISTORY_MARK,
	HISTORY_KINDS
};

#define HISTORY_NONE UINT32_MAX
#define HISTORY_MAX_THREADS (1u << 24)

struct history_event {
	uint32_t thread : 24;
	uint32_t kind : 7;   /* enum history_kind */
	uint32_t update : 1; /* WRITE: second half of a plain update (x += 1), which is not one step */
	uint32_t object;     /* variable, lock, thread, condition, ... */
	uint32_t site;       /* program place, 0: not known */
	uint32_t unit;       /* accesses: the block, see units; 0: none */
	uint32_t time;       /* number of the trace's event */
	uint32_t number;     /* events that the thread has done then, as schedules count them (count.h) */
	uint32_t value;      /* accesses: a hash of what it read or left there; 0: not known */
	uint32_t points; /* accesses: the block, plus one, that what was there points into; 0: none known */
};

/* A block that should be atomic. Numbers begin with 1. */
struct history_unit {
	uint32_t thread;
	uint32_t set;
	uint32_t context, rule, begin; /* for reports */
	uint32_t merged;               /* itself, or the unit that it became part of */
};

struct history_variable {
	uint32_t thread;  /* that came first */
	uint32_t parent;  /* variable that it was split off, HISTORY_NONE: none */
	uint32_t since;   /* index of the first event after the split */
	uint32_t child;   /* the latest variable split off this one, HISTORY_NONE: none */
	uint32_t sibling; /* the one split off the same parent before */
	uint32_t set;
	uint32_t block; /* that it lies in; HISTORY_NONE: not known, or none that was allocated */
	bool shared, written;
	bool kept; /* several threads access it, and one writes */
};

struct history {
	struct history_event *events;
	uint32_t count, room;
	struct history_unit *units; /* [0] is unused */
	uint32_t unit_count, unit_room;
	struct history_variable *variables;
	uint32_t variable_count, variable_room;
	uint32_t *sets; /* parent of each set in the forest of merged ones */
	uint32_t set_count, set_room;
	uint32_t *semaphores; /* initial values */
	uint32_t semaphore_count, semaphore_room;
	uint32_t *barriers; /* threads that each takes */
	uint32_t barrier_count, barrier_room;
	uint32_t block_count;
	uint32_t thread_count, lock_count, condition_count, once_count, atomic_count;
	uint64_t accesses, switches; /* before what nobody shares was dropped */
	uint32_t shared_variables;
	bool full; /* more events than can be numbered: the rest was left out */
};

void history_init(struct history *h);
void history_release(struct history *h);

uint32_t history_set(struct history *h);
void history_set_merge(struct history *h, uint32_t from, uint32_t to);
uint32_t history_set_root(const struct history *h, uint32_t set);
uint32_t history_unit(struct history *h, uint32_t thread, uint32_t set);
void history_unit_merge(struct history *h, uint32_t from, uint32_t to);
uint32_t history_variable(struct history *h);
/* A part of the variable goes its own way; what was is the past of both. */
uint32_t history_variable_split(struct history *h, uint32_t variable);
uint32_t history_semaphore(struct history *h, uint32_t value);
uint32_t history_barrier(struct history *h, uint32_t threads);

/* Variables that were split share a past: their oldest ancestor stands for all. */
static inline uint32_t history_variable_root(const struct history *h, uint32_t variable)
{
	while (h->variables[variable].parent != HISTORY_NONE)
		variable = h->variables[variable].parent;
	return variable;
}

/* Returns the event's index, HISTORY_NONE if the history is full. */
uint32_t history_add(struct history *h, struct history_event event);

/*
 * No more events: drops the accesses to variables that one thread alone used
 * or that nobody wrote, resolves merged units, and makes locks of semaphores
 * that are used as such. Indexes that were handed out before are void.
 */
void history_finish(struct history *h);

static inline bool history_is_access(const struct history_event *e)
{
	return e->kind <= HISTORY_WRITE;
}

#endif
