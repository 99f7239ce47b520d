/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Accesses inside one granule, and how an access is written; see access_inl.h. */
#include "rt/access_inl.h"
#include "rt/brisk.h"
#include "rt/follow.h"
#include "rt/scheduler.h"

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

uint64_t access_write_stamped(const void *p, uint64_t length,
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

void access_write_plain(const void *p, uint64_t length,
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

/* ---- accesses inside one granule ---- */

/* The bits in its cell of an access that is aligned to its size. */
INLINE uint64_t granule_mask(const void *p, unsigned size, uint64_t kinds)
{
	return (((1u << size) - 1) << ((uint64_t)p & (8 - size))) * kinds;
}

/* Has the thread lost its place in a cell to another reader? Then both get one. */
void access_sure(void) ATOMSAN_KEEPS_REGISTERS
{
	uint32_t count = rt_self.unsure.count < RT_UNSURE ? rt_self.unsure.count : RT_UNSURE;
	uint64_t segment = event_segment(rt_self.stamp, rt_self.sub);

	rt_self.unsure.count = 0;
	if (!unmet_on || !rt_recording)
		return;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t mask = rt_self.unsure.cells[i] >> 56;
		uint64_t cell = rt_self.unsure.cells[i] << 8 >> 8;
		uint64_t value = __atomic_load_n((uint64_t *)cell, __ATOMIC_RELAXED);
		bool there =
			shadow_is_shared(value) ? value >> rt_self.slot & 1 : same_thread(value, segment);

		if (unlikely(!there))
			remember(cell - SHADOW_CELLS, mask * READS, false, segment);
	}
}

/* Boundaries, younger owners, shared cells. What is known is written if nothing is to be filtered. */
INLINE void access_record(const void *p, uint64_t mask, bool write, const struct atomsan_site *site,
			  bool filtered)
{
	uint64_t granule = shadow_granule(p), segment;
	unsigned what;

	if (!ready())
		return;
	event_frames();
	if (unlikely(unmet_on) && unmet_silent)
		unmet_speak_for(granule, write, site);
	segment = event_current_segment();
	what = look(granule, mask, write, segment);
	if (what == KNOWN && filtered)
		return;
	if (unlikely(what & YOUNGER || !segment)) {
		segment = access_write_stamped(p, 0, site);
		if (segment)
			remember(granule, mask, write, segment);
		return;
	}
	remember(granule, mask, write, segment);
	if (unlikely(!event_region_known((uint64_t)p)))
		access_write_plain(p, 0, site);
	else
		write_access(p, site);
}

/* Everything that access_granule() leaves. */
INLINE void access_any(const void *p, uint64_t mask, bool write, const struct atomsan_site *site)
{
	if (unlikely(rt_self.sched)) {
		uint64_t bytes = (mask | mask >> ATOMSAN_WRITE_BITS) & 0xff;

		sched_access(p, (uint64_t)__builtin_popcountll(bytes),
			     (mask & 0xff ? READS : 0) | (write ? WRITES : 0), site);
	}
	access_record(p, mask, write, site, rt_options.filter);
}

/* A read of what several threads only read, which the inlined code does not know of. */
INLINE bool access_shared(const void *p, uint64_t mask, uint64_t value, const struct atomsan_site *site)
{
	uint64_t segment = __atomsan_thread.segment;
	uint64_t *reader = shadow_reader(rt_self.slot, shadow_granule(p)), mine = *reader;

	if (recorded(mine, segment, mask) && likely(rt_options.filter))
		return true;
	if (entire_knows(mine, segment, mask) && segment != __atomsan_thread.fresh) {
		*reader = renewed(mine, segment);
		return true;
	}
	if (unlikely(value > segment || !(value >> rt_self.slot & 1) || frames_or_segment_due() ||
		     unmet_cares(mine, segment)))
		return false;
	*reader = (same_segment(mine, segment) ? mine : entire_rest(mine, segment)) | mask;
	write_access(p, site);
	return true;
}

/*
 * The usual cases, in few registers: the cell is ours, or to be taken over as in
 * remember(). What a hook uses it must save, so all else is elsewhere, and gets
 * what is in registers already. False: go there.
 */
INLINE bool access_granule(const void *p, unsigned size, uint64_t kinds, const struct atomsan_site *site)
{
	/* As inlined code finds it, without constants that would need registers. */
	uint64_t *cell =
		(uint64_t *)(__atomsan_thread.shadow_base + ((uint64_t)p & __atomsan_thread.shadow_mask));
	uint64_t value, segment, was;

	/* In one register, not as base and index in two. */
	__asm__("" : "+r"(cell));
	if (unlikely(frames_or_segment_due()) && !event_catch_up())
		return false;
	value = was = *cell;
	segment = __atomsan_thread.segment;
	/* An untouched cell, as all are that a thread without a filter looks at: access_any() sees to it. */
	if (unlikely(!value || value > segment))
		return false;
	if (!same_segment(value, segment)) {
		if (entire_knows(value, segment, granule_mask(p, size, kinds))) {
			renew_cell(cell, was, segment, kinds != READS);
			return true;
		}
		if (unlikely(shadow_is_shared(value)) || (kinds == READS && !taken_over(value, segment)) ||
		    unmet_cares(value, segment))
			return false;
		value = entire_rest(value, segment);
	}
	if (kinds != READS)
		rt_self.call.wrote = true;
	take_cell(cell, value | granule_mask(p, size, kinds), kinds != READS);
	write_access(p, site);
	return true;
}

INLINE void access_rest(const void *p, unsigned size, uint64_t kinds, const struct atomsan_site *site)
{
	uint64_t mask = granule_mask(p, size, kinds), value;

	/* Without a recording there is no shadow. */
	if (watched(p, size, kinds, site))
		return;
	value = *shadow_cell(shadow_granule(p));
	/* Who watches is called for all accesses, also those that are recorded. */
	if (kinds == READS && !rt_watching && shadow_is_shared(value) && access_shared(p, mask, value, site))
		return;
	access_any(p, mask, kinds != READS, site);
}

#define REST(kind, size, kinds)                                                                        \
	static ATOMSAN_HOOK access_##kind##size##_rest(const void *p, const struct atomsan_site *site) \
		__attribute__((noinline));                                                             \
	static ATOMSAN_HOOK access_##kind##size##_rest(const void *p, const struct atomsan_site *site) \
	{                                                                                              \
		access_rest(p, size, kinds, site);                                                     \
	}                                                                                              \
                                                                                                       \
	ATOMSAN_HOOK access_##kind##size(const void *p, const struct atomsan_site *site)               \
	{                                                                                              \
		if (unlikely(rt_watching) || !access_granule(p, size, kinds, site))                    \
			access_##kind##size##_rest(p, site);                                           \
	}
#define REST_READ(kind, size) REST(kind, size, READS)
#define REST_WRITE(kind, size) REST(kind, size, WRITES)
#define REST_UPDATE(kind, size) REST(kind, size, READS | WRITES)
BRISK_SIZES(REST_READ, read)
BRISK_SIZES(REST_WRITE, write)
BRISK_SIZES(REST_UPDATE, update)

/* What objects of hooks version 7 call. */
#define OLD(kind, size)                                                                             \
	EXPORT ATOMSAN_HOOK __atomsan_##kind##size(const void *p, const struct atomsan_site *site); \
	EXPORT ATOMSAN_HOOK __atomsan_##kind##size(const void *p, const struct atomsan_site *site)  \
	{                                                                                           \
		access_##kind##size(p, site);                                                       \
	}
BRISK_SIZES(OLD, read)
BRISK_SIZES(OLD, write)
BRISK_SIZES(OLD, update)

ATOMSAN_HOOK access_full(const void *p, const struct atomsan_site *site)
{
	access_write_plain(p, 0, site);
}

static void access_again(const void *p, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS COLD;
static void access_again(const void *p, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	if (rt_self.sched)
		sched_again(p);
	access_record(p, granule_mask(p, site->size, READS), false, site, false);
}

/* The cell knows it. Then the trace has heard of all frames, and there is a segment, unless care is to be
 * taken. */
EXPORT ATOMSAN_HOOK __atomsan_read_again(const void *p, const struct atomsan_site *site)
{
	if (unlikely(!rt_recording || frames_or_segment_due()))
		access_again(p, site);
	else
		write_access(p, site);
}

/* ---- steps of a loop, told one after the other ---- */

/* As access_granule(), where it is news in a cell that is taken over without care; the event is still to be
 * written. */
INLINE bool step_taken(const char *p, unsigned size, uint64_t kinds, uint64_t segment)
{
	uint64_t *cell =
		(uint64_t *)(__atomsan_thread.shadow_base + ((uint64_t)p & __atomsan_thread.shadow_mask));
	uint64_t was = *cell, value = was, mask = granule_mask(p, size, kinds);

	if (unlikely(!value || value > segment || shadow_is_shared(value)) || recorded(value, segment, mask))
		return false;
	if (!same_segment(value, segment)) {
		if ((kinds == READS && !taken_over(value, segment)) || unmet_cares(value, segment))
			return false;
		value = entire_rest(value, segment);
	}
	if (kinds != READS)
		rt_self.call.wrote = true;
	take_cell(cell, value | mask, kinds != READS);
	return true;
}

/*
 * One event for many steps; for few it would be more words than theirs. The checker
 * of a program that runs reads single ones sooner.
 */
static void write_steps(const char *p, uint64_t count,
			const struct atomsan_told_access *access) ATOMSAN_KEEPS_REGISTERS
{
	struct event event = {.kind = TRACE_ACCESS,
			      .number = rt_module_site(access->site),
			      .address = (uint64_t)p,
			      .has_value = true,
			      .value = count,
			      .has_other = true,
			      .other = (uint64_t)access->stride};

	if (count > 3) {
		event_write(&event);
		return;
	}
	for (; count--; p += access->stride)
		write_access(p, access->site);
}

/* Steps from p on that are news, one after the other, as long as nothing else is due; where they end. */
INLINE const char *tell_many(const char *p, const struct atomsan_told_access *access, uint64_t kinds)
{
	const char *first = p;
	uint64_t count = 0, segment = __atomsan_thread.segment;

	while (p != access->past && count < TRACE_STEPS_MAX && __atomsan_thread.segment == segment &&
	       step_taken(p, access->site->size, kinds, segment)) {
		p += access->stride;
		count++;
	}
	write_steps(first, count, access);
	return p;
}

INLINE void tell_each(const struct atomsan_told_access *access, uint64_t kinds)
{
	const struct atomsan_site *site = access->site;
	bool many = rt_site_number(site) < rt_numbers.sites_limit &&
		    event_region_known((uint64_t)access->next) && !rt_live && !rt_watching &&
		    !rt_options.values && rt_options.filter;
	unsigned size = site->size;

	for (const char *p = access->next; p != access->past; p += access->stride) {
		uint64_t cell;

		if (many && !frames_or_segment_due()) {
			p = tell_many(p, access, kinds);
			if (p == access->past)
				break;
		}
		cell = *(const uint64_t *)(__atomsan_thread.shadow_base +
					   ((uint64_t)p & __atomsan_thread.shadow_mask));
		/* As inlined code looks at it. */
		if (recorded(cell, __atomsan_thread.segment, granule_mask(p, size, kinds)))
			continue;
		if (!access_granule(p, size, kinds, site))
			access_rest(p, size, kinds, site);
	}
}

EXPORT ATOMSAN_HOOK __atomsan_tell(struct atomsan_told *told)
{
	for (uint64_t i = 0; i < told->count; i++) {
		struct atomsan_told_access *access = &told->accesses[i];
		bool write = access->site->kind == ATOMSAN_WRITE;

		if (access->next == access->past)
			continue;
		if (access->stride != access->site->size && write)
			tell_each(access, WRITES);
		else if (access->stride != access->site->size)
			tell_each(access, READS);
		else if (write)
			__atomsan_write_steps(access->next, (uint64_t)(access->past - access->next),
					      access->site);
		else
			__atomsan_read_steps(access->next, (uint64_t)(access->past - access->next),
					     access->site);
		access->next = access->past;
	}
}

EXPORT ATOMSAN_HOOK __atomsan_store(const void *p)
{
	if (unlikely(rt_watching))
		watch_store(p);
	if (rt_self.sched)
		sched_store(p);
}

/* ---- what is no access ---- */

EXPORT ATOMSAN_HOOK __atomsan_object(const void *p, uint64_t length, const struct atomsan_site *site)
{
	bool outside;

	if (rt_self.number == RT_NO_THREAD || !ready())
		return;
	if (unlikely(rt_self.call.entire) && entire_object(p, length_to_say(length, site), site))
		return;
	event_frames();
	outside = unlikely(unmet_on) && unmet_object_outside();
	access_write_plain(p, length_to_say(length, site), site);
	if (outside)
		unmet_tell();
}

/* After an atomic operation, which is an event of its own: only the shadow. */
void access_touch(const void *p, uint64_t length, bool write) ATOMSAN_KEEPS_REGISTERS
{
	uint64_t segment = event_current_segment();

	/* A new window, and no stamp before the next event. */
	if (unlikely(!segment))
		segment = event_segment(rt_self.stamp, SHADOW_SUBS - 1);
	/* No bits: the next plain access of this thread is news. */
	for (uint64_t q = (uint64_t)p, end = q + length; q < end; q = (q & ~7ull) + 8)
		remember(shadow_granule((void *)q), 0, write, segment);
}
