/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accesses that the inlined comparison did not recognise as already recorded.
 *
 * Order. A cell keeps the largest segment number that any thread of its slot
 * had when it touched the granule, and segment numbers are led by stamps, so
 * they are totally ordered. Whoever touches a granule looks at the other
 * slots' cells: if one is younger than its own segment and the two may
 * conflict, it draws a new stamp, which is larger than all before. So along
 * every conflict keys grow, and a thread whose last stamp (of the lock it
 * holds, say) is younger than what it finds needs none: properly locked data
 * changes hands without a stamp of its own.
 *
 * Interference. What the other slots' cells remember as recorded and what
 * this access conflicts with is forgotten there, so that the other thread's
 * next access is recorded again, after this one.
 */
#include "rt/event_inl.h"

enum { SEGMENTS_PER_STAMP = 1 << (ATOMSAN_STAMP_SHIFT - ATOMSAN_SEGMENT_SHIFT) };

/* The thread's segment, a new one if a boundary was passed; 0 if a stamp is needed first. */
INLINE uint64_t current_segment(void)
{
	uint64_t segment = __atomsan_thread.segment;

	if (likely(segment != __atomsan_thread.fresh))
		return segment;
	if (unlikely(++rt_self.sub >= SEGMENTS_PER_STAMP))
		return 0;
	segment = event_segment(rt_self.stamp, rt_self.sub);
	__atomsan_thread.segment = segment;
	return segment;
}

/*
 * Look at the other threads' cells of a granule: a read meets those that wrote,
 * a write all. Returns true if this access needs a stamp to stand behind them.
 *
 * What they remember is forgotten whole, not only the bytes concerned: that
 * costs them at most a repetition, and data that wanders from thread to thread
 * (read, then written by its new owner) is touched over there once, not twice.
 */
INLINE bool interfere(uint64_t granule, bool write, uint64_t segment, unsigned presence)
{
	unsigned others = write ? presence | presence >> ATOMSAN_SLOTS : presence >> ATOMSAN_SLOTS;
	bool younger = false;

	others &= SHADOW_PRESENT & ~rt_self.bit;
	while (others) {
		unsigned slot = (unsigned)__builtin_ctz(others);
		uint64_t *cell = shadow_cell(slot, granule);
		uint64_t value = __atomic_load_n(cell, __ATOMIC_RELAXED);

		others &= others - 1;
		younger |= value > segment;
		/* Paired with the owner's plain store in remember(): if that one wins, a
		 * racing access went unrecorded, as if it had come a moment earlier. */
		if (value & ~ATOMSAN_SEGMENT_MASK)
			__atomic_fetch_and(cell, ATOMSAN_SEGMENT_MASK, __ATOMIC_RELAXED);
	}
	return younger;
}

/*
 * A writer stands behind everybody that was there, so whoever comes next need
 * look at nobody else. Two threads that use different bytes of a granule at
 * the same time may drop each other's bit; what is missed then is a repetition
 * after an access that raced anyway.
 */
INLINE void remember(uint64_t granule, uint64_t mask, bool write, uint64_t segment, unsigned presence)
{
	unsigned wanted = write ? rt_self.bit | SHADOW_WROTE(rt_self.bit) : presence | rt_self.bit;
	uint64_t *cell = (uint64_t *)(rt_self.cells + granule), value = *cell;

	if ((value ^ segment) & ATOMSAN_SEGMENT_MASK)
		value = segment & ATOMSAN_SEGMENT_MASK;
	__atomic_store_n(cell, value | mask, __ATOMIC_RELAXED);
	if (presence == wanted)
		return;
	if (write)
		__atomic_store_n(shadow_presence(granule), (uint8_t)wanted, __ATOMIC_RELAXED);
	else
		__atomic_fetch_or(shadow_presence(granule), (uint8_t)rt_self.bit, __ATOMIC_RELAXED);
}

/* Draw a stamp for this access and write it with the event. Returns the new segment. */
static uint64_t write_stamped(const void *p, uint64_t length,
			      const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS COLD;
static uint64_t write_stamped(const void *p, uint64_t length,
			      const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	struct event event = {.kind = TRACE_ACCESS,
			      .stamped = true,
			      .number = rt_module_site(site),
			      .address = (uint64_t)p,
			      .has_value = length != 0,
			      .value = length};
	uint64_t stamp = event_write(&event);

	if (!stamp)
		return 0;
	event_new_floor(stamp);
	return __atomsan_thread.segment = event_segment(stamp, 0);
}

static void write_plain(const void *p, uint64_t length,
			const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS COLD;
static void write_plain(const void *p, uint64_t length,
			const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	struct event event = {.kind = TRACE_ACCESS,
			      .number = rt_module_site(site),
			      .address = (uint64_t)p,
			      .has_value = length != 0,
			      .value = length};

	event_write(&event);
}

INLINE bool ready(void)
{
	if (likely(rt_recording))
		return true;
	rt_thread_off();
	return false;
}

INLINE bool frames_or_segment_due(void)
{
	return __atomsan_thread.top != rt_self.written || __atomsan_thread.low != rt_self.written ||
	       __atomsan_thread.segment == __atomsan_thread.fresh;
}

/* The event of a plain access; one word, if the site's number is small. */
INLINE void write_access(const void *p, const struct atomsan_site *site)
{
	uint64_t number = ((uint64_t)site - rt_numbers.sites_bias) / sizeof *site, *event;

	if (unlikely(number >= rt_numbers.sites_limit || number >= TRACE_ID_MAX)) {
		write_plain(p, 0, site);
		return;
	}
	event = event_take(1);
	if (likely(event != NULL))
		event_store(event, event_word(TRACE_ACCESS, number, (uint64_t)p & SHADOW_FOLD));
}

/* Everything that access_granule() leaves: boundaries, other threads, first touches. */
static void access_any(const void *p, uint64_t mask, bool write, const struct atomsan_site *site)
	ATOMSAN_KEEPS_REGISTERS __attribute__((noinline));
static void access_any(const void *p, uint64_t mask, bool write, const struct atomsan_site *site)
	ATOMSAN_KEEPS_REGISTERS
{
	uint64_t granule = shadow_granule(p);
	unsigned presence = __atomic_load_n(shadow_presence(granule), __ATOMIC_RELAXED);
	uint64_t segment;
	bool younger;

	if (!ready())
		return;
	event_frames();
	segment = current_segment();
	younger = *(uint64_t *)(rt_self.cells + granule) > segment;
	younger |= interfere(granule, write, segment, presence);
	if (unlikely(younger || !segment)) {
		segment = write_stamped(p, 0, site);
		if (segment)
			remember(granule, mask, write, segment, presence);
		return;
	}
	remember(granule, mask, write, segment, presence);
	/* Whoever is present has passed here once: its addresses are of known regions. */
	if (unlikely(!event_region_known((uint64_t)p)))
		write_plain(p, 0, site);
	else
		write_access(p, site);
}

/* An access inside one granule: here what a thread does with its own data inside a segment. */
INLINE void access_granule(const void *p, uint64_t mask, bool write, const struct atomsan_site *site)
{
	uint64_t granule = shadow_granule(p), segment = __atomsan_thread.segment, value;
	uint64_t *cell = (uint64_t *)(rt_self.cells + granule);
	unsigned presence = __atomic_load_n(shadow_presence(granule), __ATOMIC_RELAXED);
	/* Nobody else to look at: for a read nobody else wrote, for a write nobody else was here. */
	bool alone = write ? presence == (rt_self.bit | SHADOW_WROTE(rt_self.bit))
			   : (presence & ~(SHADOW_WROTE(rt_self.bit) | SHADOW_PRESENT)) == 0 &&
				     presence & rt_self.bit;

	value = *cell;
	if (unlikely(!alone || value > segment || frames_or_segment_due())) {
		access_any(p, mask, write, site);
		return;
	}
	if ((value ^ segment) & ATOMSAN_SEGMENT_MASK)
		value = segment & ATOMSAN_SEGMENT_MASK;
	__atomic_store_n(cell, value | mask, __ATOMIC_RELAXED);
	write_access(p, site);
}

/* Bits of the granule's bytes that [p, p + length) covers, from p on. */
INLINE uint64_t bytes_of(uint64_t p, uint64_t length)
{
	uint64_t first = p & 7, count = 8 - first;

	if (count > length)
		count = length;
	return ((1u << count) - 1) << first;
}

INLINE void access_range(const void *start, uint64_t length, bool write, const struct atomsan_site *site,
			 uint64_t value)
{
	uint64_t p = (uint64_t)start, end = p + length;
	uint64_t segment;
	bool younger = false, news = false;

	if (!length || !ready())
		return;
	event_frames();
	segment = current_segment();
	for (uint64_t q = p; q < end; q = (q & ~7ull) + 8) {
		uint64_t granule = shadow_granule((void *)q), bytes = bytes_of(q, end - q);
		uint64_t cell = *(uint64_t *)(rt_self.cells + granule);
		uint64_t mask = bytes << (write ? ATOMSAN_WRITE_BITS : ATOMSAN_READ_BITS);
		unsigned presence;

		if (!((cell ^ segment) & (ATOMSAN_SEGMENT_MASK | mask)))
			continue;
		news = true;
		presence = __atomic_load_n(shadow_presence(granule), __ATOMIC_RELAXED);
		if (interfere(granule, write, segment, presence) | (cell > segment))
			younger = true;
	}
	if (!news && rt_options.filter)
		return;
	if (younger || !segment)
		segment = write_stamped(start, value, site);
	else
		write_plain(start, value, site);
	if (!segment)
		return;
	for (uint64_t q = p; q < end; q = (q & ~7ull) + 8) {
		uint64_t granule = shadow_granule((void *)q), bytes = bytes_of(q, end - q);

		remember(granule, bytes << (write ? ATOMSAN_WRITE_BITS : ATOMSAN_READ_BITS), write, segment,
			 __atomic_load_n(shadow_presence(granule), __ATOMIC_RELAXED));
	}
}

/* `kinds` repeats a byte's bit for reading, for writing or for both. */
#define HOOK(name, size, kinds)                                                                            \
	EXPORT ATOMSAN_HOOK name##size(const void *p, const struct atomsan_site *site)                     \
	{                                                                                                  \
		access_granule(p, (((1u << (size)) - 1) << ((uint64_t)p & 7)) * (kinds), (kinds) != READS, \
			       site);                                                                      \
	}
enum { READS = 1 << ATOMSAN_READ_BITS, WRITES = 1 << ATOMSAN_WRITE_BITS };
HOOK(__atomsan_read, 1, READS)
HOOK(__atomsan_read, 2, READS)
HOOK(__atomsan_read, 4, READS)
HOOK(__atomsan_read, 8, READS)
HOOK(__atomsan_write, 1, WRITES)
HOOK(__atomsan_write, 2, WRITES)
HOOK(__atomsan_write, 4, WRITES)
HOOK(__atomsan_write, 8, WRITES)
HOOK(__atomsan_update, 1, READS | WRITES)
HOOK(__atomsan_update, 2, READS | WRITES)
HOOK(__atomsan_update, 4, READS | WRITES)
HOOK(__atomsan_update, 8, READS | WRITES)

EXPORT ATOMSAN_HOOK __atomsan_read16(const void *p, const struct atomsan_site *site)
{
	access_range(p, 16, false, site, 0);
}

EXPORT ATOMSAN_HOOK __atomsan_write16(const void *p, const struct atomsan_site *site)
{
	access_range(p, 16, true, site, 0);
}

/* The event carries the length only where the site does not know it. */
INLINE uint64_t length_to_say(uint64_t length, const struct atomsan_site *site)
{
	return site->flags & ATOMSAN_SITE_RANGE ? length : 0;
}

EXPORT ATOMSAN_HOOK __atomsan_read_range(const void *p, uint64_t length, const struct atomsan_site *site)
{
	if (rt_self.number != RT_NO_THREAD)
		access_range(p, length, false, site, length_to_say(length, site));
}

EXPORT ATOMSAN_HOOK __atomsan_write_range(const void *p, uint64_t length, const struct atomsan_site *site)
{
	if (rt_self.number != RT_NO_THREAD)
		access_range(p, length, true, site, length_to_say(length, site));
}

INLINE void access_lanes(const char *p, uint64_t lanes, uint64_t size, bool write,
			 const struct atomsan_site *site)
{
	if (rt_self.number == RT_NO_THREAD)
		return;
	/* Neighbouring lanes that are on make one range. */
	for (uint64_t lane = 0; lanes >> lane && lane < 64;) {
		uint64_t first;

		if (!(lanes >> lane & 1)) {
			lane++;
			continue;
		}
		for (first = lane; lane < 64 && lanes >> lane & 1; lane++)
			;
		access_range(p + first * size, (lane - first) * size, write, site, (lane - first) * size);
	}
}

EXPORT ATOMSAN_HOOK __atomsan_read_lanes(const void *p, uint64_t lanes, uint64_t lane_size,
					 const struct atomsan_site *site)
{
	access_lanes(p, lanes, lane_size, false, site);
}

EXPORT ATOMSAN_HOOK __atomsan_write_lanes(const void *p, uint64_t lanes, uint64_t lane_size,
					  const struct atomsan_site *site)
{
	access_lanes(p, lanes, lane_size, true, site);
}

void rt_range(const void *p, uint64_t length, bool write, const struct atomsan_site *site)
{
	if (!rt_on() || !site)
		return;
	/* The call has two sites, for reading and for writing: see watched.inc. */
	if (write)
		access_range(p, length, true, site + 1, length);
	else
		access_range(p, length, false, site, length);
}

EXPORT ATOMSAN_HOOK __atomsan_object(const void *p, uint64_t length, const struct atomsan_site *site)
{
	if (rt_self.number == RT_NO_THREAD || !ready())
		return;
	event_frames();
	write_plain(p, length_to_say(length, site), site);
}

/* After an atomic operation, which has a stamp of its own: only the shadow. */
void access_touch(const void *p, uint64_t length, bool write) ATOMSAN_KEEPS_REGISTERS
{
	uint64_t segment = current_segment();

	for (uint64_t q = (uint64_t)p, end = q + length; q < end; q = (q & ~7ull) + 8) {
		uint64_t granule = shadow_granule((void *)q);
		unsigned presence = __atomic_load_n(shadow_presence(granule), __ATOMIC_RELAXED);

		interfere(granule, write, segment, presence);
		/* No bits: the next plain access of this thread is news. */
		remember(granule, 0, write, segment, presence);
	}
}
