/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A trace that is read while the program writes it (abi/live.h). It gives a
 * trace and a cursor like any other, so whoever reads events need not know;
 * trace_next() waits where the program has not written on yet, and ends when
 * the program has: by its exit, by exec, by a signal, killed.
 *
 * The order is conflict-equivalent to the one that the kept file has. Why it is
 * so stands in docs/architecture.md ("The order while it runs").
 *
 * Two things differ from a file. Threads have their number as index, and their
 * array grows, so pointers into trace->threads are good until the next event.
 * Modules appear while it runs (dlopen), always before the first event that
 * names one of their places.
 */
#ifndef ATOMSAN_TRACE_LIVE_H
#define ATOMSAN_TRACE_LIVE_H

#include "trace/cursor.h"

struct trace_live;

/*
 * The memory is a descriptor that abi/live.h describes; from here on the program
 * relies on this process to read. `keep` is a file to leave the whole trace in,
 * or -1. Both descriptors are closed at the end. NULL with err set if the memory
 * is none of ours.
 */
struct trace_live *trace_live_open(int memory, int keep, struct err *err);
struct trace *trace_live_trace(struct trace_live *live);
struct trace_cursor *trace_live_cursor(struct trace_live *live);

/* How often it looked, and slept; events are for the caller to count. */
struct trace_live_stats {
	uint64_t rounds, naps, windows;
	uint64_t calls,
		unmet; /* outermost calls of threads that have ended, and those that were taken back */
	uint64_t silent, spoken; /* as in abi/live.h */
};
void trace_live_stats(const struct trace_live *live, struct trace_live_stats *stats);

/* Before the program is told that its checker is ready: it shall tell of all calls (rt/unmet.h). */
void trace_live_want_all(struct trace_live *live);

/* Where the program looks which functions' calls are one unit: a bit for each number, so many of them
 * (abi/live.h). */
uint64_t *trace_live_entire(struct trace_live *live, uint64_t *count);

/* For tests: called between the looks at two threads, so that what happens just there happens often. */
void trace_live_between(struct trace_live *live, void (*between)(void));
/* Writes into the program's memory that it shall end at once, and sees to it. */
void trace_live_halt(struct trace_live *live);
/* After the last event: header and counters as they are now, the kept file completed. -1 with err set if
 * that could not be written. */
int trace_live_finish(struct trace_live *live, struct err *err);
/* The program may end now, if it waits for that. */
void trace_live_verdict(struct trace_live *live, uint32_t findings);
void trace_live_close(struct trace_live *live);

#endif
