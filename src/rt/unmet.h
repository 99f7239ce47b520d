/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls that nobody met. A checker that reads along need not hear of most of what
 * a program does: an outermost call (one that the thread's first function makes,
 * or an iteration of its loop) that was over before anybody else came to what it
 * touched, and that came to nothing of a call that was not over, is on no cycle.
 * Its events are written as always and taken back when it ends
 * (docs/architecture.md, "Calls that nobody met", has the proof).
 *
 * The shadow tells. Who takes over a cell finds there whose it was and in which
 * segment; that thread's `begin` tells whether this was in the call that it has
 * open. Then the two calls have *met*.
 *
 *   begin      its thread    everybody: segments above it are of the call that is open
 *   met        who meets it  its thread, at the end of the call, clears it
 *   looking    who looks     its thread, which does not end before that is 0
 *   meetings   who meets     everybody: a call in whose time it went on is told
 *   met_open   who meets, and the thread of the call that was met: calls that were met and are open;
 *              whoever begins a call meanwhile tells of it
 */
#ifndef ATOMSAN_RT_UNMET_H
#define ATOMSAN_RT_UNMET_H

#include "rt/rt.h"
#include "rt/shadow.h"

#pragma GCC visibility push(hidden)

enum { UNMET_THREADS = 64 }; /* as many as a cell can tell apart */

struct unmet_thread {
	uint64_t begin; /* UINT64_MAX: no call is open */
	uint32_t met;
	uint32_t looking;
	uint32_t owner; /* number of the thread, plus one; 0: none */
	const struct rt_thread *self;
	const struct atomsan_thread *inlined;
} __attribute__((aligned(64)));

extern struct unmet_thread unmet_threads[UNMET_THREADS];
/* Calls may be taken back. Once false it stays so, until a process begins anew. */
extern bool unmet_on;

static inline struct unmet_thread *unmet_of(uint64_t cell)
{
	return &unmet_threads[cell >> ATOMSAN_THREAD_SHIFT & (UNMET_THREADS - 1)];
}

/* Is the cell, which is not shared, of a call that another thread may have open? Then remember() it is. */
static inline __attribute__((always_inline)) bool unmet_cares(uint64_t cell, uint64_t segment)
{
	return unlikely(unmet_on) && (cell | 0xffff) > unmet_of(cell)->begin &&
	       (cell ^ segment) & SHADOW_THREAD_MASK;
}

/*
 * The cell is about to be taken over. True if it should not be, for both calls only
 * read there and have not met: then its content is to be kept beside ours.
 */
bool unmet_meet(uint64_t cell, bool write) ATOMSAN_KEEPS_REGISTERS;

/* The calling thread's segment begins, for an access. */
void unmet_access(void) ATOMSAN_KEEPS_REGISTERS;
/* The calling thread is outside its call, or was: what it did there is told or taken back. */
void unmet_boundary(void) ATOMSAN_KEEPS_REGISTERS;
static inline bool unmet_boundary_due(void)
{
	return unlikely(unmet_on) && __atomsan_thread.low <= rt_self.call.level;
}
/* A lock was taken, in a call that has written much. */
void unmet_lock(void) ATOMSAN_KEEPS_REGISTERS;
static inline bool unmet_long(void)
{
	enum { LONG = 1024 }; /* bytes */

	return rt_self.next - rt_self.call.start > LONG;
}
/* The model ends all units of the thread here. */
void unmet_split(void) ATOMSAN_KEEPS_REGISTERS;
/* What was written so far cannot be taken back, for it is in a window that was given away. */
static inline void unmet_window(void)
{
	rt_self.call.start = 0;
}

/* From the second thread on, if there is a checker and it does not want everything. */
void unmet_start(void);
void unmet_stop(void);
void unmet_forget(void); /* in a forked child */
void unmet_thread_begin(void);
void unmet_thread_end(void);
/* For who wants to know how many calls there were: those of this thread since the last time. */
void unmet_count(void);

#pragma GCC visibility pop

#endif
