/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Accesses of any length: what loops and libc do, and what is longer than a granule; see access_inl.h. */
#include "rt/access_inl.h"
#include "rt/brisk.h"
#include "rt/constants.h"
#include "rt/scan.h"
#include "rt/scheduler.h"

/* Bits of the granule's bytes that [p, p + length) covers, from p on. */
INLINE uint64_t bytes_of(uint64_t p, uint64_t length)
{
	uint64_t first = p & 7, count = 8 - first;

	if (count > length)
		count = length;
	return ((1u << count) - 1) << first;
}

/* Are these granules, whole, recorded in these cells? The first one mostly tells. */
INLINE bool granules_recorded(const uint64_t *cell, uint64_t count, uint64_t kinds)
{
	uint64_t segment = __atomsan_thread.segment, mask = ATOMSAN_SEGMENT_MASK | 0xff * kinds;

	if (!count)
		return true;
	return !((cell[0] ^ segment) & mask) && !(scan_differences(cell, count, segment) & mask);
}

/* Where nobody shares, readers' cells are memory that was never touched. */
INLINE bool bytes_recorded(uint64_t granule, uint64_t mask, uint64_t kinds, uint64_t segment)
{
	uint64_t cell = *shadow_cell(granule);

	return recorded(cell, segment, mask) ||
	       (kinds == READS && shadow_is_shared(cell) &&
		recorded(*shadow_reader(rt_self.slot, granule), segment, mask));
}

/*
 * Is there nothing new in a range? What a reader's cell says holds by itself: a
 * write clears it.
 */
INLINE bool range_recorded(uint64_t p, uint64_t length, uint64_t kinds)
{
	uint64_t segment = __atomsan_thread.segment, granule = shadow_granule((void *)p);
	uint64_t end = p + length;

	if (p & 7) {
		uint64_t mask = bytes_of(p, length) * kinds;

		if (!bytes_recorded(granule, mask, kinds, segment))
			return false;
		p = (p & ~7ull) + 8;
		if (p >= end)
			return true;
		granule += 8;
	}
	if (end & 7) {
		uint64_t last = shadow_granule((void *)end), mask = ((1u << (end & 7)) - 1) * kinds;

		if (!bytes_recorded(last, mask, kinds, segment))
			return false;
	}
	if (granules_recorded(shadow_cell(granule), (end - p) / 8, kinds))
		return true;
	return kinds == READS && shadow_is_shared(*shadow_cell(granule)) &&
	       granules_recorded(shadow_reader(rt_self.slot, granule), (end - p) / 8, kinds);
}

/* As access_granule(), for one granule of a range. False: this one needs care. */
INLINE bool range_step(uint64_t granule, uint64_t mask, bool write, uint64_t segment, bool *news)
{
	uint64_t *cell = shadow_cell(granule), was = *cell, value = was;

	if (recorded(value, segment, mask))
		return true;
	if (entire_knows(value, segment, mask)) {
		renew_cell(cell, was, segment, write);
		return true;
	}
	if (!write && shadow_is_shared(value)) {
		uint64_t *reader = shadow_reader(rt_self.slot, granule), mine = *reader;

		if (recorded(mine, segment, mask))
			return true;
		if (entire_knows(mine, segment, mask)) {
			*reader = renewed(mine, segment);
			return true;
		}
		if (value > segment || !(value >> rt_self.slot & 1) || unmet_cares(mine, segment))
			return false;
		*reader = (same_segment(mine, segment) ? mine : entire_rest(mine, segment)) | mask;
		*news = true;
		return true;
	}
	if (value > segment || shadow_is_shared(value))
		return false;
	if (unlikely(!value))
		shadow_untouched(granule);
	if (!same_segment(value, segment)) {
		if (!(write || !value || taken_over(value, segment)) ||
		    (value && unmet_cares(value, segment)))
			return false;
		value = entire_rest(value, segment);
	}
	rt_self.call.wrote |= write;
	take_cell(cell, value | mask, write);
	*news = true;
	return true;
}

/* The whole range in one pass. False: somewhere it needs care, and the careful way starts over;
 * what was noted down until then is news to it no more, so the event is due in any case. */
INLINE bool range_pass(uint64_t p, uint64_t end, uint64_t kinds, uint64_t segment, bool *news)
{
	bool write = kinds != READS;
	uint64_t granule = shadow_granule((void *)p), last;

	if (p & 7) {
		if (!range_step(granule, bytes_of(p, end - p) * kinds, write, segment, news))
			return false;
		p = (p & ~7ull) + 8;
		granule += 8;
		if (p >= end)
			return true;
	}
	for (last = granule + ((end - p) & ~7ull); granule < last; granule += 8)
		if (!range_step(granule, 0xff * kinds, write, segment, news))
			return false;
	return !(end & 7) || range_step(granule, ((1u << (end & 7)) - 1) * kinds, write, segment, news);
}

static void range_with_care(uint64_t p, uint64_t length, uint64_t kinds, const struct atomsan_site *site,
			    uint64_t value, uint64_t segment, bool news) ATOMSAN_KEEPS_REGISTERS COLD;
static void range_with_care(uint64_t p, uint64_t length, uint64_t kinds, const struct atomsan_site *site,
			    uint64_t value, uint64_t segment, bool news) ATOMSAN_KEEPS_REGISTERS
{
	uint64_t end = p + length;
	bool write = kinds != READS;
	unsigned what = KNOWN;

	if (unlikely(unmet_on) && unmet_silent) {
		for (uint64_t q = p; q < end; q = (q & ~7ull) + 8)
			unmet_speak_for(shadow_granule((void *)q), write, site);
		segment = event_current_segment();
	}
	for (uint64_t q = p; q < end; q = (q & ~7ull) + 8)
		what |= look(shadow_granule((void *)q), bytes_of(q, end - q) * kinds, write, segment);
	if (what == KNOWN && !news && rt_options.filter)
		return;
	if (what & YOUNGER || !segment)
		segment = access_write_stamped((void *)p, value, site);
	else
		access_write_plain((void *)p, value, site);
	if (!segment)
		return;
	for (uint64_t q = p; q < end; q = (q & ~7ull) + 8)
		remember(shadow_granule((void *)q), bytes_of(q, end - q) * kinds, write, segment);
}

/* ---- ranges that lie in one granule or two: most do ---- */

INLINE bool pair_fits(const void *p, uint64_t length)
{
	return ((uint64_t)p & 7) + length <= 16;
}

INLINE uint64_t pair_bytes(const void *p, uint64_t length)
{
	return ((1ull << length) - 1) << ((uint64_t)p & 7);
}

/* As inlined code finds it. */
INLINE uint64_t *pair_cells(const void *p)
{
	return (uint64_t *)(__atomsan_thread.shadow_base + ((uint64_t)p & __atomsan_thread.shadow_mask));
}

/* Is there nothing new in it? */
INLINE bool pair_recorded(const uint64_t *cells, uint64_t bytes, uint64_t kinds)
{
	uint64_t segment = __atomsan_thread.segment;

	return recorded(cells[0], segment, (bytes & 0xff) * kinds) &&
	       (bytes < 0x100 || recorded(cells[1], segment, (bytes >> 8) * kinds));
}

/* Are its granules known as a whole? That is sooner seen. */
INLINE bool pair_whole(const void *p, uint64_t length, uint64_t kinds)
{
	uint64_t segment = __atomsan_thread.segment, first = *pair_cells(p) ^ segment;
	uint64_t last = *pair_cells((const char *)p + length - 1) ^ segment;

	return !((first | last) & (ATOMSAN_SEGMENT_MASK | 0xff * kinds));
}

/* What a cell becomes, as in access_granule(); 0: it needs care. */
INLINE uint64_t pair_step(uint64_t value, uint64_t bytes, uint64_t kinds, uint64_t segment)
{
	if (unlikely(value > segment))
		return 0;
	if (!same_segment(value, segment)) {
		if (unlikely(shadow_is_shared(value)) ||
		    (kinds == READS && value && !taken_over(value, segment)) ||
		    (value && unmet_cares(value, segment)))
			return 0;
		value = entire_rest(value, segment);
	}
	return value | bytes * kinds;
}

/* Was it known, if not in this segment? Then it is from now on. */
INLINE bool pair_known(uint64_t *cells, uint64_t bytes, uint64_t kinds, uint64_t segment)
{
	uint64_t was[2] = {cells[0], bytes >= 0x100 ? cells[1] : cells[0]};

	if (!entire_knows(was[0], segment, (bytes & 0xff) * kinds) ||
	    (bytes >= 0x100 && !entire_knows(was[1], segment, (bytes >> 8) * kinds)))
		return false;
	renew_cell(&cells[0], was[0], segment, kinds != READS);
	if (bytes >= 0x100)
		renew_cell(&cells[1], was[1], segment, kinds != READS);
	return true;
}

/* The usual cases. False: nothing is done yet, and the long way must be gone. */
INLINE bool pair_access(const void *p, uint64_t length, uint64_t kinds, const struct atomsan_site *site,
			uint64_t value)
{
	uint64_t *cells = pair_cells(p), bytes, segment, first, second = 0, was[2];

	if (unlikely(rt_watching || !rt_options.filter || !length) || !pair_fits(p, length))
		return false;
	bytes = pair_bytes(p, length);
	if (pair_recorded(cells, bytes, kinds))
		return true;
	if (unlikely(frames_or_segment_due()) && !event_catch_up())
		return false;
	segment = __atomsan_thread.segment;
	if (unlikely(rt_self.known != ~0ull) && pair_known(cells, bytes, kinds, segment))
		return true;
	was[0] = cells[0];
	first = pair_step(was[0], bytes & 0xff, kinds, segment);
	was[1] = bytes >= 0x100 ? cells[1] : 0;
	if (bytes >= 0x100)
		second = pair_step(was[1], bytes >> 8, kinds, segment);
	if (unlikely(!first || (bytes >= 0x100 && !second)))
		return false;
	/* What is filled for the first time comes by untouched cells all the time. */
	if (!was[0] || (second && !was[1])) {
		if (unlikely(!event_region_known((uint64_t)p)))
			return false;
		shadow_untouched(shadow_granule(p) + (was[0] ? 8 : 0));
	}
	if (kinds != READS)
		rt_self.call.wrote = true;
	take_cell(&cells[0], first, kinds != READS);
	if (second)
		take_cell(&cells[1], second, kinds != READS);
	if (value)
		write_access_length(p, value, site);
	else
		write_access(p, site);
	return true;
}

/* ---- of any length ---- */

/* Who is told beside the trace: everybody, not who watches accesses as they happen, nobody. */
enum told { POINT, PAST, QUIET };

/* `value` is the length to be told, 0 if the site knows it. */
INLINE void access_range(const void *start, uint64_t length, uint64_t kinds, const struct atomsan_site *site,
			 uint64_t value, enum told told)
{
	uint64_t p = (uint64_t)start, segment;
	bool news = false, due;

	if (told == POINT && watched(start, length, kinds, site))
		return;
	/* A thread that is off has no place in the shadow. */
	if (!length || __atomsan_thread.segment == ~0ull)
		return;
	/* Long ranges are looked over first, which is quick; short ones are as soon done. In a segment that
	 * is still to begin nothing is recorded. */
	due = frames_or_segment_due();
	if ((due || length >= 64) && __atomsan_thread.segment != __atomsan_thread.fresh &&
	    range_recorded(p, length, kinds) && likely(rt_options.filter))
		return;
	if (due && unlikely(!event_catch_up())) {
		if (told != QUIET && unlikely(rt_self.sched))
			sched_access(start, length, kinds, site);
		if (!ready())
			return;
		event_frames();
	}
	segment = event_current_segment();
	if (unlikely(!segment || !event_region_known(p) || !range_pass(p, p + length, kinds, segment, &news)))
		range_with_care(p, length, kinds, site, value, segment, news);
	else if (!news && likely(rt_options.filter))
		return;
	else if (value)
		write_access_length(start, value, site);
	else
		write_access(start, site);
}

EXPORT ATOMSAN_HOOK __atomsan_read16(const void *p, const struct atomsan_site *site)
{
	access_range(p, 16, READS, site, 0, POINT);
}

EXPORT ATOMSAN_HOOK __atomsan_write16(const void *p, const struct atomsan_site *site)
{
	access_range(p, 16, WRITES, site, 0, POINT);
}

/* Where races alone are looked for there is mostly nothing to do, and that is found out in two registers. */
#define RANGE_HOOK(name, kinds)                                                                          \
	static ATOMSAN_HOOK name##_slow(const void *p, uint64_t length, const struct atomsan_site *site) \
		__attribute__((noinline));                                                               \
	static ATOMSAN_HOOK name##_slow(const void *p, uint64_t length, const struct atomsan_site *site) \
	{                                                                                                \
		access_range(p, length, kinds, site, length_to_say(length, site), POINT);                \
	}                                                                                                \
                                                                                                         \
	static ATOMSAN_HOOK name##_any(const void *p, uint64_t length, const struct atomsan_site *site)  \
		__attribute__((noinline));                                                               \
	static ATOMSAN_HOOK name##_any(const void *p, uint64_t length, const struct atomsan_site *site)  \
	{                                                                                                \
		if (!pair_access(p, length, kinds, site, length_to_say(length, site)))                   \
			name##_slow(p, length, site);                                                    \
	}                                                                                                \
                                                                                                         \
	ATOMSAN_HOOK name(const void *p, uint64_t length, const struct atomsan_site *site)               \
	{                                                                                                \
		if (rt_watching == WATCH_RACE && !watch_wanted() && !rt_recording)                       \
			return;                                                                          \
		if (pair_fits(p, length))                                                                \
			name##_any(p, length, site);                                                     \
		else                                                                                     \
			name##_slow(p, length, site);                                                    \
	}
RANGE_HOOK(access_read_range, READS)
RANGE_HOOK(access_write_range, WRITES)

EXPORT ATOMSAN_HOOK __atomsan_read_range(const void *p, uint64_t length, const struct atomsan_site *site)
{
	access_read_range(p, length, site);
}

EXPORT ATOMSAN_HOOK __atomsan_write_range(const void *p, uint64_t length, const struct atomsan_site *site)
{
	access_write_range(p, length, site);
}

ATOMSAN_HOOK access_full_range(const void *p, uint64_t length, const struct atomsan_site *site)
{
	access_write_plain(p, 0, site);
}

/*
 * What a loop did is told when it is over. That it was about to be done was no news
 * to anybody: who is scheduled or watched does not come here. A single step is
 * written as the access that it was. Short ones that are known need few registers.
 */
#define STEPS_HOOK(name, kinds)                                                                          \
	static ATOMSAN_HOOK name##_slow(const void *p, uint64_t length, const struct atomsan_site *site) \
		__attribute__((noinline));                                                               \
	static ATOMSAN_HOOK name##_slow(const void *p, uint64_t length, const struct atomsan_site *site) \
	{                                                                                                \
		access_range(p, length, kinds, site, length == site->size ? 0 : length, QUIET);          \
	}                                                                                                \
                                                                                                         \
	static ATOMSAN_HOOK name##_any(const void *p, uint64_t length, const struct atomsan_site *site)  \
		__attribute__((noinline));                                                               \
	static ATOMSAN_HOOK name##_any(const void *p, uint64_t length, const struct atomsan_site *site)  \
	{                                                                                                \
		if (!pair_access(p, length, kinds, site, length == site->size ? 0 : length))             \
			name##_slow(p, length, site);                                                    \
	}                                                                                                \
                                                                                                         \
	EXPORT ATOMSAN_HOOK name(const void *p, uint64_t length, const struct atomsan_site *site)        \
	{                                                                                                \
		if (!pair_fits(p, length) || !pair_whole(p, length, kinds))                              \
			name##_any(p, length, site);                                                     \
	}
STEPS_HOOK(__atomsan_read_steps, READS)
STEPS_HOOK(__atomsan_write_steps, WRITES)

INLINE void access_lanes(const char *p, uint64_t lanes, uint64_t size, uint64_t kinds,
			 const struct atomsan_site *site)
{
	/* Neighbouring lanes that are on make one range. */
	for (uint64_t lane = 0; lane < 64 && lanes >> lane;) {
		uint64_t first;

		if (!(lanes >> lane & 1)) {
			lane++;
			continue;
		}
		for (first = lane; lane < 64 && lanes >> lane & 1; lane++)
			;
		access_range(p + first * size, (lane - first) * size, kinds, site, (lane - first) * size,
			     POINT);
	}
}

EXPORT ATOMSAN_HOOK __atomsan_read_lanes(const void *p, uint64_t lanes, uint64_t lane_size,
					 const struct atomsan_site *site)
{
	access_lanes(p, lanes, lane_size, READS, site);
}

EXPORT ATOMSAN_HOOK __atomsan_write_lanes(const void *p, uint64_t lanes, uint64_t lane_size,
					  const struct atomsan_site *site)
{
	access_lanes(p, lanes, lane_size, WRITES, site);
}

static void range_told(const void *p, uint64_t length, bool write, const struct atomsan_site *site)
	__attribute__((noinline));
static void range_told(const void *p, uint64_t length, bool write, const struct atomsan_site *site)
{
	/* The call has two sites, for reading and for writing: see watched.inc. */
	if (write)
		access_range(p, length, WRITES, site + 1, length, POINT);
	else if (unlikely(watch_self.streams))
		access_range(p, length, READS, site, length, PAST);
	else
		access_range(p, length, READS, site, length, POINT);
}

static void range_call(const void *p, uint64_t length, bool write, const struct atomsan_site *site)
	__attribute__((noinline));
static void range_call(const void *p, uint64_t length, bool write, const struct atomsan_site *site)
{
	if (!watch_or_record() || !site || (!rt_recording && watch_self.streams))
		return;
	if (write ? pair_access(p, length, WRITES, site + 1, length)
		  : constants_have(p) || pair_access(p, length, READS, site, length))
		return;
	range_told(p, length, write, site);
}

/* What is compared is mostly known, and that is found out in few registers. A thread that records nothing
 * knows all. */
void rt_range(const void *p, uint64_t length, bool write, const struct atomsan_site *site)
{
	if (likely(!rt_watching && rt_options.filter && length && pair_fits(p, length)) &&
	    pair_recorded(pair_cells(p), pair_bytes(p, length), write ? WRITES : READS))
		return;
	range_call(p, length, write, site);
}

void rt_range_past(const void *p, uint64_t length, const struct atomsan_site *site)
{
	if (rt_on() && site)
		access_range(p, length, WRITES, site + 1, length, PAST);
}

/*
 * A relaxed load orders nothing, so it is recorded as reads are: not again in
 * the same segment unless somebody wrote since. The stripe that its caller
 * holds keeps atomic writes out, which draw a stamp and take the cell over, so
 * its place among them is exact.
 */
void access_relaxed_load(const void *p, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	access_range(p, site->size, READS, site, 0, QUIET);
}
