/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writing events into the thread's block. A signal handler may interrupt
 * between any two instructions and write events of its own, so:
 *
 *   - room is taken by one xadd on rt_self.next; the handler's events land
 *     behind the interrupted one;
 *   - words are filled from the last to the first, and a first word that is
 *     not zero means complete;
 *   - a stamp is drawn after the room was taken, and if anybody took room
 *     meanwhile, the place is given up (EVENT_NOTHING) and taken anew, so
 *     that stamps grow along a thread's events.
 */
#ifndef ATOMSAN_RT_EVENT_INL_H
#define ATOMSAN_RT_EVENT_INL_H

#include "rt/entire.h"
#include "rt/rt.h"
#include "rt/shadow.h"
#include "rt/unmet.h"

#pragma GCC visibility push(hidden)

#define INLINE static inline __attribute__((always_inline))

#define EVENT_NOTHING ((uint64_t)TRACE_EXIT)
enum { EVENT_WORDS = 8 }; /* no event has more words than that */

INLINE uint64_t event_word(enum trace_event_kind kind, uint64_t id, uint64_t address)
{
	return (uint64_t)kind | id << TRACE_ID_SHIFT | address << TRACE_ADDRESS_SHIFT;
}

/* Does the header's table lead from the folded address back to the whole one? */
INLINE bool event_region_known(uint64_t address)
{
	return rt_header->regions[address >> 40 & 15] == address >> TRACE_ADDRESS_BITS;
}

/* Room for so many words, or NULL when recording has ended. */
INLINE uint64_t *event_take(uint64_t words)
{
	for (;;) {
		uint64_t p = words * 8;

		__asm__ volatile("xaddq %0, %1" : "+r"(p), "+m"(rt_self.next) : : "memory", "cc");
		if (likely(!((p + words * 8 - 1) & RT_WINDOW)))
			return (uint64_t *)p;
		if (!rt_file_make_room())
			return NULL;
	}
}

INLINE uint64_t event_draw_stamp(void)
{
	return __atomic_fetch_add(&rt_header->next_stamp, 1, __ATOMIC_ACQ_REL);
}

/* Room and a stamp that is larger than that of any event before the room. */
INLINE uint64_t *event_take_stamped(uint64_t words, uint64_t *stamp)
{
	for (;;) {
		uint64_t *p = event_take(words);

		if (!p)
			return NULL;
		*stamp = event_draw_stamp();
		if (likely(*(volatile uint64_t *)&rt_self.next == (uint64_t)(p + words)))
			return p;
		for (uint64_t i = words; i--;)
			p[i] = EVENT_NOTHING;
	}
}

INLINE void event_store(uint64_t *p, uint64_t word)
{
	__atomic_store_n(p, word, __ATOMIC_RELEASE);
}

/* A segment number from a stamp and the count of segments since. */
INLINE uint64_t event_segment(uint64_t stamp, uint64_t sub)
{
	return stamp << ATOMSAN_STAMP_SHIFT | (uint64_t)rt_self.mark << ATOMSAN_THREAD_SHIFT |
	       sub << ATOMSAN_SEGMENT_SHIFT | 0xffff;
}

/* The thread drew a stamp: what it does from here on comes after it. */
INLINE void event_new_floor(uint64_t stamp)
{
	if (unlikely(rt_self.handlers))
		rt_self.handler_stamp = stamp;
	rt_self.stamp = stamp;
	rt_self.sub = 0;
}

/* Bring the trace up to date with the functions entered and left. */
void event_write_frames(void) ATOMSAN_KEEPS_REGISTERS;

/* Has it not heard of some, or of one of their objects? */
INLINE bool event_frames_due(void)
{
	return __atomsan_thread.low != rt_self.written || __atomsan_thread.top != rt_self.written ||
	       rt_self.objects.due;
}

INLINE void event_frames(void)
{
	if (unlikely(event_frames_due()))
		event_write_frames();
}

/* The thread's segment, a new one if a boundary was passed; 0 if a stamp is needed first. */
INLINE uint64_t event_current_segment(void)
{
	uint64_t segment = __atomsan_thread.segment;

	if (likely(segment != __atomsan_thread.fresh))
		return segment;
	if (unlikely(unmet_on)) {
		unmet_access();
		entire_begin_segment(event_segment(rt_self.stamp, rt_self.sub));
	}
	if (unlikely(++rt_self.sub >= SHADOW_SUBS))
		return 0;
	segment = event_segment(rt_self.stamp, rt_self.sub);
	__atomsan_thread.segment = segment;
	rt_self.segment_start = rt_self.next;
	return segment;
}

/*
 * Frames or a segment are due: write and begin them. False: the long way must be
 * gone, for the thread is scheduled, recording has ended or a stamp is needed.
 */
bool event_catch_up(void) ATOMSAN_KEEPS_REGISTERS;

/* The general writer, for everything that is not a plain access with a small number. An operation without a
 * site is stamped in any case: a second word of 0 would be the end. */
struct event {
	enum trace_event_kind kind; /* TRACE_ACCESS, TRACE_ENTER, TRACE_SWITCH or TRACE_OP */
	bool stamped;               /* needs a new stamp */
	bool has_value, has_other;
	unsigned op, flags;
	uint64_t number; /* site or function */
	uint64_t address;
	uint64_t value, other;
};
/* Returns the stamp drawn, if one was. */
uint64_t event_write(const struct event *event) ATOMSAN_KEEPS_REGISTERS;

/* An atomic operation, with a stamp if one is due; it ends the segment. */
void event_atomic(enum trace_op op, unsigned flags, const void *location, const struct atomsan_site *site,
		  bool due) ATOMSAN_KEEPS_REGISTERS;

/* Before an operation: cells that are to be looked at again (access_inl.h). */
void access_sure(void) ATOMSAN_KEEPS_REGISTERS;
/* Update the shadow for an atomic operation, which is an event of its own (access.c). */
void access_touch(const void *p, uint64_t length, bool write) ATOMSAN_KEEPS_REGISTERS;
void access_relaxed_load(const void *p, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS;

#pragma GCC visibility pop

#endif
