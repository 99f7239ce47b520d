/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What must come before what, locks aside. The paper's order comes from
 * creating and joining threads and from barriers; it is called `basic`. The
 * order called `whole` has every edge that can be proved from the rest of the
 * synchronisation:
 *
 *   semaphores  The n-th wait of a thread needs n posts (less the initial value
 *               and the thread's own earlier posts). As many of them must be
 *               p's as all the others together cannot make: so p's k-th post
 *               comes first. With one poster that is the whole truth.
 *   conditions  The n-th wake of a thread needs n signals or broadcasts of
 *               others, each after the wait that it ends; counted alike. (A
 *               wake without a signal is possible in theory; the run had none.)
 *   once        Who found the work done comes after who did it.
 *   memory      Who accesses a block that another thread allocated was told where
 *               it is (told.h).
 *   hand-over   Who found a pointer to a block comes after who put it there
 *               (handover.h).
 *   flags       Who went on because an atomic flag was set comes after who set it
 *               (atomics.h).
 *
 * Also kept: how many tokens of each semaphore a thread has taken, which rules
 * out points that more threads would have to be at than there are tokens.
 */
#ifndef ATOMSAN_PREDICT_ORDER_H
#define ATOMSAN_PREDICT_ORDER_H

#include "base/map.h"
#include "predict/history.h"
#include "predict/vclock.h"

/* Why something is impossible. The text ends the sentence "impossible because of ...". */
#define ORDER_REASONS(X)                                 \
	X(CREATE, "creation of threads")                 \
	X(JOIN, "joining of threads")                    \
	X(BARRIER, "barriers")                           \
	X(SEMAPHORE, "semaphores")                       \
	X(CONDITION, "conditions")                       \
	X(ONCE, "once-only initialisation")              \
	X(MEMORY, "memory that others did not know yet") \
	X(HANDOVER, "pointers that were not there yet")  \
	X(FLAG, "flags that were not set yet")           \
	X(TOKENS, "semaphores without tokens left")      \
	X(LOCKS, "locks together with the order")        \
	X(SCHEDULE, "threads that others wait for")

enum order_reason {
#define X(name, text) ORDER_##name,
	ORDER_REASONS(X)
#undef X
		ORDER_REASON_COUNT
};

struct order_edge {
	uint32_t from, from_event, to, to_event;
	uint32_t reason;
};

/* Waits and posts of one thread at one semaphore. */
struct order_tokens {
	uint32_t semaphore, thread;
	uint32_t *events;
	int32_t *balance; /* posts less waits, after the event */
	uint32_t count, room;
	int32_t most; /* the highest balance there is, 0 before the first event */
};

/* A thread used a block that it found by a pointer (handover.h). In an order in which it does so, its read
 * has found what was put there. In others the read may come first. */
struct order_found {
	uint32_t block;
	uint32_t thread, use, read; /* its events */
	uint32_t by, put;           /* the other thread, and its write */
};

struct order {
	const struct history *history;
	struct vclock basic, whole;
	bool same;                /* there is nothing but the basic edges: `whole` is not used */
	struct order_edge *edges; /* by to_event */
	uint32_t edge_count, edge_room;
	struct order_found *found; /* by thread, then by use */
	uint32_t found_count, found_room;
	struct order_tokens *tokens;
	uint32_t token_count, token_room;
	struct map token_index; /* semaphore and thread to index plus one */
	uint64_t *alone;        /* a bit for each event: see order_alone */
	uint64_t *ends;         /* a bit for each event: see order_ends_segment */
	uint32_t *posts;        /* thread by thread, ascending: events that posted a semaphore */
	uint32_t *first_post;   /* by thread: where its posts begin; one more at the end */
};

void order_build(struct order *o, const struct history *history);
void order_release(struct order *o);

static inline const struct vclock *order_whole(const struct order *o)
{
	return o->same ? &o->basic : &o->whole;
}

/* How far `other` must have come before `thread` comes to the limit. */
static inline uint32_t order_needs(const struct order *o, uint32_t thread, uint32_t limit, uint32_t other)
{
	return vclock_needs(order_whole(o), thread, limit, other);
}

/* No other thread is there yet, or still, when this event happens, in whatever order: before the first
 * creation, after the last join. */
static inline bool order_alone(const struct order *o, uint32_t event)
{
	return o->alone[event / 64] >> event % 64 & 1;
}

/* Segments of a thread end before and after an event that an edge leads to or from: two events of one
 * segment need the same, and are needed by the same. */
static inline bool order_ends_segment(const struct order *o, uint32_t event)
{
	return o->ends[event / 64] >> event % 64 & 1;
}

/* Index of what the thread found first, to use it at or after the event. */
uint32_t order_found_from(const struct order *o, uint32_t thread, uint32_t event);

/* The thread's first post of any semaphore at or after the limit; HISTORY_NONE: there is none. */
uint32_t order_next_post(const struct order *o, uint32_t thread, uint32_t limit);

/* Why `other` must have come to the limit `need` before `thread` comes to `limit`. */
enum order_reason order_explain(const struct order *o, uint32_t thread, uint32_t limit, uint32_t other,
				uint32_t need);

/* Could the threads be at these limits at once as far as semaphores go, whatever the others do? */
bool order_tokens_suffice(const struct order *o, const uint32_t *threads, const uint32_t *limits,
			  uint32_t count);

const char *order_reason_text(enum order_reason reason);

/* tokens.c, while the order is built: a post or a wait has come; all have. */
void order_add_token(struct order *o, const struct history_event *e, uint32_t event);
void order_index_posts(struct order *o);
/* found.c, the same: something was found; all has been. */
void order_add_found(struct order *o, struct order_found found);
void order_sort_found(struct order *o);

#endif
