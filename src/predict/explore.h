/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Many runs of one program, in search of those that fail: through schedules that
 * are given, through schedules that were predicted, and under random
 * strategies, until the budget is spent. What is given comes first. Then two
 * predicted schedules, or one that could not be followed, and a run of a strategy
 * take turns, since an error may be one that no violation of atomicity leads to;
 * and the first runs of strategies are recorded, for more can be predicted from
 * them. Failures that look the same are one; its first run is made into a schedule, as short as can be, that
 * fails again. That is done while no other run is under way, for they might disturb each other. Who is told
 * to stop before that keeps the failure and its schedule as they are.
 *
 * Every run is decided by its strategy and its seed, which is the first seed
 * plus the number of the run, so the same call does the same again, however
 * many runs are under way at a time. What a run teaches about others (what it makes
 * possible, what cannot be followed) is therefore taken from the first runs
 * only, which are made one by one.
 */
#ifndef ATOMSAN_PREDICT_EXPLORE_H
#define ATOMSAN_PREDICT_EXPLORE_H

#include "predict/queue.h"
#include "predict/run.h"

struct explore;

struct explore_setup {
	struct run_setup run;          /* all but strategy, seed and schedule */
	const struct schedule *header; /* program, arguments, build: of the schedules that are made */
	char *const *strategies;       /* taken in turn; one may come several times */
	uint32_t strategy_count;
	uint64_t seed;
	uint64_t runs;  /* 0: as many as there is time for */
	double seconds; /* 0: as long as it takes */
	uint32_t jobs;  /* runs under way at a time */
	bool stop_at_first;
	struct schedule **schedules; /* may become more while it goes on */
	uint32_t schedule_count;
	uint32_t must_try;   /* so many of them, the first ones, before anything else */
	struct queue *queue; /* numbers of the others; NULL: there are none */
	uint32_t record;     /* so many runs of strategies are recorded, one at a time */
	/* Called with each trace that was recorded by a run that passed. -1 with err set ends everything. */
	int (*recorded)(void *context, const char *trace, struct err *err);
	uint32_t minimise_runs; /* for each failure; 0: its schedule is left as it was */
	void (*progress)(const struct explore *explore, void *context); /* after every run; NULL */
	void *context;
	const volatile int *stop; /* not 0: come to an end; NULL */
};

struct explore_tally {
	const char *name; /* "schedules", or the strategy */
	uint64_t runs, failures, not_followed;
};

/* What became of a schedule. */
struct explore_given {
	bool tried, followed, failed;
	bool spared; /* it would not have been followed, as one that begins like it was not */
};

struct explore_failure {
	enum run_verdict verdict;
	char *text;
	const char *strategy; /* name of the tally */
	uint64_t seed;        /* of the first run that failed so */
	int64_t given;        /* number of the given schedule; -1: a strategy's run */
	uint64_t seen;        /* runs that failed so */
	uint64_t *seeds;      /* of all of them, in the order in which they ended; 0 for given schedules */
	struct schedule *schedule;
	uint32_t steps_before; /* of the schedule as it was */
	uint32_t minimise_runs;
	bool again;     /* the schedule was followed and failed in the same way */
	bool only_seen; /* it was told to stop before anybody could look whether it fails again */
};

struct explore {
	const struct explore_setup *setup;
	uint64_t runs, failures, passed, not_followed;
	uint64_t disturbed; /* failed beside other runs, and not again alone: no failures */
	uint64_t spared;    /* schedules that were not tried */
	uint64_t extra;     /* runs beyond the budget, to make schedules shorter */
	uint64_t events, switches;
	uint64_t first_failure; /* which run it was, from 1 in the order in which they began; 0: none */
	double seconds;
	struct explore_given *given; /* by schedule; those that were tried, at least */
	uint32_t given_count;
	struct explore_tally *tallies; /* [0] is of the given schedules */
	uint32_t tally_count;
	struct explore_failure *found;
	uint32_t found_count;
};

/* NULL with err set where no run says anything about the program. */
struct explore *explore(const struct explore_setup *setup, struct err *err);
void explore_free(struct explore *explore);

#endif
