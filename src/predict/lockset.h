/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Locksets and acquisition histories (PENELOPE, section 3.2) at every point of
 * every thread, and the critical sections themselves.
 *
 * A *context* is an interned pair of a lockset and an acquisition history. The
 * history of a held lock l is the set of locks that the thread gave up after it
 * took l for the last time. Under nested locking these are the locks that it
 * acquired since, less those that it still has, about which the lockset says
 * more; taken this way the definition is right for locks that are not nested as
 * well. A history keeps only what some other thread can be incompatible with: l'
 * stays out of the history of l unless another thread gave up l while it had l'.
 *
 * A *position* is a stretch of a thread between two lock operations. Which
 * points between e1 and e2 are worth a look? A thread that goes on without
 * giving up anything it has at p can only become less compatible. So the
 * candidates are e1, then the first point at which a lock held at e1 is gone,
 * then the first at which one held there is gone, and so on: the position's
 * `next`. Under nested locking there are no more of them than locks held at e1.
 */
#ifndef ATOMSAN_PREDICT_LOCKSET_H
#define ATOMSAN_PREDICT_LOCKSET_H

#include "base/map.h"
#include "predict/history.h"

struct lockset_position {
	uint32_t event;   /* the lock operation; the first position of a thread has HISTORY_NONE */
	uint32_t context; /* afterwards */
	uint32_t next;    /* position at which something held here was given up; 0: none */
	uint32_t free;    /* the last position up to this one with an empty lockset */
};

/* From taking a lock to giving it up, or for ever. */
struct lockset_section {
	uint32_t acquire, release; /* events; HISTORY_NONE: never released */
	bool write;
};

struct lockset_thread {
	uint32_t first, count; /* positions */
};

struct locksets {
	const struct history *history;
	struct lockset_thread *threads;
	struct lockset_position *positions; /* by thread, then in order */
	uint32_t *at;                       /* by event: its thread's position afterwards */
	uint32_t *words;                    /* contexts, see lockset.c */
	uint32_t word_count, word_room;
	uint32_t *contexts; /* where each begins; context 0 is the empty lockset */
	uint32_t context_count, context_room;
	struct map interned, compatible;
	struct map pairs;  /* lock held, lock given up meanwhile: the thread, or LOCKSET_MANY */
	struct map groups; /* thread and lock to group of sections */
	uint32_t *group_first, group_count;
	struct lockset_section *sections;
	uint64_t nested, crossed; /* releases of the lock taken last, and of others */
};

/* A lock in a context. */
struct lockset_lock {
	uint32_t lock;
	bool write;
};

void locksets_build(struct locksets *l, const struct history *history);
void locksets_release(struct locksets *l);

/* The position of the thread once it executed its events below the limit. */
uint32_t lockset_position(const struct locksets *l, uint32_t thread, uint32_t limit);
static inline uint32_t lockset_context(const struct locksets *l, uint32_t thread, uint32_t limit)
{
	return l->positions[lockset_position(l, thread, limit)].context;
}

/* The same once an access was executed, or right before it. */
static inline uint32_t lockset_at(const struct locksets *l, uint32_t access)
{
	return l->at[access];
}

/* Locks of a context; fills up to `room` and returns how many there are. */
uint32_t lockset_locks(const struct locksets *l, uint32_t context, struct lockset_lock *locks, uint32_t room);

bool lockset_has(const struct locksets *l, uint32_t context, uint32_t lock);

/* Can two threads be at points with these contexts at the same time, as far as locks go (section 3.2)? */
bool lockset_compatible(struct locksets *l, uint32_t a, uint32_t b);

/* The highest limit up to this one at which the thread has no lock. */
uint32_t lockset_free_before(const struct locksets *l, uint32_t thread, uint32_t limit);
/* The lowest limit from this one on at which the thread has no lock; HISTORY_NONE: there is none. */
uint32_t lockset_free_after(const struct locksets *l, uint32_t thread, uint32_t limit);

/* The thread's sections of a lock, in order. */
uint32_t lockset_sections(const struct locksets *l, uint32_t thread, uint32_t lock,
			  const struct lockset_section **sections);

#endif
