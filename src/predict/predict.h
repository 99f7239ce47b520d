/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * PENELOPE's phase II: from one observed run to the schedules that would break
 * the atomicity of its units. A prediction is a pattern of accesses in an order
 * that the run may or may not have had, which locks and synchronisation allow;
 * what they are proved not to allow is counted and dropped.
 *
 *   one variable    RWR, RWW, WWR, WWW, WRW: e1 f e2 (section 3.1)
 *   two variables   of one atomic set: two units whose conflicts on x and on y
 *                   point in opposite directions (Vaziri, Tip, Dolby)
 *   cycles          three units or more, each of which conflicts with the next
 *
 * There is one prediction for each pair of threads, variable, program places,
 * lock contexts and pattern.
 */
#ifndef ATOMSAN_PREDICT_PREDICT_H
#define ATOMSAN_PREDICT_PREDICT_H

#include "predict/contend.h"
#include "predict/guard.h"
#include "predict/weave.h"

enum predict_kind {
	PREDICT_SINGLE,  /* e1 f e2 */
	PREDICT_NESTED,  /* a(x) c(x) d(y) b(y): one unit runs inside the other */
	PREDICT_CROSSED, /* a(x) d(y) then c(x) and b(y): each is inside the other */
	PREDICT_CYCLE,
	PREDICT_KINDS
};

#define PREDICT_MAX_ACCESSES (2 * WEAVE_MAX_THREADS)

struct prediction {
	enum predict_kind kind;
	uint32_t access_count;
	uint32_t accesses[PREDICT_MAX_ACCESSES];  /* events, in the order of the interleaving */
	uint32_t variables[PREDICT_MAX_ACCESSES]; /* of each; an event may be one of several */
	struct weave_goal goal;
	uint64_t places; /* the same for predictions at the same program places */
	bool seen;       /* the observed run has the pattern already */
	bool late;       /* another witness of the prediction before it: the last instead of the first */
	bool inside;     /* e1 and e2 are the halves of one update: no scheduler can stop between them */
};

struct predict_options {
	bool no_pairs;       /* one variable only, as in the paper */
	bool no_cycles;      /* two units only */
	uint64_t work_limit; /* pairs of witnesses to look at; 0: the default */
};

struct predict_counts {
	uint64_t impossible[ORDER_REASON_COUNT]; /* dropped, by reason */
	uint64_t skipped;                        /* combinations that were not looked at, for lack of time */
	uint64_t alike;                          /* of a class of which enough was looked at */
	uint64_t by_kind[PREDICT_KINDS];
	uint64_t seen, inside, late;
};

struct predict {
	const struct history *history;
	struct predict_options options;
	struct locksets locks;
	struct order order;
	struct contend contend;
	struct guards guards;
	struct prediction *predictions;
	uint32_t count, room;
	struct predict_counts counts;
	uint64_t work;      /* left */
	struct map known;   /* keys of predictions */
	struct map refused; /* keys of what was impossible wherever it was tried: the reason, plus one */
};

/* The history must be finished and outlives it. */
void predict_init(struct predict *p, const struct history *history, const struct predict_options *options);
void predict_run(struct predict *p);
void predict_release(struct predict *p);

/* "RWR", "Rx Wx Wy Ry", "cycle"; room for 64 characters. */
void predict_pattern_text(const struct predict *p, const struct prediction *prediction, char *text);

/* Inside: one file each for the kinds of patterns. */
void cutpoint_run(struct predict *p);
void pattern_run(struct predict *p);

/* Room for a new prediction, or NULL if one with this key is there already. */
struct prediction *predict_add(struct predict *p, uint64_t key);
static inline uint64_t predict_mix(uint64_t hash, uint64_t value)
{
	return map_hash(hash * 0x100000001b3ull ^ map_hash(value + 0x51ed2701));
}
/* The pattern with this key was impossible here, for this reason. */
void predict_refuse(struct predict *p, uint64_t key, enum order_reason reason);
/*
 * The next limit of the thread after this one that others may be more compatible
 * with: it gives up a lock there, without which they cannot come so far, or posts a
 * token, without which there are too few. HISTORY_NONE: there is none.
 */
uint32_t predict_later_point(const struct predict *p, uint32_t thread, uint32_t limit);
/* Decides whether the goal can be reached at all. */
bool predict_feasible(struct predict *p, const struct weave_goal *goal, enum order_reason *reason);

#endif
