/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * One run of a program under the scheduler: started, watched, and judged. Runs
 * are independent of each other, so several may be under way.
 *
 * Nothing is left behind, whatever happens. What is handed to the program lies
 * in memory that ends with this process; the program gets a process group of its
 * own, is killed with all its descendants when its time is over or the run is
 * given up, and dies when this process does. Address-space randomisation is off
 * for it, so that addresses are the same every time.
 */
#ifndef ATOMSAN_PREDICT_RUN_H
#define ATOMSAN_PREDICT_RUN_H

#include "abi/sched.h"
#include "predict/schedule.h"

#define RUN_VERDICTS(X)              \
	X(PASSED, "passed")          \
	X(EXIT, "wrong exit status") \
	X(CRASH, "crash")            \
	X(ASSERTION, "assertion")    \
	X(OUTPUT, "output differs")  \
	X(CHECK, "check failed")     \
	X(TIMEOUT, "time-out")       \
	X(DEADLOCK, "deadlock")      \
	X(NOT_FOLLOWED, "schedule not followed")

enum run_verdict {
#define X(name, text) RUN_##name,
	RUN_VERDICTS(X)
#undef X
		RUN_VERDICT_COUNT
};

/* What is run, and what a good run looks like. */
struct run_setup {
	char *const *argv;
	const char *strategy; /* "follow", "serial", "random", "pct", "pos", "surw"; NULL: not scheduled */
	const char *options;  /* of the runtime, besides; NULL */
	uint64_t seed;
	uint32_t depth;   /* pct; 0: the default */
	const char *lost; /* strategy that takes over from a lost schedule; NULL: it is taken up again */
	const struct schedule *schedule; /* with "follow"; NULL else */
	const char *hints;               /* text for the other strategies; NULL */
	bool every;                      /* every access counts; with "follow" the schedule says it */
	bool trace;                      /* record, too, see run_trace() */
	bool values;                     /* and record what accesses find at their places */
	uint32_t timeout_ms;             /* 0: none */
	int expected_status;             /* a good run exits with this */
	const char *expected_output;     /* standard output of a good run; NULL: any */
	uint64_t expected_length;
	const char *check;    /* shell command that judges the output; NULL: none */
	bool quiet;           /* what the program prints is not shown */
	const char *debugger; /* the program runs under it, in the foreground; NULL: by itself */
};

struct run_result {
	enum run_verdict verdict;
	char text[400];  /* the verdict as a clause: "the program's exit status is 1" */
	char stack[512]; /* of a crash: functions, innermost first; empty if not known */
	bool followed;   /* the schedule, to its end */
	char lost[400];  /* where it could not be followed, a clause */
	int status;      /* as wait gives it */
	double seconds;
	const struct sched_report *report; /* lives as long as the run */
};

struct run;

/* NULL with err set if it cannot even be started. */
struct run *run_start(const struct run_setup *setup, struct err *err);
/* Waits until one of them is over, at most so long (milliseconds, -1: for ever); its index, or -1. Empty
 * places are NULL. A signal ends the waiting, too. */
int run_wait(struct run **runs, uint32_t count, int timeout_ms);
/* What came of it. -1 with err set where the run says nothing about the program: it could not be
 * executed, or was not built with atomsan. */
int run_judge(struct run *run, struct run_result *result, struct err *err);
/* Kills it if it is under way. */
void run_free(struct run *run);

/* Where the trace of a run that records is, for as long as the run is there. */
const char *run_trace(const struct run *run);

/* Start, wait and judge; the caller frees the run. NULL with err set as above. */
struct run *run_once(const struct run_setup *setup, struct run_result *result, struct err *err);

/* The interleaving that a run really had, as steps added to the schedule. */
void run_steps(const struct sched_report *report, struct schedule *schedule);
/* How many context switches it had, and how many of them were not forced by waiting. */
uint64_t run_switches(const struct sched_report *report, uint64_t *preemptions);

const char *run_verdict_text(enum run_verdict verdict);
/* "a mutex": what a thread waits for, of enum sched_wait. */
const char *run_waits_text(uint32_t waits);
static inline bool run_failed(enum run_verdict verdict)
{
	return verdict != RUN_PASSED && verdict != RUN_NOT_FOLLOWED;
}

/* When this can be read from, waiting ends, and does not begin; -1: nothing. For signal handlers. */
extern int run_stop_fd;

/* To be called at the beginning: descendants that lose their parent come to this process. */
void run_adopt(void);

#endif
