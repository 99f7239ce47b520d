/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * From a prediction to a schedule (PENELOPE, section 4.2). It has three regions:
 *
 *   I    the run as observed, up to the last point before the pattern at which
 *        each thread has no lock;
 *   II   the threads of the pattern on to their own last points without locks;
 *   III  these threads to the pattern, in the order that weave.h finds.
 *
 * Then all threads run free. Threads that the pattern's threads must wait for on
 * the way (joined, posting, signalling) run in between as far as needed.
 *
 * Region I is not taken over letter by letter: of all orders in which every two
 * conflicting accesses and every two operations on one object stand as observed,
 * it is one with few context switches. That includes the paper's heuristics
 * (section 4.2.3): unshared accesses and blocks of reads move freely.
 */
#ifndef ATOMSAN_PREDICT_SYNTH_H
#define ATOMSAN_PREDICT_SYNTH_H

#include "predict/machine.h"
#include "predict/predict.h"
#include "predict/stray.h"

/* The thread runs until it has executed its events below the limit. */
struct synth_step {
	uint32_t thread, limit;
};

struct synth_schedule {
	struct synth_step *steps;
	uint32_t count, room;
	uint32_t observed; /* steps of region I */
	uint64_t events;
	uint32_t strayed; /* see stray.h */
};

struct synth {
	const struct predict *predict;
	struct locksets *locks;
	struct machine_index index;
	struct stray stray;
	struct synth_schedule whole; /* the observed run with few context switches */
	struct machine machine;      /* of the schedule that is being made */
	struct synth_schedule *out;
	uint32_t *limits;     /* by thread: end of region I */
	bool *needed;         /* by thread: somebody needs it to come so far */
	uint32_t search_left; /* moves of search.h */
	bool stuck;
};

void synth_init(struct synth *s, struct predict *predict);
void synth_release(struct synth *s);

/* False if no schedule was found: a thread that must run has to wait for one that must not. The goal becomes
 * what the schedule reaches, which may be a later point between e1 and e2. */
bool synth_build(struct synth *s, struct prediction *prediction, struct synth_schedule *schedule);
void synth_schedule_release(struct synth_schedule *schedule);

/* reduce.c: the observed run with few context switches. */
void synth_reduce(const struct history *history, const struct machine_index *index,
		  struct synth_schedule *schedule);
void synth_add_step(struct synth_schedule *schedule, uint32_t thread, uint32_t limit);

#endif
