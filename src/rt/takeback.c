/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * There are things that have to be known whoever was met: locks that were not
 * given back, waits, memory that came and went. Which sets belong together is
 * learned from what functions do, so of each place in the program the first calls are
 * told, too.
 */
#include "rt/takeback.h"

#include "rt/event_inl.h"
#include "rt/follow.h"
#include "rt/sys.h"

enum { TAUGHT = 64 }; /* calls with a place or a function in them that are told before one is taken back */
/* By the number of a place, and of a function. Threads that count at the same time lose a count. */
static uint8_t taught_sites[1 << TRACE_ID_BITS], taught_functions[1 << TRACE_ID_BITS];

/* As it is now; what a handler does meanwhile is not in it. False: one has taken the thread to another
 * window. */
static bool find_words(struct takeback *content)
{
	const struct rt_call *call = &rt_self.call;
	struct live_window *first = (struct live_window *)call->first;
	struct live_window *last = call->held ? (struct live_window *)rt_self.window : first;
	uint64_t start = call->start, next = rt_self.next;

	if (!start || next - (uint64_t)last > RT_WINDOW)
		return false;
	*content = (struct takeback){.first = first,
				     .last = last,
				     .start = (uint64_t *)start,
				     .next = (uint64_t *)next,
				     .length = call->held * RT_WINDOW + next - (uint64_t)last,
				     .taught = true};
	if (first == last)
		content->length = next - start;
	return true;
}

static uint64_t *begin_in(const struct takeback *content, struct live_window *window)
{
	return window == content->first ? content->start : window->words;
}

static uint64_t *end_in(const struct takeback *content, struct live_window *window)
{
	return window == content->last ? content->next : (uint64_t *)((uint64_t)window + RT_WINDOW);
}

/* ---- may it go? ---- */

/* A long one teaches as much as many short ones, in which it is as often. */
static void teach(struct takeback *content, uint8_t *times)
{
	enum { SHORT = 1024 };
	uint64_t taught = *times + 1 + content->length / SHORT;

	if (*times >= TAUGHT)
		return;
	content->taught = false;
	*times = (uint8_t)(taught < TAUGHT ? taught : TAUGHT);
}

/* One that nobody need hear of; the object is what is left of its word. */
static bool op_may_go(struct takeback *content, uint64_t op, uint64_t object)
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
	case TRACE_OP_WAIT: /* its mutex is given back, and taken again */
	case TRACE_OP_WAKE:
		return true;
	default:
		return false;
	}
}

static bool words_may_go(const uint64_t *word, const uint64_t *end, struct takeback *content)
{
	bool go = true;
	uint64_t accesses = 0;

	for (; word < end; word++) {
		uint64_t id = *word >> TRACE_ID_SHIFT & TRACE_ID_MAX;

		/* Most are: it is not left to a jump that goes everywhere. */
		if (likely((*word & 7) == TRACE_ACCESS && taught_sites[id] >= TAUGHT)) {
			accesses++;
			continue;
		}
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
			/* Steps that are one event here are many where events are counted. */
			go &= (id & 3) == TRACE_PREFIX_VALUE ||
			      ((id & 3) == TRACE_PREFIX_OTHER && !rt_options.mark_calls);
			break;
		case TRACE_NONE:
			content->events--;
			/* A place that a handler has left for good, unless the next event did not fit. */
			go &= (uint64_t)end & RT_WINDOW && end - word < EVENT_WORDS;
			word = end - 1;
			break;
		}
	}
	content->events += accesses;
	return go;
}

bool takeback_may(struct takeback *content) ATOMSAN_KEEPS_REGISTERS
{
	struct live_window *window;
	bool go;

	if (!find_words(content))
		return false;
	window = content->first;
	go = words_may_go(begin_in(content, window), end_in(content, window), content);
	while (window != content->last) {
		window = follow_behind(window);
		go &= words_may_go(begin_in(content, window), end_in(content, window), content);
	}
	return go && content->taught && !content->locks && !content->objects;
}

/* ---- back ---- */

/* Where what is kept ends, and the stamp that the last of it has. */
struct kept {
	struct live_window *window;
	uint64_t *at;
	uint64_t key;
};

/* Like the thread itself, goes on in the next window where an event does not fit. */
static void keep(struct kept *kept, const uint64_t *word, const uint64_t *end)
{
	uint64_t *edge = (uint64_t *)((uint64_t)kept->window + RT_WINDOW);

	if (edge - kept->at < end - word) {
		while (kept->at < edge)
			*kept->at++ = 0;
		kept->window = follow_behind(kept->window);
		kept->at = kept->window->words;
	}
	while (word < end)
		*kept->at++ = *word++;
}

/*
 * Memory that came and went is known: moves these events to the front. What orders
 * them are stamps of events that are taken back, so they get those; `now` is
 * what the thread has before `word`, and then what it has at `end`.
 */
static void keep_blocks(struct kept *kept, uint64_t *word, const uint64_t *end, uint64_t *now)
{
	uint64_t *event = word, op, stamp;

	for (; word < end && *word; event = ++word) {
		while ((*word & 7) == TRACE_PREFIX)
			word++;
		if ((*word & 7) != TRACE_STAMPED && (*word & 7) != TRACE_OP)
			continue;
		op = (*word & 7) == TRACE_OP ? *word >> TRACE_ID_SHIFT & ((1u << TRACE_OP_BITS) - 1) : 0;
		stamp = *++word >> TRACE_STAMP_SHIFT;
		if (stamp)
			*now = stamp;
		if (op != TRACE_OP_ALLOC && op != TRACE_OP_FREE)
			continue;
		if (*now != kept->key)
			*word |= (stamp ? 0 : *now) << TRACE_STAMP_SHIFT;
		kept->key = *now;
		keep(kept, event, word + 1);
	}
}

static void keep_all_blocks(struct kept *kept, const struct takeback *content)
{
	uint64_t now = kept->key;
	struct live_window *window = content->first;

	keep_blocks(kept, begin_in(content, window), end_in(content, window), &now);
	while (window != content->last) {
		window = follow_behind(window);
		keep_blocks(kept, begin_in(content, window), end_in(content, window), &now);
	}
}

/* Word by word, whoever looks on. */
static void clear(uint64_t *from, const uint64_t *to, uint64_t word)
{
	uint64_t count = from < to ? (uint64_t)(to - from) : 0;

	__asm__ volatile("rep stosq" : "+D"(from), "+c"(count) : "a"(word) : "memory");
}

/* In the window that there is. False: a handler has written behind the words. */
static bool back_in_window(const struct kept *kept, const struct takeback *content)
{
	uint64_t was = (uint64_t)content->next;

	clear(kept->at, content->next, 0);
	/* One instruction, which no handler can interrupt. */
	__asm__ volatile("cmpxchgq %2, %1" : "+a"(was), "+m"(rt_self.next) : "r"(kept->at) : "memory", "cc");
	if (was == (uint64_t)content->next)
		return true;
	if ((struct live_window *)rt_self.window == content->last)
		clear(kept->at, content->next, EVENT_NOTHING);
	return false;
}

bool takeback(const struct takeback *content) ATOMSAN_KEEPS_REGISTERS
{
	struct kept kept = {content->first, content->start, 0};
	uint64_t told = __atomic_load_n(&content->first->told, __ATOMIC_RELAXED);

	if (told & LIVE_ALL || !__atomic_compare_exchange_n(&content->first->told, &told, told | LIVE_BACK,
							    false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return false;
	kept.key = told >> LIVE_KEY_SHIFT;
	if (content->blocks)
		keep_all_blocks(&kept, content);
	if (content->first != content->last) {
		clear(kept.at, end_in(content, kept.window), 0);
		follow_back_to(kept.window);
		rt_self.next = (uint64_t)kept.at;
	} else if (!back_in_window(&kept, content)) {
		return false;
	}
	rt_self.call.taken += content->length / 8;
	/* Stamps that are no more are still the thread's: what comes must have a higher one. */
	if (content->stamped && kept.key != rt_self.stamp)
		rt_self.sub = SHADOW_SUBS;
	return true;
}
