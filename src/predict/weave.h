/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Can some threads come to given points at the same time, and in which order
 * must they run to get there? All of them start at points where they have no
 * lock. The unknowns are the times of events; the constraints are differences,
 * t(a) < t(b), from four sources:
 *
 *   - what a pattern asks for, for example e1 before f;
 *   - the order that synchronisation imposes (order.h);
 *   - a lock that a thread still has at its point was taken after every other
 *     thread gave it up: the causal edges of PENELOPE, section 4.2.1;
 *   - two critical sections of one lock exclude each other. That is a choice,
 *     (rel1 < acq2) or (rel2 < acq1); it is made once the other constraints
 *     entail acq1 < rel2.
 *
 * The last two are applied until nothing new follows or a cycle appears. For
 * two threads this decides the question, nested locks or not: if there is no
 * cycle, letting one thread run and the other follow only as far as it is
 * needed gives an execution, because a pair of sections could only overlap where
 * one of the threads waits for the other inside of one, and there the rule has
 * been applied. For more threads the answer "no" is still certain, and "yes" is
 * checked by whoever uses it (synth.c).
 */
#ifndef ATOMSAN_PREDICT_WEAVE_H
#define ATOMSAN_PREDICT_WEAVE_H

#include "predict/lockset.h"
#include "predict/order.h"

#define WEAVE_MAX_THREADS 6

/* Event `before` of thread a comes before event `after` of thread b; threads by their index here. */
struct weave_edge {
	uint32_t a, before, b, after;
};

/* The goal. */
struct weave_goal {
	uint32_t count;
	uint32_t threads[WEAVE_MAX_THREADS];
	uint32_t anchors[WEAVE_MAX_THREADS]; /* events from this limit on must not run ahead of the rest */
	uint32_t targets[WEAVE_MAX_THREADS]; /* limits to come to */
	uint32_t intends[WEAVE_MAX_THREADS]; /* the access that the thread is to do from there on; 0: none */
	struct weave_edge edges[WEAVE_MAX_THREADS];
	uint32_t edge_count;
};

/* Constraints from one thread to another, no one of which follows from another: both columns ascend. */
struct weave_steps {
	struct {
		uint32_t before, after;
	} *steps;
	uint32_t count, room;
};

struct weave {
	const struct weave_goal *goal;
	struct locksets *locks;
	const struct order *order;
	uint32_t free[WEAVE_MAX_THREADS]; /* the last points without locks before the anchors */
	uint32_t start;                   /* the lowest of them: so far the run is taken as it was */
	uint32_t from[WEAVE_MAX_THREADS]; /* where each thread is then: without locks, at or before start */
	struct weave_steps steps[WEAVE_MAX_THREADS][WEAVE_MAX_THREADS];
	struct weave_edge *queue;
	uint32_t queued, queue_room;
	bool failed;
	enum order_reason reason; /* if failed */
};

/* False if it is impossible. In both cases the weave must be released. */
bool weave_solve(struct weave *w, const struct weave_goal *goal, struct locksets *locks,
		 const struct order *order);
void weave_release(struct weave *w);

/* Lets a thread run to a limit and the others as far as that needs; calls `run` for each stretch. */
void weave_run(const struct weave *w, uint32_t *at, uint32_t thread, uint32_t limit,
	       void (*run)(void *user, uint32_t thread, uint32_t from, uint32_t to), void *user);

/* May the thread go on when at[t] is the next event of each? */
bool weave_may(const struct weave *w, const uint32_t *at, uint32_t thread);

#endif
