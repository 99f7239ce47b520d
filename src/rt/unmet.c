/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a thread wrote in its outermost calls, and between them, is taken back at the
 * end of one, unless somebody met it or one of those that overlap with it and came
 * back, or the checker has read it. Which sets belong together is learned from what
 * functions do, so now and then a call is told all the same.
 */
#include "rt/unmet.h"

#include "rt/event_inl.h"
#include "rt/follow.h"
#include "rt/sys.h"
#include "rt/takeback.h"
#include "rt/watch.h"

#include <time.h>

struct unmet_thread unmet_threads[RT_MARKS];
bool unmet_on;
int64_t unmet_silent;

static struct {
	uint64_t comebacks;
	int64_t met_open;
	uint64_t windows, taken; /* that were filled, and words that were taken back */
	uint32_t threads;        /* that there are, or are about to be */
} all __attribute__((aligned(64))) = {.threads = 1};

static struct unmet_thread *mine(void)
{
	return &unmet_threads[rt_self.mark];
}

/* ---- meeting ---- */

/* Has the thread left the call that its `begin` speaks of, and not come to say so yet? What only its own
 * thread writes is looked at from here, for the moment that the thread is sure to be there. */
static bool is_open(struct unmet_thread *thread, uint64_t cell, bool *wrote)
{
	bool open;

	__atomic_fetch_add(&thread->looking, 1, __ATOMIC_SEQ_CST);
	open = (cell | 0xffff) > __atomic_load_n(&thread->begin, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&thread->inlined->low, __ATOMIC_RELAXED) > thread->self->call.level;
	if (open)
		*wrote = __atomic_load_n(&thread->self->call.wrote, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&thread->looking, 1, __ATOMIC_RELEASE);
	return open;
}

static void unmark(struct unmet_thread *thread)
{
	if (__atomic_exchange_n(&thread->met, 0, __ATOMIC_SEQ_CST))
		__atomic_fetch_sub(&all.met_open, 1, __ATOMIC_SEQ_CST);
}

/* Of each thread, up to which segment its calls have ended. */
static void look_who_ended(uint64_t *ended)
{
	for (unsigned i = 0; i < RT_MARKS; i++)
		ended[i] = __atomic_load_n(&unmet_threads[i].closed, __ATOMIC_ACQUIRE);
}

/*
 * It is counted before it is marked, lest who ends it meanwhile take back what was not
 * yet counted, and another's seem to be none. If none was met, then at that moment those
 * that had ended were on no cycle, and never will be.
 */
static void mark_met(struct unmet_thread *thread)
{
	uint64_t ended[RT_MARKS];
	bool first = !__atomic_load_n(&all.met_open, __ATOMIC_SEQ_CST);

	if (first)
		look_who_ended(ended);
	first &= !__atomic_fetch_add(&all.met_open, 1, __ATOMIC_SEQ_CST);
	if (__atomic_exchange_n(&thread->met, 1, __ATOMIC_SEQ_CST))
		__atomic_fetch_sub(&all.met_open, 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; first && i < RT_MARKS; i++)
		if (ended[i] > __atomic_load_n(&unmet_threads[i].settled, __ATOMIC_RELAXED))
			__atomic_store_n(&unmet_threads[i].settled, ended[i], __ATOMIC_RELAXED);
}

bool unmet_meet(uint64_t cell, bool write) ATOMSAN_KEEPS_REGISTERS
{
	struct unmet_thread *thread = unmet_of(cell);
	bool wrote = true;

	if (!is_open(thread, cell, &wrote))
		return false;
	/* What a lock keeps apart goes from hand to hand: a write mostly follows, and sharing takes time. */
	if (!write && !(cell & SHADOW_WRITTEN) && (!wrote || rt_self.locks <= 0))
		return true;
	if (!__atomic_load_n(&thread->met, __ATOMIC_SEQ_CST))
		mark_met(thread);
	/* Pairs with close_call(): one of us sees that the mark is for nobody. */
	if ((cell | 0xffff) <= __atomic_load_n(&thread->begin, __ATOMIC_SEQ_CST))
		unmark(thread);
	return false;
}

/* With a stamp, so it stands behind all frames that the other thread has told of. */
static void speak(uint64_t granule, uint64_t cell, const struct atomsan_site *site)
{
	struct unmet_thread *thread = unmet_of(cell);
	struct event event = {.kind = TRACE_OP,
			      .op = TRACE_OP_TOUCHED,
			      .stamped = true,
			      .number = site ? rt_module_site(site) : TRACE_NO_SITE,
			      .address =
				      rt_header->regions[granule >> 40 & 15] << TRACE_ADDRESS_BITS | granule,
			      .has_value = true,
			      .has_other = true,
			      .other = cell & 0xffff};
	uint64_t stamp;
	bool wrote;

	if (thread == mine() || !__atomic_load_n(&thread->silent, __ATOMIC_ACQUIRE))
		return;
	/* Pairs with close_call() and unmet_back_full(): from here on the call is told. */
	__atomic_store_n(&thread->spoken, true, __ATOMIC_SEQ_CST);
	event.value = __atomic_load_n(&thread->owner, __ATOMIC_RELAXED) - 1;
	if (!is_open(thread, cell, &wrote))
		return;
	stamp = event_write(&event);
	if (!stamp)
		return;
	event_new_floor(stamp);
	__atomsan_thread.segment = __atomsan_thread.fresh;
	__atomic_fetch_add(&rt_live->spoken, 1, __ATOMIC_RELAXED);
}

void unmet_speak_for(uint64_t granule, bool write, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	uint64_t cell = *shadow_cell(granule);

	if (!shadow_is_shared(cell)) {
		if (write || cell & SHADOW_WRITTEN)
			speak(granule, cell, site);
		return;
	}
	for (unsigned slot = 0; write && slot < ATOMSAN_SLOTS; slot++)
		if (cell >> slot & 1)
			speak(granule, *shadow_reader(slot, granule), site);
}

void unmet_come_back(void) ATOMSAN_KEEPS_REGISTERS
{
	rt_self.call.told = true;
	__atomic_fetch_add(&all.comebacks, 1, __ATOMIC_SEQ_CST);
}

/* ---- a call of this thread ---- */

void unmet_access(void) ATOMSAN_KEEPS_REGISTERS
{
	struct rt_call *call = &rt_self.call;

	if (call->open || (__atomsan_thread.top <= call->level && !rt_self.handlers))
		return;
	call->open = true;
	call->opened = rt_self.next;
	call->wrote = false;
	/* Whoever finds a cell of the call finds this. */
	__atomic_store_n(&mine()->begin, event_segment(rt_self.stamp, rt_self.sub), __ATOMIC_RELEASE);
}

/* True if somebody has spoken for the call. */
static bool was_silent(struct unmet_thread *thread)
{
	if (likely(!thread->silent))
		return false;
	thread->silent = false;
	__atomic_fetch_sub(&unmet_silent, 1, __ATOMIC_RELAXED);
	return __atomic_exchange_n(&thread->spoken, false, __ATOMIC_SEQ_CST);
}

/* An event that says nothing but when it was. */
static void write_stamp(void)
{
	struct event event = {.kind = TRACE_OP,
			      .op = TRACE_OP_UNMET,
			      .stamped = true,
			      .number = TRACE_NO_SITE,
			      .has_value = true};
	uint64_t stamp = event_write(&event);

	if (stamp)
		event_new_floor(stamp);
	__atomsan_thread.segment = __atomsan_thread.fresh;
}

static void close_call(void)
{
	struct unmet_thread *thread = mine();

	if (!rt_self.call.open)
		return;
	rt_self.call.open = false;
	__atomic_store_n(&thread->closed, event_segment(rt_self.stamp, rt_self.sub), __ATOMIC_RELEASE);
	/* Pairs with unmet_meet(). */
	__atomic_exchange_n(&thread->begin, UINT64_MAX, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&thread->met, __ATOMIC_SEQ_CST))
		unmark(thread);
	/* What ends the call stands behind what others said; and it is told. */
	if (was_silent(thread)) {
		rt_self.call.told = true;
		write_stamp();
	}
}

void unmet_split(bool told) ATOMSAN_KEEPS_REGISTERS
{
	rt_self.call.told |= told;
	close_call();
}

/* ---- which call it is ---- */

static bool is_loop(const struct atomsan_frame *frame)
{
	return frame->function->flags & ATOMSAN_FN_LOOP;
}

/* Main is no unit, nor what a thread begins with, wherever it is called, nor what that was given to call, nor
 * loops of these. */
static struct atomsan_frame *outermost(void)
{
	struct atomsan_frame *frame = rt_self.frames, *top = __atomsan_thread.top;
	const char *name;

	if (frame == top)
		return frame + 1;
	name = (const char *)&frame->function->name + frame->function->name;
	if (rt_self.number)
		frame += frame->function->flags & ATOMSAN_FN_PASSES_ON ? 2 : 1;
	else if (name[0] == 'm' && name[1] == 'a' && name[2] == 'i' && name[3] == 'n' && !name[4])
		frame++;
	else
		return frame;
	while (frame < top && (is_loop(frame) || frame->function->flags & ATOMSAN_FN_START))
		frame++;
	return frame;
}

/*
 * A worker's function lasts as long as its thread. But where locks are taken in a
 * loop that is no walk, its iterations are the units, and nothing around them is
 * (src/model/frames.c). By the number of the loop: somebody took one in it.
 */
static bool workers_loops[1 << TRACE_ID_BITS];

static bool *workers_loop(const struct atomsan_frame *frame)
{
	uint64_t number;

	if (!is_loop(frame) || frame->function->flags & ATOMSAN_FN_WALK)
		return NULL;
	number = rt_module_function(frame->function);
	return number < TRACE_ID_MAX ? &workers_loops[number] : NULL;
}

static struct atomsan_frame *level(void)
{
	struct atomsan_frame *level = outermost();

	for (struct atomsan_frame *frame = level; frame < __atomsan_thread.top; frame++) {
		const bool *loop = workers_loop(frame);

		if (loop && *loop)
			level = frame;
	}
	return level;
}

void unmet_lock(void) ATOMSAN_KEEPS_REGISTERS
{
	struct rt_call *call = &rt_self.call;

	if (!call->inside)
		return;
	for (struct atomsan_frame *frame = rt_self.written; --frame > call->level;) {
		bool *loop = workers_loop(frame);

		if (!loop)
			continue;
		/* So the checker has to know of this lock; and of what was written so far it will. */
		*loop = true;
		call->told = true;
		call->level = frame;
		entire_look();
		return;
	}
}

/* ---- what it wrote ---- */

enum { TELLING = 61 }; /* one of so many looks has it told, for good */

static struct live_window *window(void)
{
	return (struct live_window *)rt_self.window;
}

/* The word that tells how far the checker may read: of the window in which it might be taken back. */
static uint64_t *told(void)
{
	return &((struct live_window *)rt_self.call.first)->told;
}

/* Nothing has happened yet that has it told. */
static bool may_go_on(void)
{
	const struct rt_call *call = &rt_self.call;

	return call->start && !call->told && !mine()->spoken &&
	       __atomic_load_n(&all.comebacks, __ATOMIC_ACQUIRE) == call->comebacks &&
	       !(__atomic_load_n(told(), __ATOMIC_RELAXED) & LIVE_ALL);
}

bool unmet_may_hold(void)
{
	return unmet_on && !rt_self.handlers && !rt_self.parked_count && may_go_on();
}

void unmet_keep(void)
{
	rt_self.call.start = 0;
	if (rt_self.call.held)
		follow_release();
}

/* How much could be taken back, in bytes. */
static uint64_t length(void)
{
	const struct rt_call *call = &rt_self.call;

	return call->held ? call->held * RT_WINDOW + rt_self.next - (uint64_t)window()
			  : rt_self.next - call->start;
}

/*
 * Does what was written stay as it is, with what comes next behind it? It may yet
 * have to be told while calls are open that were met. And little is not worth a look.
 */
static bool is_pending(const struct atomsan_frame *low)
{
	return may_go_on() && low >= rt_self.call.written && !(rt_self.next & RT_WINDOW) &&
	       (length() < rt_self.call.little || __atomic_load_n(&all.met_open, __ATOMIC_ACQUIRE));
}

/*
 * Most calls that were met are about to end, and have lost their processor to who
 * met them: the kernel lets a thread that is woken by an unlock run in the place of who
 * unlocked. They get one, before there is no more room for what is pending.
 */
static void let_others_end(void)
{
	enum { STEP = 0x4000, MUCH = 0x60000, NAPS = 4 };
	struct rt_call *call = &rt_self.call;
	uint64_t much = length();
	struct timespec nap = {0, 50000};

	if (much < call->patience)
		return;
	call->patience = much + STEP;
	sys0(sched_yield);
	for (int i = 0; much > MUCH && i < NAPS && __atomic_load_n(&all.met_open, __ATOMIC_ACQUIRE); i++)
		sys2(nanosleep, &nap, NULL);
}

static void write_left(uint64_t left)
{
	uint64_t *p = event_take(1);

	if (p)
		event_store(p, event_word(TRACE_EXIT, left, 0));
	rt_self.written -= left;
}

/* For who wants to see what would be taken back. Frames are as if it had been. */
static void mark(uint64_t events)
{
	struct event event = {.kind = TRACE_OP,
			      .op = TRACE_OP_UNMET,
			      .stamped = true,
			      .number = TRACE_NO_SITE,
			      .has_value = true,
			      .value = events};
	uint64_t stamp;

	if (rt_self.written > rt_self.call.written) {
		write_left((uint64_t)(rt_self.written - rt_self.call.written));
		event.value++;
	}
	stamp = event_write(&event);
	if (stamp)
		event_new_floor(stamp);
	__atomsan_thread.segment = __atomsan_thread.fresh;
}

/* Takes back what was written, if it may be. */
static bool go_back(void)
{
	struct rt_call *call = &rt_self.call;
	struct takeback content;

	if (!may_go_on() || __atomic_load_n(&all.met_open, __ATOMIC_ACQUIRE) || rt_self.next & RT_WINDOW ||
	    rt_self.parked_count || !takeback_may(&content) || ++call->looks % TELLING == 0)
		return false;
	if (unlikely(rt_options.mark_calls))
		mark(content.events);
	else if (!takeback(&content))
		return false;
	rt_self.written = call->written;
	call->unmet += call->pending;
	return true;
}

static bool go_back_far(void)
{
	uint64_t before = sys_block_signals();
	bool back = go_back();

	sys_unblock_signals(before);
	return back;
}

/* From here on it can be taken back. */
static void begin_anew(void)
{
	struct rt_call *call = &rt_self.call;
	uint64_t start;

	call->written = rt_self.written;
	call->told = false;
	call->comebacks = __atomic_load_n(&all.comebacks, __ATOMIC_ACQUIRE);
	call->patience = 0x1000;
	call->pending = 0;
	call->object = __atomsan_thread.limit;
	call->start = 0;
	if (rt_self.next & RT_WINDOW)
		return;
	start = rt_self.next;
	call->first = rt_self.window;
	/* A handler may have come in between, and gone on in another window. */
	if (start - (uint64_t)window() >= RT_WINDOW)
		return;
	call->start = start;
	__atomic_store_n(told(), (start - (uint64_t)window()->words) / 8 | rt_self.stamp << LIVE_KEY_SHIFT,
			 __ATOMIC_RELEASE);
}

/* Who is alone need not come to the end of a call: nobody meets it before there is another thread, and where
 * one is created all units end. */
static bool is_alone(void)
{
	return __atomic_load_n(&all.threads, __ATOMIC_ACQUIRE) == 1;
}

/* Nor need a call that is one unit (entire.h), for what it did stands in the shadow: who comes there speaks
 * for it. */
static bool may_be_silent(void)
{
	return rt_self.call.entire && rt_self.call.open;
}

static bool may_go_back(void)
{
	return (is_alone() || may_be_silent()) && !__atomic_load_n(&all.met_open, __ATOMIC_ACQUIRE) &&
	       !rt_self.flushing && !rt_self.handlers && !rt_options.mark_calls;
}

void unmet_window_begun(void)
{
	if (unmet_on && may_go_back())
		begin_anew();
}

/* True if others see from now on that it is silent, and none has met it before. */
static bool fall_silent(void)
{
	struct unmet_thread *thread = mine();

	if (is_alone() || thread->silent)
		return true;
	__atomic_fetch_add(&rt_live->silent, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&unmet_silent, 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&thread->silent, true, __ATOMIC_SEQ_CST);
	return !__atomic_load_n(&thread->met, __ATOMIC_SEQ_CST) && !thread->spoken;
}

/* In the middle of a call. Frames that are open are told anew; what was told of their objects is not. */
static bool go_back_inside(void)
{
	enum { OFTEN = 16 };
	struct atomsan_frame *written = rt_self.written;
	struct takeback content;

	if (!takeback_may(&content) || !fall_silent() || !takeback(&content))
		return false;
	rt_self.written = rt_self.call.written;
	rt_self.call.opened = rt_self.next;
	entire_tell_anew();
	begin_anew();
	/* Where stamps were taken back a higher one is due. And now and then one is, so that the checker gets
	 * beyond this thread, however long it goes on like that; but a stamp ends the segment, and all that
	 * is known has to be taken into the next. */
	if (!is_alone() && (rt_self.sub >= SHADOW_SUBS || ++rt_self.call.backs % OFTEN == 0)) {
		write_stamp();
		unmet_keep();
		begin_anew();
	}
	for (; rt_self.written < written; rt_self.written++) {
		struct event event = {.kind = TRACE_ENTER,
				      .number = rt_module_function(rt_self.written->function),
				      .address = (uint64_t)rt_self.written->receiver};

		event_write(&event);
	}
	return true;
}

static bool may_go_back_inside(void)
{
	return unmet_may_hold() && may_go_back() && rt_self.call.object > __atomsan_thread.top;
}

bool unmet_back_full(void)
{
	if (!may_go_back_inside() || length() < RT_WINDOW / 2)
		return false;
	rt_self.next = (uint64_t)window() + RT_WINDOW;
	return go_back_inside();
}

void unmet_inside(void) ATOMSAN_KEEPS_REGISTERS
{
	enum { STEP = 0x4000 };
	struct rt_call *call = &rt_self.call;
	uint64_t before;

	if (!call->open || rt_self.next & RT_WINDOW || !rt_self.window || rt_self.handlers)
		return;
	/* The checker could not wait, and has what there was. */
	if (!call->start || __atomic_load_n(told(), __ATOMIC_RELAXED) & LIVE_ALL) {
		unmet_keep();
		write_stamp();
		begin_anew();
		return;
	}
	if (!call->held || length() < call->patience || rt_self.next & RT_WINDOW || !may_go_back_inside())
		return;
	call->patience = length() + STEP;
	before = sys_block_signals();
	go_back_inside();
	sys_unblock_signals(before);
}

void unmet_boundary(void) ATOMSAN_KEEPS_REGISTERS
{
	struct rt_call *call = &rt_self.call;
	struct atomsan_frame *low = __atomsan_thread.low;
	enum { LITTLE = 0x800 };
	bool lifted;

	entire_end();
	if (!unmet_on)
		return;
	if (rt_self.handlers || !rt_self.frames || !rt_self.window) {
		unmet_keep();
		return;
	}
	close_call();
	call->count += call->inside;
	call->pending += call->inside;
	if (is_pending(low))
		let_others_end();
	if (!is_pending(low)) {
		/* The checker waits: so that it gets beyond this thread, what comes next draws a stamp. */
		lifted = call->start && __atomic_load_n(told(), __ATOMIC_RELAXED) & LIVE_ALL;
		/* Where one call has to be told, those that were left to be looked at with it are, too. */
		call->little = (call->held ? go_back_far() : go_back()) ? (call->little + LITTLE) / 2 : 0;
		unmet_keep();
		/* Who was told of frames is told of their end before anything that may be taken back. */
		while (low < rt_self.written) {
			uint64_t left = (uint64_t)(rt_self.written - low);

			write_left(left < TRACE_ID_MAX ? left : TRACE_ID_MAX - 1);
		}
		if (lifted)
			rt_self.sub = SHADOW_SUBS;
		begin_anew();
	}
	call->level = level();
	call->inside = __atomsan_thread.top > call->level;
}

/*
 * What an object's event says holds for as long as its frame is open. In a call that
 * is no longer than what is taken back; else it is told, and nothing else for its sake.
 */
bool unmet_object_outside(void) ATOMSAN_KEEPS_REGISTERS
{
	struct rt_call *call = &rt_self.call;

	if (__atomsan_thread.top > call->level) {
		if (__atomsan_thread.top < call->object)
			call->object = __atomsan_thread.top;
		return false;
	}
	if (!rt_self.flushing) {
		call->little = 0;
		unmet_boundary();
		event_frames();
	}
	return true;
}

void unmet_tell(void) ATOMSAN_KEEPS_REGISTERS
{
	unmet_keep();
	if (!rt_self.handlers && rt_self.window)
		begin_anew();
}

/* ---- on and off ---- */

/* Where calls are long, or meet each other all the time, it is not worth its while. */
void unmet_window(void)
{
	enum { LOOK = 256, WORTH = 16 };
	uint64_t windows, taken;

	if (!unmet_on)
		return;
	taken = __atomic_add_fetch(&all.taken, rt_self.call.taken, __ATOMIC_RELAXED);
	rt_self.call.taken = 0;
	windows = __atomic_add_fetch(&all.windows, 1, __ATOMIC_RELAXED);
	if (windows % LOOK)
		return;
	if (taken < windows * (RT_WINDOW / 8) / WORTH && !rt_options.mark_calls)
		unmet_stop();
}

void unmet_thread_begin(void)
{
	struct unmet_thread *thread = mine();
	uint32_t nobody = 0;

	rt_self.call = (struct rt_call){.level = rt_self.frames + 1};
	if (!unmet_on)
		return;
	/* Two threads that the cells cannot tell apart. */
	if (!rt_self.frames || !__atomic_compare_exchange_n(&thread->owner, &nobody, rt_self.number + 1,
							    false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
		unmet_stop();
		return;
	}
	thread->self = &rt_self;
	thread->inlined = &__atomsan_thread;
	thread->spoken = false;
}

void unmet_count(void)
{
	if (!rt_live)
		return;
	__atomic_fetch_add(&rt_live->calls, rt_self.call.count, __ATOMIC_RELAXED);
	__atomic_fetch_add(&rt_live->unmet, rt_self.call.unmet, __ATOMIC_RELAXED);
	rt_self.call.count = rt_self.call.unmet = 0;
}

void unmet_thread_coming(int count)
{
	__atomic_fetch_add(&all.threads, (uint32_t)count, __ATOMIC_RELEASE);
}

void unmet_thread_end(void)
{
	struct unmet_thread *thread = mine();

	unmet_thread_coming(-1);
	if (__atomic_load_n(&thread->owner, __ATOMIC_RELAXED) != rt_self.number + 1)
		return;
	/* Its last event has a stamp. */
	was_silent(thread);
	close_call();
	unmet_count();
	unmet_keep();
	rt_self.call = (struct rt_call){0};
	/* A handler may have come in between there and never have gone back. */
	for (unsigned tries = 0; tries < 1000 && __atomic_load_n(&thread->looking, __ATOMIC_ACQUIRE); tries++)
		sys0(sched_yield);
	__atomic_store_n(&thread->owner, 0, __ATOMIC_RELEASE);
}

void unmet_start(void)
{
	static bool started;

	if (!rt_live || started || rt_live->all_calls || rt_options.all_calls || rt_options.filter != 1 ||
	    rt_options.values || rt_watching || rt_self.sched || rt_self.number == RT_NO_THREAD ||
	    rt_module_declares_units())
		return;
	started = true;
	for (unsigned i = 0; i < RT_MARKS; i++)
		unmet_threads[i].begin = UINT64_MAX;
	unmet_on = true;
	unmet_thread_begin();
}

void unmet_stop(void) ATOMSAN_KEEPS_REGISTERS
{
	__atomic_store_n(&unmet_on, false, __ATOMIC_RELEASE);
}

void unmet_forget(void)
{
	unmet_on = false;
	all.threads = 1;
	unmet_silent = 0;
	/* Stamps begin anew. */
	for (unsigned i = 0; i < RT_MARKS; i++)
		rt_self.ended[i] = 0;
	entire_end();
	rt_self.call = (struct rt_call){0};
}
