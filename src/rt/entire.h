/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Outermost calls that are one unit. Where a function begins or ends a segment does,
 * for it might be a unit by itself: what it does is told again, though its caller did
 * the same. But most of what long calls do belongs to them as a whole, and the checker
 * that reads along knows: it says of functions that no unit was ever further in
 * (abi/live.h, `entire`). Then, from the first window on that such a call fills, nothing
 * but an operation ends a segment in it, and of what is done over and over only the
 * first time is told.
 *
 * Each window begins with a stamp (follow.c), and so a segment does; cells of the
 * segment before would be told anew, and fill the next window. So a hook that finds
 * one of its own thread's from above `known` takes it into the new segment, and writes
 * nothing. Operations set `known` back, for what comes behind one is news.
 *
 * Objects on the stack are told like frames, when something is told: a sorting loop with a
 * local for what it moves would fill windows with nothing but these.
 *
 * The checker takes its word back when it sees a unit further in. What it needs for
 * that is always told, since it is the first time; what was left out until the program
 * heard of it is lost.
 */
#ifndef ATOMSAN_RT_ENTIRE_H
#define ATOMSAN_RT_ENTIRE_H

#include "rt/rt.h"
#include "rt/shadow.h"

#pragma GCC visibility push(hidden)

/* A window is full, or the outermost call is another one: what has the checker said of it? */
void entire_look(void) ATOMSAN_KEEPS_REGISTERS;
/* It is over, if it was one unit. */
void entire_end(void) ATOMSAN_KEEPS_REGISTERS;

/* An object begins to live in the frame that is open. False: it is to be told now. */
bool entire_object(const void *p, uint64_t length, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS;
/* Frames were told: so are those of their objects that are not yet. */
void entire_tell_objects(void) ATOMSAN_KEEPS_REGISTERS;
/* What was told of objects is taken back. */
void entire_tell_anew(void) ATOMSAN_KEEPS_REGISTERS;

/* An operation ends the segment. */
static inline void entire_end_segment(void)
{
	rt_self.known = ~0ull;
}

/* A segment begins, behind this one. */
static inline void entire_begin_segment(uint64_t last)
{
	if (unlikely(rt_self.call.entire) && rt_self.known == ~0ull)
		rt_self.known = last;
}

/* Another segment's cell: is this access of its thread known all the same? */
static inline __attribute__((always_inline)) bool entire_knows(uint64_t cell, uint64_t segment, uint64_t mask)
{
	return unlikely((cell | 0xffff) > rt_self.known) && !((cell ^ segment) & (SHADOW_THREAD_MASK | mask));
}

/* What is left of another segment's cell, now that this one takes it over: what is known all the same, if
 * anything is. */
static inline __attribute__((always_inline)) uint64_t entire_rest(uint64_t cell, uint64_t segment)
{
	bool known = entire_knows(cell, segment, 0) && !shadow_is_shared(cell);

	return (segment & ATOMSAN_SEGMENT_MASK) | (unlikely(known) ? cell & 0xffff : 0);
}

#pragma GCC visibility pop

#endif
