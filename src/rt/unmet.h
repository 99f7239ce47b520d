/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Calls that are on no cycle. A checker that reads along need not hear of most of
 * what a program does. Two outermost calls (one that a thread's first function makes,
 * or an iteration of its loop) have *met* if one comes to what the other has touched and is not
 * over. One that was met *comes back* if it then comes to what anybody else has
 * touched. The access that closes a cycle is such: so where no call that was met comes
 * back before all those are over, the calls of that time are on no cycle, and what they
 * wrote is taken back (docs/architecture.md, "Calls on no cycle", has the proof).
 *
 * The shadow tells. Who takes over a cell finds there whose it was and in which
 * segment; that thread's `begin` tells whether this was in the call that it has open.
 *
 *   begin      its thread    everybody: segments above it are of the call that is open
 *   closed     its thread    who is the first to meet a call
 *   settled    who is that   who was met, and comes to one of the thread's cells
 *   met        who meets it  its thread, which at the end of the call clears it
 *   looking    who looks     its thread, which does not end before that is 0
 *   silent     its thread    everybody: who comes to what the open call touched says so first
 *   spoken     who does that  its thread: from there on it is told
 *   comebacks  who comes back  everybody: what was written by then is told
 *   met_open   who meets, and the thread of the call that was met: calls that were met and are open
 */
#ifndef ATOMSAN_RT_UNMET_H
#define ATOMSAN_RT_UNMET_H

#include "rt/rt.h"
#include "rt/shadow.h"

#pragma GCC visibility push(hidden)

struct unmet_thread {
	uint64_t begin;   /* UINT64_MAX: no call is open */
	uint64_t closed;  /* segments up to this one are of calls that have ended */
	uint64_t settled; /* and of such that will be on no cycle: they had ended when no call that was met
			     was open */
	uint32_t met;
	uint32_t looking;
	uint32_t owner; /* number of the thread, plus one; 0: none */
	bool silent;    /* what the open call did was partly taken back as it went on: entire.h */
	bool spoken;    /* and somebody has spoken for it */
	const struct rt_thread *self;
	const struct atomsan_thread *inlined;
} __attribute__((aligned(64)));

extern struct unmet_thread unmet_threads[RT_MARKS];
/* Calls may be taken back. Once false it stays so, until a process begins anew. */
extern bool unmet_on;

static inline struct unmet_thread *unmet_of(uint64_t cell)
{
	return &unmet_threads[cell >> ATOMSAN_THREAD_SHIFT & (RT_MARKS - 1)];
}

/* Was the call that the thread has open? */
static inline __attribute__((always_inline)) bool unmet_was_met(void)
{
	return __atomic_load_n(&unmet_threads[rt_self.mark].met, __ATOMIC_RELAXED);
}

/*
 * Another thread's cell: is it of a call that may be open? What has ended stays so, and
 * each thread remembers of the others how far that was when it last looked: their lines
 * change hands with every call.
 */
static inline __attribute__((always_inline)) bool unmet_may_be_open(uint64_t cell)
{
	uint64_t *ended = &rt_self.ended[cell >> ATOMSAN_THREAD_SHIFT & (RT_MARKS - 1)], begin;

	if (likely((cell | 0xffff) <= *ended))
		return false;
	begin = __atomic_load_n(&unmet_of(cell)->begin, __ATOMIC_ACQUIRE);
	*ended = begin != UINT64_MAX ? begin : __atomic_load_n(&unmet_of(cell)->closed, __ATOMIC_RELAXED);
	return (cell | 0xffff) > begin;
}

/* Another thread's cell, which is not shared: is it of a call that may be open, or do we come back? Then it
 * takes remember(). */
static inline __attribute__((always_inline)) bool unmet_cares(uint64_t cell, uint64_t segment)
{
	return unlikely(unmet_on) && (cell ^ segment) & SHADOW_THREAD_MASK &&
	       (unmet_may_be_open(cell) || unmet_was_met());
}

/* Is another thread's cell of a call that will be on no cycle? */
static inline bool unmet_settled(uint64_t cell)
{
	return (cell | 0xffff) <= __atomic_load_n(&unmet_of(cell)->settled, __ATOMIC_RELAXED);
}

/* The call that the thread has open was met, and comes to what is not its own. */
void unmet_come_back(void) ATOMSAN_KEEPS_REGISTERS;

/*
 * The cell is about to be taken over. True if it should not be, for both calls only
 * read there and have not met: then its content is to be kept beside ours.
 */
bool unmet_meet(uint64_t cell, bool write) ATOMSAN_KEEPS_REGISTERS;

/* Before an access there: what others' silent calls did to the granule is told in their place. */
void unmet_speak_for(uint64_t granule, bool write, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS;
extern int64_t unmet_silent; /* calls that are open and silent */

/* The calling thread's segment begins, for an access. */
void unmet_access(void) ATOMSAN_KEEPS_REGISTERS;
/* The calling thread is outside its call, or was: what it did there is told or taken back. */
void unmet_boundary(void) ATOMSAN_KEEPS_REGISTERS;
static inline bool unmet_boundary_due(void)
{
	return unlikely(unmet_on | rt_self.call.entire) && __atomsan_thread.low <= rt_self.call.level;
}
/* Frames from this one on were left, and with them their objects. */
static inline void unmet_left(struct atomsan_frame *low)
{
	if (unlikely(unmet_on) && low < rt_self.call.object)
		rt_self.call.object = __atomsan_thread.limit;
}
/* A lock was taken, in a call that has written much. */
void unmet_lock(void) ATOMSAN_KEEPS_REGISTERS;
static inline bool unmet_long(void)
{
	enum { LONG = 1024 }; /* bytes */

	/* A new window makes the difference negative: then it is long. */
	return rt_self.next - rt_self.call.opened > LONG;
}
/* The model ends all units of the thread here. Others may have to know of that. */
void unmet_split(bool told) ATOMSAN_KEEPS_REGISTERS;
/* What was written so far is told. */
void unmet_keep(void);
/* The window is full: may it be held, to be taken back later? */
bool unmet_may_hold(void);
/* The window is full, in the middle of a call of who is alone, or of one that is one unit: true if it was
 * taken back, with what is held. */
bool unmet_back_full(void);
/* A call that is one unit goes on: perhaps something can be taken back now. */
void unmet_inside(void) ATOMSAN_KEEPS_REGISTERS;
/* A window was filled; another one begun. */
void unmet_window(void);
void unmet_window_begun(void);
/* An object of a frame begins to live. True if that frame is of no call: then what was written so far is
 * settled, and what comes next must be told. */
bool unmet_object_outside(void) ATOMSAN_KEEPS_REGISTERS;
void unmet_tell(void) ATOMSAN_KEEPS_REGISTERS;

/* From the second thread on, if there is a checker and it does not want everything. */
void unmet_start(void);
void unmet_stop(void) ATOMSAN_KEEPS_REGISTERS;
void unmet_forget(void); /* in a forked child */
/* About to be created; or -1: it was not. */
void unmet_thread_coming(int count);
void unmet_thread_begin(void);
void unmet_thread_end(void);
/* For who wants to know how many calls there were: those of this thread since the last time. */
void unmet_count(void);

#pragma GCC visibility pop

#endif
