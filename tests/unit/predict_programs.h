/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Small random programs for the tests of prediction, one execution of each as a
 * history, and the set of all states that any execution can reach, by brute
 * force. Nothing here is shared with what is tested but struct history.
 */
#ifndef ATOMSAN_TESTS_PREDICT_PROGRAMS_H
#define ATOMSAN_TESTS_PREDICT_PROGRAMS_H

#include "predict/history.h"

enum { MAX_THREADS = 4, MAX_STEPS = 24, MAX_STATES = 1 << 20 };

struct shape {
	uint32_t threads, steps; /* at most; without START and END */
	uint32_t locks, variables, semaphores;
	bool crossed;     /* locks need not be nested */
	bool rwlocks;     /* some are taken for reading */
	bool main_thread; /* thread 0 creates and joins the others */
	bool ring;        /* thread t has one unit, with one access of variable t and one of variable t + 1 */
	bool barrier;     /* all threads of the program meet once */
};

struct step {
	uint8_t kind; /* enum history_kind */
	uint32_t object, unit;
	uint32_t event; /* in the finished history; HISTORY_NONE: dropped */
};

struct program {
	uint64_t random;
	uint32_t threads;
	uint32_t count[MAX_THREADS];
	struct step steps[MAX_THREADS][MAX_STEPS];
	uint32_t locks, variables, semaphores;
	uint32_t initial[4];
	uint32_t stride[MAX_THREADS]; /* state number = sum of stride * steps executed */
	uint32_t states;
	uint8_t *reachable; /* by state number */
	struct history history;
};

/* False if there is no complete execution, or too many states; then try another seed. */
bool program_make(struct program *p, const struct shape *shape, uint64_t seed);
void program_release(struct program *p);

/* Is there an execution in which each thread has executed so many steps? */
static inline bool program_reaches(const struct program *p, const uint32_t *done)
{
	uint32_t state = 0;

	for (uint32_t t = 0; t < p->threads; t++)
		state += p->stride[t] * done[t];
	return p->reachable[state];
}

/* Which step of its thread an event is. */
uint32_t program_step_of(const struct program *p, uint32_t thread, uint32_t event);

/* A state, to be changed step by step; false: the thread cannot go on. */
bool program_step(const struct program *p, uint32_t *done, uint32_t thread);

#endif
