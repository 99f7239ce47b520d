/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What a thread wrote since its outermost call began is taken back when the call
 * ends, unless somebody met it or one of those that overlap with it, the checker
 * has read it, or there is something in it that has to be known whoever was met:
 * memory that came and went, locks that were not given back, waits. Which sets
 * belong together is learned from what functions do, so of each place in the
 * program the first calls are told, and now and then one of the others.
 */
#include "rt/unmet.h"

#include "rt/event_inl.h"
#include "rt/follow.h"
#include "rt/sys.h"
#include "rt/watch.h"

#include <time.h>

struct unmet_thread unmet_threads[UNMET_THREADS];
bool unmet_on;

static struct {
	uint64_t comebacks;
	int64_t met_open;
	uint64_t windows, taken; /* that were filled, and words that were taken back */
} all __attribute__((aligned(64)));

enum {
	TAUGHT = 64,  /* calls with a place or a function in them that are told before one is taken back */
	TELLING = 61, /* and one of so many, for good */
};
/* By the number of a place, and of a function. Threads that count at the same time lose a count. */
static uint8_t taught_sites[1 << TRACE_ID_BITS], taught_functions[1 << TRACE_ID_BITS];

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

bool unmet_meet(uint64_t cell, bool write) ATOMSAN_KEEPS_REGISTERS
{
	struct unmet_thread *thread = unmet_of(cell);
	bool wrote = true;

	if (!is_open(thread, cell, &wrote))
		return false;
	if (!write && !(cell & SHADOW_WRITTEN) && !wrote)
		return true;
	if (!__atomic_exchange_n(&thread->met, 1, __ATOMIC_SEQ_CST))
		__atomic_fetch_add(&all.met_open, 1, __ATOMIC_SEQ_CST);
	/* Pairs with close_call(): one of us sees that the mark is for nobody. */
	if ((cell | 0xffff) <= __atomic_load_n(&thread->begin, __ATOMIC_SEQ_CST))
		unmark(thread);
	return false;
}

void unmet_come_back(void) ATOMSAN_KEEPS_REGISTERS
{
	rt_self.call.told = true;
	__atomic_fetch_add(&all.comebacks, 1, __ATOMIC_SEQ_CST);
}

/* ---- a call of this thread ---- */

static struct unmet_thread *mine(void)
{
	return &unmet_threads[rt_self.number & (UNMET_THREADS - 1)];
}

void unmet_access(void) ATOMSAN_KEEPS_REGISTERS
{
	struct rt_call *call = &rt_self.call;

	if (call->open || (__atomsan_thread.top <= call->level && !rt_self.handlers))
		return;
	call->open = true;
	call->wrote = false;
	/* Whoever finds a cell of the call finds this. */
	__atomic_store_n(&mine()->begin, event_segment(rt_self.stamp, rt_self.sub), __ATOMIC_RELEASE);
}

static void close_call(void)
{
	struct unmet_thread *thread = mine();

	if (!rt_self.call.open)
		return;
	rt_self.call.open = false;
	/* Pairs with unmet_meet(). */
	__atomic_exchange_n(&thread->begin, UINT64_MAX, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&thread->met, __ATOMIC_SEQ_CST))
		unmark(thread);
}

void unmet_split(void) ATOMSAN_KEEPS_REGISTERS
{
	rt_self.call.told = true;
	close_call();
}

/* ---- which call it is ---- */

/* Main is no unit, nor what a thread begins with, nor what that was given to call. */
static struct atomsan_frame *outermost(void)
{
	struct atomsan_frame *frames = rt_self.frames;
	const struct atomsan_function *first = frames->function;
	const char *name;

	if (__atomsan_thread.top == frames)
		return frames + 1;
	if (rt_self.number)
		return frames + (first->flags & ATOMSAN_FN_PASSES_ON ? 2 : 1);
	name = (const char *)&first->name + first->name;
	return frames + (name[0] == 'm' && name[1] == 'a' && name[2] == 'i' && name[3] == 'n' && !name[4]);
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

	if ((frame->function->flags & (ATOMSAN_FN_LOOP | ATOMSAN_FN_WALK)) != ATOMSAN_FN_LOOP)
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
		return;
	}
}

/* ---- what it wrote ---- */

struct content {
	int64_t locks;
	uint64_t objects; /* of locks that were taken, less those that were given back */
	bool stamped, taught;
	bool blocks; /* memory came, or went */
	uint64_t events;
};

static void teach(struct content *content, uint8_t *times)
{
	if (*times >= TAUGHT)
		return;
	content->taught = false;
	++*times;
}

/* One that nobody need hear of; the object is what is left of its word. */
static bool op_may_go(struct content *content, uint64_t op, uint64_t object)
{
	switch (op) {
	case TRACE_OP_LOCK:
	case TRACE_OP_RDLOCK:
		content->locks++;
		content->objects += object * 0x9e3779b97f4a7c15ull;
		return true;
	case TRACE_OP_UNLOCK:
		content->objects -= object * 0x9e3779b97f4a7c15ull;
		return --content->locks >= 0;
	case TRACE_OP_ALLOC:
	case TRACE_OP_FREE:
		content->blocks = true;
		return true;
	case TRACE_OP_ATOMIC_LOAD:
	case TRACE_OP_ATOMIC_STORE:
	case TRACE_OP_ATOMIC_RMW:
	case TRACE_OP_ATOMIC_FAILED:
	case TRACE_OP_FENCE:
	case TRACE_OP_LOCK_FAILED:
	case TRACE_OP_SIGNAL:
	case TRACE_OP_BROADCAST:
		return true;
	default:
		return false;
	}
}

/* May all of it go? What it teaches is counted as told, if it is not to go. */
static bool may_go(const uint64_t *word, const uint64_t *end, struct content *content)
{
	bool go = true;

	for (; word < end; word++) {
		uint64_t id = *word >> TRACE_ID_SHIFT & TRACE_ID_MAX;

		content->events++;
		switch ((enum trace_event_kind)(*word & 7)) {
		case TRACE_ACCESS:
			teach(content, &taught_sites[id]);
			break;
		case TRACE_STAMPED:
			teach(content, &taught_sites[id]);
			content->stamped = true;
			word++;
			break;
		case TRACE_SWITCH:
			content->events++; /* two in one word */
			teach(content, &taught_functions[id]);
			break;
		case TRACE_ENTER:
			teach(content, &taught_functions[id]);
			break;
		case TRACE_EXIT:
			go &= id != 0;
			break;
		case TRACE_OP:
			go &= op_may_go(content, id & ((1u << TRACE_OP_BITS) - 1),
					*word >> TRACE_ADDRESS_SHIFT);
			word++;
			content->stamped |= *word >> TRACE_STAMP_SHIFT != 0;
			break;
		case TRACE_PREFIX:
			content->events--;
			go &= (id & 3) == TRACE_PREFIX_VALUE;
			break;
		case TRACE_NONE:
			return false; /* a place that a handler has left for good */
		}
	}
	return go && content->taught && !content->locks && !content->objects;
}

static struct live_window *window(void)
{
	return (struct live_window *)rt_self.window;
}

static uint64_t told_now(uint64_t next)
{
	return (next - (uint64_t)window()->words) / 8 | rt_self.stamp << LIVE_KEY_SHIFT;
}

/*
 * What has to be known whoever was met: memory that came and went. Moves these
 * events to the front and returns where they end. What orders them are stamps of events that
 * are taken back, so they get those; `key` is what the thread has before `word`, and at
 * the end what the last of them has.
 */
static uint64_t *keep_blocks(uint64_t *word, uint64_t *end, uint64_t *key)
{
	uint64_t *kept = word, *event = word, now = *key, op, stamp;

	for (; word < end; event = ++word) {
		while ((*word & 7) == TRACE_PREFIX)
			word++;
		if ((*word & 7) != TRACE_STAMPED && (*word & 7) != TRACE_OP)
			continue;
		op = (*word & 7) == TRACE_OP ? *word >> TRACE_ID_SHIFT & ((1u << TRACE_OP_BITS) - 1) : 0;
		stamp = *++word >> TRACE_STAMP_SHIFT;
		if (stamp)
			now = stamp;
		if (op != TRACE_OP_ALLOC && op != TRACE_OP_FREE)
			continue;
		if (now != *key)
			*word |= (stamp ? 0 : now) << TRACE_STAMP_SHIFT;
		*key = now;
		while (event <= word)
			*kept++ = *event++;
	}
	return kept;
}

/* Takes back all words from `start` to `next`. False: a handler has written behind them. */
static bool take_back(uint64_t start, uint64_t next)
{
	const struct live_window *here = window();
	uint64_t was = next;

	for (uint64_t *p = (uint64_t *)start; p < (uint64_t *)next; p++)
		__atomic_store_n(p, 0, __ATOMIC_RELAXED);
	/* One instruction, which no handler can interrupt. */
	__asm__ volatile("cmpxchgq %2, %1" : "+a"(was), "+m"(rt_self.next) : "r"(start) : "memory", "cc");
	if (was == next)
		return true;
	if (window() == here)
		for (uint64_t *p = (uint64_t *)start; p < (uint64_t *)next; p++)
			__atomic_store_n(p, EVENT_NOTHING, __ATOMIC_RELAXED);
	return false;
}

/* The same for who wants to see what would be taken back. */
static void mark(uint64_t events)
{
	struct event event = {.kind = TRACE_OP,
			      .op = TRACE_OP_UNMET,
			      .stamped = true,
			      .number = TRACE_NO_SITE,
			      .has_value = true,
			      .value = events};
	uint64_t stamp = event_write(&event);

	if (stamp)
		event_new_floor(stamp);
	__atomsan_thread.segment = __atomsan_thread.fresh;
	rt_self.call.unmet += rt_self.call.pending;
}

/* Might what was written since `start` yet have to be told, though it need not be now? */
static bool is_pending(const struct atomsan_frame *low)
{
	const struct rt_call *call = &rt_self.call;

	return __atomic_load_n(&all.met_open, __ATOMIC_ACQUIRE) && !call->told && call->inside &&
	       call->start && __atomic_load_n(&all.comebacks, __ATOMIC_ACQUIRE) == call->comebacks &&
	       low >= call->written && __atomsan_thread.top > call->level && level() == call->level &&
	       !(rt_self.next & RT_WINDOW) &&
	       !(__atomic_load_n(&window()->told, __ATOMIC_RELAXED) & LIVE_ALL);
}

/*
 * Most calls that were met are about to end, and have lost their processor to who
 * met them: the kernel lets a thread that is woken by an unlock run in the place of who
 * unlocked. They get one, before there is no more room for what is pending.
 */
static void let_others_end(void)
{
	enum { STEP = 0x4000, MUCH = 0x14000, NAPS = 4 };
	struct rt_call *call = &rt_self.call;
	uint64_t length = rt_self.next - call->start;
	struct timespec nap = {0, 50000};

	if (length < call->patience)
		return;
	call->patience = length + STEP;
	sys0(sched_yield);
	for (int i = 0; length > MUCH && i < NAPS && __atomic_load_n(&all.met_open, __ATOMIC_ACQUIRE); i++)
		sys2(nanosleep, &nap, NULL);
}

/* Takes back what calls wrote, if it may be. */
static void go_back(void)
{
	struct rt_call *call = &rt_self.call;
	struct content content = {.taught = true};
	uint64_t start = call->start, next = rt_self.next, told, key;

	if (__atomic_load_n(&all.comebacks, __ATOMIC_ACQUIRE) != call->comebacks ||
	    __atomic_load_n(&all.met_open, __ATOMIC_ACQUIRE))
		return;
	if (call->told || !call->inside || !start || next & RT_WINDOW || rt_self.handlers ||
	    rt_self.parked_count || !may_go((uint64_t *)start, (uint64_t *)next, &content) ||
	    call->count % TELLING == 0)
		return;
	if (unlikely(rt_options.mark_calls)) {
		mark(content.events);
		return;
	}
	told = __atomic_load_n(&window()->told, __ATOMIC_RELAXED);
	if (told & LIVE_ALL || !__atomic_compare_exchange_n(&window()->told, &told, told | LIVE_BACK, false,
							    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	key = told >> LIVE_KEY_SHIFT;
	if (content.blocks)
		start = (uint64_t)keep_blocks((uint64_t *)start, (uint64_t *)next, &key);
	if (!take_back(start, next))
		return;
	rt_self.written = call->written;
	call->unmet += call->pending;
	call->taken += (next - start) / 8;
	/* Stamps that are no more are still the thread's: what comes must have a higher one. */
	if (content.stamped && key != rt_self.stamp)
		rt_self.sub = SHADOW_SUBS;
}

void unmet_boundary(void) ATOMSAN_KEEPS_REGISTERS
{
	struct rt_call *call = &rt_self.call;
	struct atomsan_frame *low = __atomsan_thread.low;
	bool lifted;

	if (rt_self.handlers || !rt_self.frames || !rt_self.window) {
		call->start = 0;
		return;
	}
	close_call();
	call->count += call->inside;
	call->pending++;
	if (is_pending(low))
		let_others_end();
	if (is_pending(low))
		return;
	/* The checker waits: so that it gets beyond this thread, what comes next draws a stamp. */
	lifted = call->start && __atomic_load_n(&window()->told, __ATOMIC_RELAXED) & LIVE_ALL;
	go_back();
	/* Who was told of frames is told of their end before anything else, which may be taken back. */
	for (uint64_t *p; low < rt_self.written && (p = event_take(1));) {
		uint64_t left = (uint64_t)(rt_self.written - low);

		if (left > TRACE_ID_MAX - 1)
			left = TRACE_ID_MAX - 1;
		event_store(p, event_word(TRACE_EXIT, left, 0));
		rt_self.written -= left;
	}
	for (; rt_self.written < low; rt_self.written++) {
		struct event event = {.kind = TRACE_ENTER,
				      .number = rt_module_function(rt_self.written->function),
				      .address = (uint64_t)rt_self.written->receiver};

		event_write(&event);
	}
	if (lifted)
		rt_self.sub = SHADOW_SUBS;
	call->level = level();
	call->inside = __atomsan_thread.top > call->level;
	call->written = rt_self.written;
	call->told = false;
	call->comebacks = __atomic_load_n(&all.comebacks, __ATOMIC_ACQUIRE);
	call->patience = 0x1000;
	call->pending = 0;
	call->start = 0;
	if (rt_self.next & RT_WINDOW)
		return;
	call->start = rt_self.next;
	__atomic_store_n(&window()->told, told_now(rt_self.next), __ATOMIC_RELEASE);
}

/* ---- on and off ---- */

/* Where calls are long, or meet each other all the time, it is not worth its while. */
void unmet_window(void)
{
	enum { LOOK = 256, WORTH = 16 };
	uint64_t windows, taken;

	unmet_keep();
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
}

void unmet_count(void)
{
	if (!rt_live)
		return;
	__atomic_fetch_add(&rt_live->calls, rt_self.call.count, __ATOMIC_RELAXED);
	__atomic_fetch_add(&rt_live->unmet, rt_self.call.unmet, __ATOMIC_RELAXED);
	rt_self.call.count = rt_self.call.unmet = 0;
}

void unmet_thread_end(void)
{
	struct unmet_thread *thread = mine();

	if (__atomic_load_n(&thread->owner, __ATOMIC_RELAXED) != rt_self.number + 1)
		return;
	close_call();
	unmet_count();
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
	for (unsigned i = 0; i < UNMET_THREADS; i++)
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
	rt_self.call = (struct rt_call){0};
}
