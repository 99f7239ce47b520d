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
/*
 * How often, by what a word is but for its address: an access by its place, frames by
 * their function. Whatever need not be looked at any more has TAUGHT, and that is nearly all.
 * Threads that count at the same time lose a count.
 */
enum { TAGS = 1 << TRACE_ADDRESS_SHIFT };
static uint8_t taught[TAGS];

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
	content->first = first;
	content->last = last;
	content->start = (uint64_t *)start;
	content->next = (uint64_t *)next;
	content->length = first == last ? next - start : call->held * RT_WINDOW + next - (uint64_t)last;
	content->locks = 0;
	content->objects = content->events = content->now = content->block_count = 0;
	content->stamped = content->blocks = false;
	content->taught = true;
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

static uint8_t *times_taught(enum trace_event_kind kind, uint64_t id)
{
	return &taught[(uint64_t)kind | id << TRACE_ID_SHIFT];
}

/* A long one teaches as much as many short ones, in which it is as often. */
static void teach(struct takeback *content, enum trace_event_kind kind, uint64_t id)
{
	enum { SHORT = 1024 };
	uint8_t *times = times_taught(kind, id);
	uint64_t now = *times + 1 + content->length / SHORT;

	if (*times >= TAUGHT)
		return;
	content->taught = false;
	*times = (uint8_t)(now < TAUGHT ? now : TAUGHT);
}

static void teach_function(struct takeback *content, uint64_t id)
{
	teach(content, TRACE_ENTER, id);
	/* One left and this one entered. */
	*times_taught(TRACE_SWITCH, id) = *times_taught(TRACE_ENTER, id);
}

/* Words from here on that need not be looked at, up to `end`: where they end. Not to be skipped where events
 * are counted. */
INLINE const uint64_t *skip_taught(const uint64_t *word, const uint64_t *end)
{
	/* Four together are looked at as fast as one. */
	while (end - word >= 4 && likely(taught[word[0] % TAGS] & taught[word[1] % TAGS] &
					 taught[word[2] % TAGS] & taught[word[3] % TAGS] & TAUGHT))
		word += 4;
	while (word < end && taught[*word % TAGS] & TAUGHT)
		word++;
	return word;
}

/* Where memory comes or goes, with the stamp that the thread has there. */
static void note_block(struct takeback *content, uint64_t *event, uint64_t *past)
{
	content->blocks = true;
	if (content->block_count < TAKEBACK_BLOCKS)
		content->block[content->block_count] = (struct takeback_block){event, past, content->now};
	content->block_count++;
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

static bool words_may_go(uint64_t *word, const uint64_t *end, struct takeback *content)
{
	bool go = true, counted = rt_options.mark_calls;
	uint64_t *event = NULL; /* where one with prefixes begins */

	for (; word < end; word++) {
		uint64_t id, op;

		if (!event && !counted) {
			word = (uint64_t *)skip_taught(word, end);
			if (word == end)
				break;
		}
		if (!event)
			event = word;
		id = *word >> TRACE_ID_SHIFT & TRACE_ID_MAX;
		content->events++;
		switch ((enum trace_event_kind)(*word & 7)) {
		case TRACE_ACCESS:
			teach(content, TRACE_ACCESS, id);
			break;
		case TRACE_STAMPED:
			teach(content, TRACE_ACCESS, id);
			content->stamped = true;
			content->now = *++word >> TRACE_STAMP_SHIFT;
			break;
		case TRACE_SWITCH:
			content->events++; /* two in one word */
			teach_function(content, id);
			break;
		case TRACE_ENTER:
			teach_function(content, id);
			break;
		case TRACE_EXIT:
			go &= id != 0;
			if (id)
				*times_taught(TRACE_EXIT, id) = TAUGHT;
			break;
		case TRACE_OP:
			op = id & ((1u << TRACE_OP_BITS) - 1);
			go &= op_may_go(content, op, *word >> TRACE_ADDRESS_SHIFT);
			if (*++word >> TRACE_STAMP_SHIFT) {
				content->stamped = true;
				content->now = *word >> TRACE_STAMP_SHIFT;
			}
			if (op == TRACE_OP_ALLOC || op == TRACE_OP_FREE)
				note_block(content, event, word + 1);
			break;
		case TRACE_PREFIX:
			content->events--;
			/* Steps that are one event here are many where events are counted. */
			go &= (id & 3) == TRACE_PREFIX_VALUE ||
			      ((id & 3) == TRACE_PREFIX_OTHER && !rt_options.mark_calls);
			continue;
		case TRACE_NONE:
			content->events--;
			/* A place that a handler has left for good, unless the next event did not fit. */
			go &= (uint64_t)end & RT_WINDOW && end - word < EVENT_WORDS;
			word = (uint64_t *)end - 1;
			break;
		}
		event = NULL;
	}
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
 * Memory that came and went is known: the event moves to the front. What orders it may
 * be the stamp of one that is taken back, so it gets that; `now` is what the thread has there.
 */
static void keep_block(struct kept *kept, const uint64_t *event, uint64_t *past, uint64_t now)
{
	if (now != kept->key && !(past[-1] >> TRACE_STAMP_SHIFT))
		past[-1] |= now << TRACE_STAMP_SHIFT;
	kept->key = now;
	keep(kept, event, past);
}

/* Where there are more than were noted: all of them from `word` on. `now` is what the thread has before it,
 * and then what it has at `end`. */
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
		if (op == TRACE_OP_ALLOC || op == TRACE_OP_FREE)
			keep_block(kept, event, word + 1, *now);
	}
}

static void keep_all_blocks(struct kept *kept, const struct takeback *content)
{
	uint64_t now = kept->key;
	struct live_window *window = content->first;

	if (content->block_count <= TAKEBACK_BLOCKS) {
		for (uint64_t i = 0; i < content->block_count; i++)
			keep_block(kept, content->block[i].event, content->block[i].past,
				   content->block[i].stamp ? content->block[i].stamp : now);
		return;
	}
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
