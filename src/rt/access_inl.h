/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accesses that the inlined comparison did not recognise as already recorded:
 * what access.c, for those inside one granule, and range.c have in common.
 *
 * Order. A cell keeps the segment of whoever was there last, and segments are
 * led by stamps, so they are totally ordered. Who finds a younger segment than
 * its own draws a new stamp, which is larger than all before. So along every
 * conflict keys grow, and a thread whose last stamp (of the lock it holds, say)
 * is younger than what it finds needs none: properly locked data changes hands
 * without a stamp of its own.
 *
 * Interference. Taking a cell over makes its last owner's next access news
 * again, and thereby recorded behind this one.
 *
 * Two threads may use different bytes of a granule at the same time, and cells
 * are stored to without care: the loser's record is forgotten, which costs a
 * repetition. Where the bytes are the same, the program has a race, and the
 * order of the two is that of their hooks.
 */
#ifndef ATOMSAN_RT_ACCESS_INL_H
#define ATOMSAN_RT_ACCESS_INL_H

#include "rt/event_inl.h"
#include "rt/sections.h"
#include "rt/watch.h"

#pragma GCC visibility push(hidden)

/* A byte's bit times these is its bits in a cell. */
enum { READS = 1 << ATOMSAN_READ_BITS, WRITES = 1 << ATOMSAN_WRITE_BITS };

enum { SHORT_SEGMENT = 64 * 8 }; /* bytes of events */

/*
 * Readers share a cell to keep what they have recorded while others read, too.
 * That pays where a segment is long. In a short one hardly anything is read
 * again before it ends, and the readers' cells would only be memory to fetch: the
 * cell goes from hand to hand. So it does under a lock, where nobody else reads
 * at the same time, and where a write mostly follows.
 */
INLINE bool short_segment(void)
{
	/* A new window makes the difference negative: then it was long. */
	return rt_self.next - rt_self.segment_start < SHORT_SEGMENT || rt_self.locks > 0;
}

INLINE bool recorded(uint64_t cell, uint64_t segment, uint64_t mask)
{
	return !((cell ^ segment) & (ATOMSAN_SEGMENT_MASK | mask));
}

INLINE bool same_segment(uint64_t cell, uint64_t segment)
{
	return !((cell ^ segment) & ATOMSAN_SEGMENT_MASK);
}

/* What is known of the cell is so in this segment, too. */
INLINE uint64_t renewed(uint64_t cell, uint64_t segment)
{
	return (segment & ATOMSAN_SEGMENT_MASK) | (cell & ~ATOMSAN_SEGMENT_MASK);
}

INLINE bool same_thread(uint64_t cell, uint64_t segment)
{
	return !((cell ^ segment) & SHADOW_THREAD_MASK);
}

/*
 * The cell becomes ours. Calls that may be taken back (unmet.h) need to know of
 * every reader, and readers that no lock keeps apart may come at the same time, so that
 * one of them is forgotten. An exchange that one of them loses would cost as much as
 * all else: each looks again before its next operation, for until then nobody can
 * have come to write, unless the program has a race. Where a lock is held that nobody shares,
 * readers do not come at the same time.
 */
INLINE void take_cell(uint64_t *cell, uint64_t now, bool write)
{
	__atomic_store_n(cell, now, __ATOMIC_RELAXED);
	if (unlikely(unmet_on) && !write && rt_self.locks <= 0) {
		rt_self.unsure.cells[rt_self.unsure.count++ % RT_UNSURE] = (uint64_t)cell | now << 56;
		if (rt_self.unsure.count >= RT_UNSURE)
			access_sure();
	}
}

/*
 * A cell of this thread's that was known (entire.h) is so from now on in this
 * segment. What the thread has written, all of it, and has not let go by any operation
 * since, nobody else reads at the same time.
 */
INLINE void renew_cell(uint64_t *cell, uint64_t was, uint64_t segment, bool write)
{
	take_cell(cell, renewed(was, segment), write || (was & SHADOW_WRITTEN) == SHADOW_WRITTEN);
}

/*
 * Does who reads take over a cell of others that nobody shares? What is in the cell
 * cannot be foreseen, and a wrong guess waits for the cell to come from memory: it
 * is asked last.
 */
INLINE bool taken_over(uint64_t value, uint64_t segment)
{
	return short_segment() || value & SHADOW_WRITTEN || same_thread(value, segment);
}

/* Would this access be news, and does it need a stamp to stand behind what is there? */
enum { KNOWN = 0, NEWS = 1, YOUNGER = 2 };

INLINE unsigned look(uint64_t granule, uint64_t mask, bool write, uint64_t segment)
{
	uint64_t cell = *shadow_cell(granule);
	unsigned younger = cell > segment ? YOUNGER : 0;

	/* Segments have run out: an untouched cell must not look like one of ours. */
	if (unlikely(!segment))
		return NEWS | YOUNGER;
	if (recorded(cell, segment, mask))
		return KNOWN;
	if (likely(!shadow_is_shared(cell)))
		return NEWS | younger;
	if (!write)
		return recorded(*shadow_reader(rt_self.slot, granule), segment, mask) ? KNOWN
										      : NEWS | younger;
	for (unsigned slot = 0; slot < ATOMSAN_SLOTS; slot++)
		if (cell >> slot & 1 && *shadow_reader(slot, granule) > segment)
			younger = YOUNGER;
	return NEWS | younger;
}

/*
 * Others' calls that have the cell: they have met ours, and are told so. True if
 * the cell is to be shared, for both only read: then what is there has become a
 * reader's.
 */
INLINE bool meet(uint64_t granule, uint64_t value, uint64_t mask, bool write, uint64_t segment)
{
	unsigned slot = value >> ATOMSAN_THREAD_SHIFT & (ATOMSAN_SLOTS - 1);

	/* Atomic operations leave no bits, and two of them are no conflict: what they are on is in no set. */
	if (!value || (!mask && !(value & 0xffff)))
		return false;
	if (unlikely(unmet_was_met()) &&
	    (shadow_is_shared(value) || (!same_thread(value, segment) && !unmet_settled(value))))
		unmet_come_back();
	if (shadow_is_shared(value)) {
		for (slot = 0; slot < ATOMSAN_SLOTS; slot++) {
			uint64_t other = *shadow_reader(slot, granule);

			if (!(value >> slot & 1) || (!write && slot != rt_self.slot) ||
			    !unmet_cares(other, segment))
				continue;
			/* A place that two readers share has room for one. */
			unmet_meet(other, true);
		}
		return false;
	}
	if (!unmet_cares(value, segment) || !unmet_meet(value, write))
		return false;
	if (slot == rt_self.slot) {
		unmet_meet(value, true);
		return false;
	}
	*shadow_reader(slot, granule) = value;
	return true;
}

/* Its first reader's slot is known by what meet() left there. */
INLINE uint64_t shared_cell(uint64_t value, bool kept)
{
	unsigned first = value >> ATOMSAN_THREAD_SHIFT & (ATOMSAN_SLOTS - 1);

	return (value & SHADOW_STAMP_MASK) | SHADOW_SHARED | 1ull << rt_self.slot | (uint64_t)kept << first;
}

/* False: somebody else came first, and it is to be looked at again. */
INLINE bool try_remember(uint64_t granule, uint64_t mask, bool write, uint64_t segment)
{
	uint64_t *cell = shadow_cell(granule), value = *cell;
	uint64_t *reader = shadow_reader(rt_self.slot, granule);
	uint64_t mine = segment & ATOMSAN_SEGMENT_MASK;
	bool kept = unlikely(unmet_on) && meet(granule, value, mask, write, segment);

	if (unlikely(!value))
		shadow_untouched(granule);
	if (same_segment(value, segment)) {
		take_cell(cell, value | mask, write);
		return true;
	}
	if (unlikely(shadow_is_shared(value))) {
		if (!write) {
			*reader = (same_segment(*reader, segment) ? *reader : entire_rest(*reader, segment)) |
				  mask;
			if (!(value >> rt_self.slot & 1))
				__atomic_fetch_or(cell, 1ull << rt_self.slot, __ATOMIC_RELAXED);
			return true;
		}
		/* What readers remember is void from here on. */
		for (unsigned slot = 0; slot < ATOMSAN_SLOTS; slot++)
			if (value >> slot & 1)
				__atomic_fetch_and(shadow_reader(slot, granule), ATOMSAN_SEGMENT_MASK,
						   __ATOMIC_RELAXED);
		take_cell(cell, mine | mask, write);
		return true;
	}
	if (!kept && (write || !value || taken_over(value, segment))) {
		take_cell(cell, entire_rest(value, segment) | mask, write);
		return true;
	}
	/* Another thread only read it, and so do we. Both must stay, whoever comes now. */
	*reader = mine | mask;
	return __atomic_compare_exchange_n(cell, &value, shared_cell(value, kept), false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

INLINE void remember(uint64_t granule, uint64_t mask, bool write, uint64_t segment)
{
	rt_self.call.wrote |= write && mask;
	while (!try_remember(granule, mask, write, segment))
		;
}

/* Draw a stamp for this access and write it with the event. Returns the new segment, 0 if there is none. A
 * length is written where the site does not know it. */
uint64_t access_write_stamped(const void *p, uint64_t length,
			      const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS COLD;
/* Write it, whatever its numbers are. */
void access_write_plain(const void *p, uint64_t length,
			const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS COLD;

/* One word, if the site's number is small; the address is of a known region. */
INLINE void write_access(const void *p, const struct atomsan_site *site)
{
	uint64_t number = rt_site_number(site);
	uint64_t at = 8;

	if (unlikely(number >= rt_numbers.sites_limit)) {
		access_write_plain(p, 0, site);
		return;
	}
	/* As event_take(1), but without its loop: the rare case starts over elsewhere. */
	__asm__ volatile("xaddq %0, %1" : "+r"(at), "+m"(rt_self.next) : : "memory", "cc");
	if (unlikely(at & RT_WINDOW))
		access_write_plain(p, 0, site);
	else
		event_store((uint64_t *)at, event_word(TRACE_ACCESS, number, (uint64_t)p & SHADOW_FOLD));
}

/* The same with its length in front, two words. */
INLINE void write_access_length(const void *p, uint64_t length, const struct atomsan_site *site)
{
	uint64_t number = rt_site_number(site), at = 16;

	if (unlikely(number >= rt_numbers.sites_limit || length >> TRACE_ADDRESS_BITS)) {
		access_write_plain(p, length, site);
		return;
	}
	__asm__ volatile("xaddq %0, %1" : "+r"(at), "+m"(rt_self.next) : : "memory", "cc");
	if (unlikely((at + 15) & RT_WINDOW)) {
		access_write_plain(p, length, site);
		return;
	}
	event_store((uint64_t *)at + 1, event_word(TRACE_ACCESS, number, (uint64_t)p & SHADOW_FOLD));
	event_store((uint64_t *)at, event_word(TRACE_PREFIX, TRACE_PREFIX_VALUE, length));
}

/* The length that the event has to tell. */
INLINE uint64_t length_to_say(uint64_t length, const struct atomsan_site *site)
{
	return site->flags & ATOMSAN_SITE_RANGE ? length : 0;
}

INLINE bool ready(void)
{
	if (likely(rt_recording))
		return true;
	if (!rt_watching)
		rt_thread_off();
	return false;
}

/*
 * Where a frame begins or ends, so does the segment: as long as there is one, the
 * trace has heard of all frames, but for parts. That one was entered need not be
 * told; that one was left, of which the trace was told, must be: what comes next is another's. It
 * is not so with filter=2, and who is scheduled goes the long way, always.
 */
INLINE bool frames_or_segment_due(void)
{
	return (__atomsan_thread.segment == __atomsan_thread.fresh) |
	       (__atomsan_thread.low < rt_self.written) | (rt_self.careful != 0);
}

/* Kinds here and in watch.h. */
INLINE unsigned watched_kinds(uint64_t kinds)
{
	return (kinds & READS ? WATCH_READ : 0) | (kinds & WRITES ? WATCH_WRITE : 0);
}

/* True if nothing more is to be done. */
INLINE bool watched(const void *p, uint64_t length, uint64_t kinds, const struct atomsan_site *site)
{
	if (likely(!rt_watching))
		return false;
	if (watch_wanted_at(p, length) && !(rt_watching == WATCH_SECTIONS && sections_idle(p, length, site)))
		watch_access(p, length, watched_kinds(kinds), site);
	return !rt_recording;
}

#pragma GCC visibility pop

#endif
