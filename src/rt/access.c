/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accesses that the inlined comparison did not recognise as already recorded.
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
#include "rt/event_inl.h"
#include "rt/scheduler.h"
#include "rt/sections.h"
#include "rt/watch.h"

/* A byte's bit times these is its bits in a cell. */
enum { READS = 1 << ATOMSAN_READ_BITS, WRITES = 1 << ATOMSAN_WRITE_BITS };

/* The thread's segment, a new one if a boundary was passed; 0 if a stamp is needed first. */
INLINE uint64_t current_segment(void)
{
	uint64_t segment = __atomsan_thread.segment;

	if (likely(segment != __atomsan_thread.fresh))
		return segment;
	if (unlikely(++rt_self.sub >= SHADOW_SUBS))
		return 0;
	segment = event_segment(rt_self.stamp, rt_self.sub);
	__atomsan_thread.segment = segment;
	rt_self.segment_start = rt_self.next;
	return segment;
}

/*
 * Readers share a cell to keep what they have recorded while others read, too.
 * That pays where a segment is long. In a short one, a critical section say,
 * hardly anything is read again before it ends, and the readers' cells would
 * only be memory to fetch: the cell goes from hand to hand.
 */
INLINE bool short_segment(void)
{
	/* A new window makes the difference negative: then it was long. */
	return rt_self.next - rt_self.segment_start < 64 * 8;
}

INLINE bool recorded(uint64_t cell, uint64_t segment, uint64_t mask)
{
	return !((cell ^ segment) & (ATOMSAN_SEGMENT_MASK | mask));
}

INLINE bool same_segment(uint64_t cell, uint64_t segment)
{
	return !((cell ^ segment) & ATOMSAN_SEGMENT_MASK);
}

INLINE bool same_thread(uint64_t cell, uint64_t segment)
{
	return !((cell ^ segment) & SHADOW_THREAD_MASK);
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

INLINE void remember(uint64_t granule, uint64_t mask, bool write, uint64_t segment)
{
	uint64_t *cell = shadow_cell(granule), value = *cell;
	uint64_t *reader = shadow_reader(rt_self.slot, granule);
	uint64_t mine = segment & ATOMSAN_SEGMENT_MASK;

	if (same_segment(value, segment)) {
		__atomic_store_n(cell, value | mask, __ATOMIC_RELAXED);
	} else if (unlikely(shadow_is_shared(value))) {
		if (!write) {
			*reader = same_segment(*reader, segment) ? *reader | mask : mine | mask;
			if (!(value >> rt_self.slot & 1))
				__atomic_fetch_or(cell, 1ull << rt_self.slot, __ATOMIC_RELAXED);
			return;
		}
		/* What readers remember is void from here on. */
		for (unsigned slot = 0; slot < ATOMSAN_SLOTS; slot++)
			if (value >> slot & 1)
				__atomic_fetch_and(shadow_reader(slot, granule), ATOMSAN_SEGMENT_MASK,
						   __ATOMIC_RELAXED);
		__atomic_store_n(cell, mine | mask, __ATOMIC_RELAXED);
	} else if (write || !value || value & SHADOW_WRITTEN || same_thread(value, segment) ||
		   short_segment()) {
		__atomic_store_n(cell, mine | mask, __ATOMIC_RELAXED);
	} else {
		/* Another thread only read it, and so do we. */
		*reader = mine | mask;
		__atomic_store_n(cell, (value & SHADOW_STAMP_MASK) | SHADOW_SHARED | 1ull << rt_self.slot,
				 __ATOMIC_RELAXED);
	}
}

/* ---- events ---- */

/*
 * What is at the place that will be accessed now. A prefix has 59 bits; of 8
 * bytes that need more nothing is said.
 */
INLINE bool found_value(const void *p, const struct atomsan_site *site, uint64_t *value)
{
	typedef int64_t __attribute__((aligned(1), may_alias)) any64;
	typedef uint32_t __attribute__((aligned(1), may_alias)) any32;
	typedef uint16_t __attribute__((aligned(1), may_alias)) any16;
	int64_t whole;

	switch (site->size) {
	case 1:
		*value = *(const uint8_t *)p;
		return true;
	case 2:
		*value = *(const any16 *)p;
		return true;
	case 4:
		*value = *(const any32 *)p;
		return true;
	case 8:
		whole = *(const any64 *)p;
		*value = (uint64_t)whole;
		return whole >> 58 == 0 || whole >> 58 == -1;
	}
	return false;
}

INLINE void add_value(struct event *event, const void *p, uint64_t length, const struct atomsan_site *site)
{
	if (unlikely(rt_options.values) && !length && !(site->flags & ATOMSAN_SITE_RANGE))
		event->has_other = found_value(p, site, &event->other);
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
	uint64_t stamp;

	add_value(&event, p, length, site);
	stamp = event_write(&event);

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

	add_value(&event, p, length, site);
	event_write(&event);
}

/* One word, if the site's number is small; the address is of a known region. */
INLINE void write_access(const void *p, const struct atomsan_site *site)
{
	uint64_t number = ((uint64_t)site - rt_numbers.sites_bias) / sizeof *site;
	uint64_t at = 8;

	if (unlikely(number >= rt_numbers.sites_limit)) {
		write_plain(p, 0, site);
		return;
	}
	/* As event_take(1), but without its loop: the rare case starts over elsewhere. */
	__asm__ volatile("xaddq %0, %1" : "+r"(at), "+m"(rt_self.next) : : "memory", "cc");
	if (unlikely(at & RT_WINDOW))
		write_plain(p, 0, site);
	else
		event_store((uint64_t *)at, event_word(TRACE_ACCESS, number, (uint64_t)p & SHADOW_FOLD));
}

INLINE bool ready(void)
{
	if (likely(rt_recording))
		return true;
	if (!rt_watching)
		rt_thread_off();
	return false;
}

/* ---- accesses inside one granule ---- */

/* Everything that access_granule() leaves: boundaries, younger owners, shared cells. */
static void access_any(const void *p, uint64_t mask, bool write,
		       const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS __attribute__((noinline));
static void access_any(const void *p, uint64_t mask, bool write,
		       const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	uint64_t granule = shadow_granule(p), segment;
	unsigned what;

	if (unlikely(rt_self.sched)) {
		uint64_t bytes = (mask | mask >> ATOMSAN_WRITE_BITS) & 0xff;

		sched_access(p, (uint64_t)__builtin_popcountll(bytes),
			     (mask & 0xff ? READS : 0) | (write ? WRITES : 0), site);
	}
	if (!ready())
		return;
	event_frames();
	segment = current_segment();
	what = look(granule, mask, write, segment);
	if (what == KNOWN && rt_options.filter)
		return;
	if (unlikely(what & YOUNGER || !segment)) {
		segment = write_stamped(p, 0, site);
		if (segment)
			remember(granule, mask, write, segment);
		return;
	}
	remember(granule, mask, write, segment);
	if (unlikely(!event_region_known((uint64_t)p)))
		write_plain(p, 0, site);
	else
		write_access(p, site);
}

INLINE bool frames_or_segment_due(void)
{
	uint64_t written = (uint64_t)rt_self.written;

	/* Who is scheduled goes the long way, always. */
	return ((uint64_t)__atomsan_thread.top ^ written) | ((uint64_t)__atomsan_thread.low ^ written) |
	       (__atomsan_thread.segment == __atomsan_thread.fresh) | (uint64_t)rt_self.sched;
}

/* A read of what several threads only read, which the inlined code does not know of. */
INLINE bool access_shared(const void *p, uint64_t mask, uint64_t value, const struct atomsan_site *site)
{
	uint64_t segment = __atomsan_thread.segment;
	uint64_t *reader = shadow_reader(rt_self.slot, shadow_granule(p)), mine = *reader;

	if (recorded(mine, segment, mask) && likely(rt_options.filter))
		return true;
	if (unlikely(value > segment || !(value >> rt_self.slot & 1) || frames_or_segment_due()))
		return false;
	*reader = same_segment(mine, segment) ? mine | mask : (segment & ATOMSAN_SEGMENT_MASK) | mask;
	write_access(p, site);
	return true;
}

/* The usual cases, in few registers: the cell is ours, or to be taken over as in remember(). */
INLINE void access_granule(const void *p, uint64_t mask, bool write, const struct atomsan_site *site)
{
	uint64_t segment = __atomsan_thread.segment;
	uint64_t *cell = shadow_cell(shadow_granule(p)), value = *cell;

	if (!write && shadow_is_shared(value)) {
		if (!access_shared(p, mask, value, site))
			access_any(p, mask, write, site);
		return;
	}
	/* An untouched cell: access_any() sees whether the address is of a known region. */
	if (unlikely(!value || value > segment || frames_or_segment_due()) ||
	    (write && shadow_is_shared(value))) {
		access_any(p, mask, write, site);
		return;
	}
	if (!same_segment(value, segment)) {
		if (!(write || value & SHADOW_WRITTEN || same_thread(value, segment) || short_segment())) {
			access_any(p, mask, write, site);
			return;
		}
		value = segment & ATOMSAN_SEGMENT_MASK;
	}
	__atomic_store_n(cell, value | mask, __ATOMIC_RELAXED);
	write_access(p, site);
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

#define HOOK(name, size, kinds)                                                                            \
	EXPORT ATOMSAN_HOOK name##size(const void *p, const struct atomsan_site *site)                     \
	{                                                                                                  \
		if (watched(p, size, kinds, site))                                                         \
			return;                                                                            \
		if (unlikely(rt_watching)) {                                                               \
			/* Who watches is called for all accesses, also those that are recorded. */        \
			access_any(p, (((1u << (size)) - 1) << ((uint64_t)p & 7)) * (kinds),               \
				   (kinds) != READS, site);                                                \
			return;                                                                            \
		}                                                                                          \
		access_granule(p, (((1u << (size)) - 1) << ((uint64_t)p & 7)) * (kinds), (kinds) != READS, \
			       site);                                                                      \
	}
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

EXPORT ATOMSAN_HOOK __atomsan_store(const void *p)
{
	if (unlikely(rt_watching))
		watch_store(p);
	if (rt_self.sched)
		sched_store(p);
}

/* ---- ranges ---- */

/* Bits of the granule's bytes that [p, p + length) covers, from p on. */
INLINE uint64_t bytes_of(uint64_t p, uint64_t length)
{
	uint64_t first = p & 7, count = 8 - first;

	if (count > length)
		count = length;
	return ((1u << count) - 1) << first;
}

/* Are all whole granules of [p, end) recorded in these cells? Both ends are aligned. */
INLINE bool granules_recorded(const uint64_t *cell, uint64_t count, uint64_t kinds)
{
	uint64_t segment = __atomsan_thread.segment, off = 0;

	for (; count >= 4; cell += 4, count -= 4)
		off |= (cell[0] ^ segment) | (cell[1] ^ segment) | (cell[2] ^ segment) | (cell[3] ^ segment);
	while (count--)
		off |= *cell++ ^ segment;
	return !(off & (ATOMSAN_SEGMENT_MASK | 0xff * kinds));
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

		if (!recorded(*shadow_cell(granule), segment, mask) &&
		    !(kinds == READS && recorded(*shadow_reader(rt_self.slot, granule), segment, mask)))
			return false;
		p = (p & ~7ull) + 8;
		if (p >= end)
			return true;
		granule += 8;
	}
	if (end & 7) {
		uint64_t last = shadow_granule((void *)end), mask = ((1u << (end & 7)) - 1) * kinds;

		if (!recorded(*shadow_cell(last), segment, mask) &&
		    !(kinds == READS && recorded(*shadow_reader(rt_self.slot, last), segment, mask)))
			return false;
	}
	return granules_recorded(shadow_cell(granule), (end - p) / 8, kinds) ||
	       (kinds == READS &&
		granules_recorded(shadow_reader(rt_self.slot, granule), (end - p) / 8, kinds));
}

/* As access_granule(), for one granule of a range. False: this one needs care. */
INLINE bool range_step(uint64_t granule, uint64_t mask, bool write, uint64_t segment, bool *news)
{
	uint64_t *cell = shadow_cell(granule), value = *cell;

	if (recorded(value, segment, mask))
		return true;
	if (!write && shadow_is_shared(value)) {
		uint64_t *reader = shadow_reader(rt_self.slot, granule), mine = *reader;

		if (recorded(mine, segment, mask))
			return true;
		if (value > segment || !(value >> rt_self.slot & 1))
			return false;
		*reader = same_segment(mine, segment) ? mine | mask : (segment & ATOMSAN_SEGMENT_MASK) | mask;
		*news = true;
		return true;
	}
	if (value > segment || shadow_is_shared(value))
		return false;
	if (!same_segment(value, segment)) {
		if (!(write || !value || value & SHADOW_WRITTEN || same_thread(value, segment) ||
		      short_segment()))
			return false;
		value = segment & ATOMSAN_SEGMENT_MASK;
	}
	__atomic_store_n(cell, value | mask, __ATOMIC_RELAXED);
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

	for (uint64_t q = p; q < end; q = (q & ~7ull) + 8)
		what |= look(shadow_granule((void *)q), bytes_of(q, end - q) * kinds, write, segment);
	if (what == KNOWN && !news && rt_options.filter)
		return;
	if (what & YOUNGER || !segment)
		segment = write_stamped((void *)p, value, site);
	else
		write_plain((void *)p, value, site);
	if (!segment)
		return;
	for (uint64_t q = p; q < end; q = (q & ~7ull) + 8)
		remember(shadow_granule((void *)q), bytes_of(q, end - q) * kinds, write, segment);
}

/* Who is told beside the trace: everybody, not who watches accesses as they happen, nobody. */
enum told { POINT, PAST, QUIET };

/* `value` is the length to be told, 0 if the site knows it. */
INLINE void access_range(const void *start, uint64_t length, uint64_t kinds, const struct atomsan_site *site,
			 uint64_t value, enum told told)
{
	uint64_t p = (uint64_t)start, segment;
	bool news = false;

	if (told == POINT && watched(start, length, kinds, site))
		return;
	/* A thread that is off has no place in the shadow. */
	if (!length || __atomsan_thread.segment == ~0ull)
		return;
	/* Long ranges are looked over first, which is quick; short ones are as soon done. */
	if (frames_or_segment_due() || length >= 64) {
		if (range_recorded(p, length, kinds) && likely(rt_options.filter))
			return;
		if (told != QUIET && unlikely(rt_self.sched))
			sched_access(start, length, kinds, site);
		if (!ready())
			return;
		event_frames();
	}
	segment = current_segment();
	if (unlikely(!segment || !event_region_known(p) || !range_pass(p, p + length, kinds, segment, &news)))
		range_with_care(p, length, kinds, site, value, segment, news);
	else if (!news && likely(rt_options.filter))
		return;
	else if (value)
		write_plain(start, value, site);
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

INLINE uint64_t length_to_say(uint64_t length, const struct atomsan_site *site)
{
	return site->flags & ATOMSAN_SITE_RANGE ? length : 0;
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
	EXPORT ATOMSAN_HOOK name(const void *p, uint64_t length, const struct atomsan_site *site)        \
	{                                                                                                \
		if (rt_watching != WATCH_RACE || watch_wanted() || rt_recording)                         \
			name##_slow(p, length, site);                                                    \
	}
RANGE_HOOK(__atomsan_read_range, READS)
RANGE_HOOK(__atomsan_write_range, WRITES)

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

void rt_range(const void *p, uint64_t length, bool write, const struct atomsan_site *site)
{
	if (!watch_or_record() || !site || (!rt_recording && watch_self.streams))
		return;
	/* The call has two sites, for reading and for writing: see watched.inc. */
	if (write)
		access_range(p, length, WRITES, site + 1, length, POINT);
	else if (unlikely(watch_self.streams))
		access_range(p, length, READS, site, length, PAST);
	else
		access_range(p, length, READS, site, length, POINT);
}

void rt_range_past(const void *p, uint64_t length, const struct atomsan_site *site)
{
	if (rt_on() && site)
		access_range(p, length, WRITES, site + 1, length, PAST);
}

/* ---- what is no access ---- */

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

	/* No bits: the next plain access of this thread is news. */
	for (uint64_t q = (uint64_t)p, end = q + length; q < end; q = (q & ~7ull) + 8)
		remember(shadow_granule((void *)q), 0, write, segment);
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
