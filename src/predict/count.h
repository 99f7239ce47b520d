/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Events of a trace, numbered as the scheduler numbers them while a program
 * runs (rt/sched_count.c, docs/schedule-format.md). The number of an event
 * depends on nothing but what its thread did, so "T1 has done 57 events" means
 * the same place in the recorded run and in a forced one.
 *
 * Feed it every event of the trace, in program order for each thread; threads
 * may be mixed, as in the total order.
 */
#ifndef ATOMSAN_PREDICT_COUNT_H
#define ATOMSAN_PREDICT_COUNT_H

#include "trace/cursor.h"

struct count;

/* Every access counts in a trace that leaves none out, else the first of its kind in a stretch. */
struct count *count_new(const struct trace *trace);
/* Whichever of the two is wanted; a trace with all accesses serves for both. */
struct count *count_new_as(const struct trace *trace, bool every);
void count_free(struct count *count);

/*
 * How many events the event's thread has done once this one is done. An event
 * that does not count has the number of the one before it. An update (x += 1)
 * is two: when the number is one less, it has read and not yet written.
 */
uint64_t count_event(struct count *count, const struct trace_event *event);
/* As count_event() said last, for this thread (index in trace->threads). */
uint64_t count_done(const struct count *count, uint32_t thread);

#endif
