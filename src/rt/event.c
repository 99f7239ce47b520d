/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/brisk.h"
#include "rt/event_inl.h"
#include "rt/order.h"
#include "rt/scheduler.h"
#include "rt/sections.h"
#include "rt/watch.h"

static uint64_t prefix_word(enum trace_prefix prefix, uint64_t payload)
{
	uint64_t high = payload >> TRACE_ADDRESS_BITS & 0x7fff;

	return event_word(TRACE_PREFIX, high << 2 | prefix, payload & SHADOW_FOLD);
}

uint64_t event_write(const struct event *event) ATOMSAN_KEEPS_REGISTERS
{
	bool op = event->kind == TRACE_OP;
	bool stamped = event->stamped || (op && event->number == TRACE_NO_SITE);
	uint64_t most = op ? TRACE_OP_SITE_MAX : TRACE_ID_MAX;
	bool wide = event->number >= most;
	bool far = !event_region_known(event->address);
	uint64_t prefixes = (uint64_t)event->has_value + event->has_other + wide + far;
	uint64_t words = prefixes + 1 + (stamped || op);
	uint64_t number = wide ? most : event->number;
	uint64_t stamp = 0, first;
	uint64_t *p;

	p = stamped ? event_take_stamped(words, &stamp) : event_take(words);
	if (!p)
		return 0;
	if (stamped || op)
		p[words - 1] = stamp << TRACE_STAMP_SHIFT | (op ? number : 0);
	first = event_word(op        ? TRACE_OP
			   : stamped ? TRACE_STAMPED
				     : event->kind,
			   op ? event->op | event->flags << TRACE_OP_BITS : number,
			   event->address & SHADOW_FOLD);
	p += prefixes;
	event_store(p, first);
	if (far) {
		event_store(--p, prefix_word(TRACE_PREFIX_REGION, event->address >> TRACE_ADDRESS_BITS));
		rt_count(TRACE_COUNT_NO_REGION);
	}
	if (wide)
		event_store(--p, prefix_word(TRACE_PREFIX_SITE, event->number));
	if (event->has_other)
		event_store(--p, prefix_word(TRACE_PREFIX_OTHER, event->other));
	if (event->has_value)
		event_store(--p, prefix_word(TRACE_PREFIX_VALUE, event->value));
	return stamp;
}

INLINE void write_frames(void)
{
	struct atomsan_frame *top = __atomsan_thread.top, *low = __atomsan_thread.low;
	enum trace_event_kind kind = TRACE_ENTER;

	/* A handler that interrupts this does without its frames. */
	if (rt_self.flushing)
		return;
	rt_self.flushing = 1;
	__asm__ volatile("" ::: "memory");
	unmet_left(low);
	if (unmet_boundary_due())
		unmet_boundary();
	if (unlikely(rt_watching & WATCH_SECTIONS))
		sections_frames();
	/* One function left and the next one entered is the usual case: one word for both. */
	if (rt_self.written - low == 1 && low < top) {
		kind = TRACE_SWITCH;
		rt_self.written--;
	}
	while (low < rt_self.written) {
		uint64_t left = (uint64_t)(rt_self.written - low);
		uint64_t *p;

		if (left > TRACE_ID_MAX - 1)
			left = TRACE_ID_MAX - 1;
		p = event_take(1);
		if (p)
			event_store(p, event_word(TRACE_EXIT, left, 0));
		rt_self.written -= left;
	}
	for (; rt_self.written < top; rt_self.written++) {
		const struct atomsan_frame *frame = rt_self.written;
		uint64_t number = rt_module_function(frame->function), receiver = (uint64_t)frame->receiver;
		uint64_t *p;

		if (unlikely(rt_self.sched))
			sched_count_entered((uint64_t)(frame - rt_self.frames));
		if (unlikely(number >= TRACE_ID_MAX || !event_region_known(receiver))) {
			struct event event = {.kind = kind, .number = number, .address = receiver};

			event_write(&event);
		} else {
			p = event_take(1);
			if (p)
				event_store(p, event_word(kind, number, receiver & SHADOW_FOLD));
		}
		kind = TRACE_ENTER;
	}
	__atomsan_thread.low = top;
	if (unlikely(rt_self.objects.due))
		entire_tell_objects();
	__asm__ volatile("" ::: "memory");
	rt_self.flushing = 0;
}

void event_write_frames(void) ATOMSAN_KEEPS_REGISTERS
{
	write_frames();
}

/* One word into the window there is. False: that is full. */
INLINE bool put_word(uint64_t word)
{
	uint64_t at = 8;

	__asm__ volatile("xaddq %0, %1" : "+r"(at), "+m"(rt_self.next) : : "memory", "cc");
	if (unlikely(at & RT_WINDOW))
		return false;
	event_store((uint64_t *)at, word);
	return true;
}

/*
 * As write_frames(), where numbers are small, regions known and the window has
 * room: that takes few registers. Where one of these does not hold it stops, and
 * write_frames() can go on from there.
 */
INLINE void write_usual_frames(struct atomsan_frame *top, struct atomsan_frame *low)
{
	uint64_t left = (uint64_t)(rt_self.written - low), kind = TRACE_ENTER;

	if (left == 1 && low < top) {
		kind = TRACE_SWITCH;
	} else if (left) {
		if (unlikely(left >= TRACE_ID_MAX || !put_word(event_word(TRACE_EXIT, left, 0))))
			return;
		rt_self.written = low;
	}
	for (; low < top; low++) {
		uint64_t number =
			((uint64_t)low->function - rt_numbers.functions_bias) / sizeof *low->function;
		uint64_t receiver = (uint64_t)low->receiver;

		if (unlikely(number >= rt_numbers.functions_limit || !event_region_known(receiver) ||
			     !put_word(event_word(kind, number, receiver & SHADOW_FOLD))))
			return;
		/* In this order: what is not yet written is above both. */
		__atomsan_thread.low = low + 1;
		rt_self.written = low + 1;
		kind = TRACE_ENTER;
	}
	__atomsan_thread.low = top;
}

/* Frames that are due, as far as the usual way goes. False: another must be gone. */
INLINE bool usual_frames(void)
{
	struct atomsan_frame *top = __atomsan_thread.top, *low = __atomsan_thread.low;

	if (low == rt_self.written && top == rt_self.written)
		return true;
	if (unlikely(rt_self.flushing))
		return false;
	rt_self.flushing = 1;
	__asm__ volatile("" ::: "memory");
	write_usual_frames(top, low < rt_self.written ? low : rt_self.written);
	__asm__ volatile("" ::: "memory");
	rt_self.flushing = 0;
	return rt_self.written == top;
}

bool event_catch_up(void) ATOMSAN_KEEPS_REGISTERS
{
	struct atomsan_frame *top = __atomsan_thread.top, *low = __atomsan_thread.low;

	if (unlikely(rt_self.sched || !rt_recording))
		return false;
	if (event_frames_due()) {
		/* As in write_frames(). */
		if (likely(!rt_self.flushing && !(rt_watching & WATCH_SECTIONS))) {
			rt_self.flushing = 1;
			__asm__ volatile("" ::: "memory");
			unmet_left(low);
			if (unmet_boundary_due())
				unmet_boundary();
			/* Frames of which the trace was told may have been taken back. */
			write_usual_frames(top, low < rt_self.written ? low : rt_self.written);
			__asm__ volatile("" ::: "memory");
			rt_self.flushing = 0;
		}
		if (unlikely(rt_self.written != top || rt_self.objects.due))
			event_write_frames();
	}
	if (unlikely(rt_self.call.entire) && unmet_on)
		unmet_inside();
	return event_current_segment() != 0;
}

/* End the segment: nothing recorded so far speaks for what comes. The stamp is 0 if none was drawn. */
static void end_segment(uint64_t stamp)
{
	if (stamp)
		event_new_floor(stamp);
	__atomsan_thread.segment = __atomsan_thread.fresh;
	__atomsan_thread.operations++;
	entire_end_segment();
}

/* What an operation is to the outermost call. */
INLINE void call_goes_on(enum trace_op op)
{
	if (likely(!unmet_on))
		return;
	switch (op) {
	case TRACE_OP_LOCK:
	case TRACE_OP_RDLOCK:
		if (unlikely(unmet_long()))
			unmet_lock();
		break;
	case TRACE_OP_CREATE:
	case TRACE_OP_JOIN:
	case TRACE_OP_WAIT:
	case TRACE_OP_BARRIER_ENTER:
	case TRACE_OP_BARRIER_LEAVE:
		unmet_split(op != TRACE_OP_WAIT);
		break;
	case TRACE_OP_UNIT_BEGIN:
		unmet_stop(); /* there are units that are no calls */
		break;
	default:
		break;
	}
}

static void record_op(struct event *event, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	uint64_t stamp;

	if (unlikely(rt_watching))
		watch_op(event->op, (const void *)event->address, site);
	if (unlikely(rt_self.sched))
		sched_op(event->op, (const void *)event->address, event->value, site);
	if (!rt_on()) {
		/* libc has threads of its own (timers that call a function), and the program's code runs in
		 * them. */
		if (rt_recording && rt_self.number == RT_NO_THREAD && !rt_self.inside)
			rt_count(TRACE_COUNT_UNKNOWN_THREAD);
		return;
	}
	if (unlikely(rt_self.unsure.count))
		access_sure();
	event->kind = TRACE_OP;
	event->stamped = true;
	event->number = site ? rt_module_site(site) : TRACE_NO_SITE;
	event_frames();
	stamp = event_write(event);
	if (!stamp)
		return;
	end_segment(stamp);
	call_goes_on(event->op);
	order_note(event->op, order_shared(event->op, event->flags, (const void *)event->address),
		   (const void *)event->address, event->value);
}

INLINE void write_op(enum trace_op op, unsigned flags, const void *object, const struct atomsan_site *site,
		     bool due)
{
	uint64_t number = site ? rt_module_site(site) : TRACE_NO_SITE, stamp = 0, *p;
	bool shared;

	/* The usual case, two words. */
	if (likely(rt_on() && !rt_self.sched && !rt_watching && number < TRACE_OP_SITE_MAX &&
		   event_region_known((uint64_t)object))) {
		if (unlikely(rt_self.unsure.count))
			access_sure();
		event_frames();
		/* Calls that were taken back may have left that to whoever comes next. */
		due |= order_due_anyway();
		p = due || number == TRACE_NO_SITE ? event_take_stamped(2, &stamp) : event_take(2);
		if (!p)
			return;
		p[1] = stamp << TRACE_STAMP_SHIFT | number;
		event_store(
			p, event_word(TRACE_OP, op | flags << TRACE_OP_BITS, (uint64_t)object & SHADOW_FOLD));
		end_segment(stamp);
		call_goes_on(op);
		shared = order_shared(op, flags, object);
		order_note(op, shared, object, 0);
		rt_self.locks += (op == TRACE_OP_LOCK) - (op == TRACE_OP_UNLOCK && !shared);
		return;
	}

	struct event event = {.op = op, .flags = flags, .address = (uint64_t)object};

	record_op(&event, site);
}

void rt_op(enum trace_op op, unsigned flags, const void *object,
	   const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	write_op(op, flags, object, site, order_due(op, flags, object));
}

/*
 * Of a lock, while a trace is written or a checker reads along, and nothing else is
 * done (brisk.h). What is never so then is not asked for, and there are no registers to be kept.
 */
INLINE bool brisk_lock(enum trace_op op, unsigned flags, const void *lock, const struct atomsan_site *site)
{
	uint64_t place = (uint64_t)site - brisk_lock_sites.bias, stamp = 0, *p;
	struct order_keys *keys;
	bool shared;

	if (unlikely(place >= brisk_lock_sites.length) || unlikely(rt_self.inside || !rt_recording) ||
	    unlikely(rt_self.number == RT_NO_THREAD) || unlikely(!event_region_known((uint64_t)lock)))
		return false;
	if (unlikely(unmet_on)) {
		if (rt_self.unsure.count)
			access_sure();
		event_frames();
	} else if (unlikely(!usual_frames())) {
		return false;
	}
	keys = order_keys_of(lock);
	if (likely(!order_due_anyway()) && likely(!order_due_at(keys, op, flags)))
		p = event_take(2);
	else
		p = event_take_stamped(2, &stamp);
	if (unlikely(!p))
		return true;
	p[1] = stamp << TRACE_STAMP_SHIFT | rt_site_number(site);
	event_store(p, event_word(TRACE_OP, op | flags << TRACE_OP_BITS, (uint64_t)lock & SHADOW_FOLD));
	end_segment(stamp);
	call_goes_on(op);
	if (op != TRACE_OP_UNLOCK) {
		rt_self.locks += op == TRACE_OP_LOCK;
		return true;
	}
	shared = order_shared(op, flags, lock);
	if (unlikely(shared))
		order_raise(&keys->shared, order_key());
	else
		order_release(keys);
	rt_self.locks -= !shared;
	return true;
}

void rt_op_lock(enum trace_op op, unsigned flags, const void *lock, const struct atomsan_site *site)
{
	if (unlikely(!brisk_lock(op, flags, lock, site)))
		rt_op(op, flags, lock, site);
}

void event_atomic(enum trace_op op, unsigned flags, const void *location, const struct atomsan_site *site,
		  bool due) ATOMSAN_KEEPS_REGISTERS
{
	write_op(op, flags, location, site, due);
}

void rt_op_value(enum trace_op op, unsigned flags, const void *object, uint64_t value,
		 const struct atomsan_site *site)
{
	struct event event = {
		.op = op, .flags = flags, .address = (uint64_t)object, .has_value = true, .value = value};

	record_op(&event, site);
}

void rt_op_values(enum trace_op op, unsigned flags, const void *object, uint64_t value, uint64_t other,
		  const struct atomsan_site *site)
{
	struct event event = {.op = op,
			      .flags = flags,
			      .address = (uint64_t)object,
			      .has_value = true,
			      .value = value,
			      .has_other = true,
			      .other = other};

	record_op(&event, site);
}

void rt_count(enum trace_counter counter) ATOMSAN_KEEPS_REGISTERS
{
	__atomic_fetch_add(&rt_header->counters[counter], 1, __ATOMIC_RELAXED);
}
