/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Windows, and how far they are read. */
#include "trace/liveinside.h"

#include <inttypes.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

void live_damage(struct trace_live *live, const char *what)
{
	struct trace_cursor *c = live->cursor;

	err_set(&c->err, "%s has written over the memory that it shares with its checker: %s",
		live->trace->path, what);
	c->failed = true;
}

void live_wake(struct trace_live *live)
{
	struct live_control *control = live->control;

	live->to_wake = 0;
	__atomic_fetch_add(&control->freed, 1, __ATOMIC_SEQ_CST);
	/* Pairs with the count in rt/follow.c: who counts itself after this looks at `freed` again. */
	if (__atomic_load_n(&control->waiters, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &control->freed, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void free_window(struct trace_live *live, uint32_t index)
{
	struct live_control *control = live->control;

	live->stats.windows++;
	/* Pairs with the acquire of who takes it. */
	__atomic_fetch_or(&control->free[index / 64], 1ull << index % 64, __ATOMIC_RELEASE);
	__atomic_fetch_sub(&control->used, 1, __ATOMIC_RELEASE);
	/* Waking one by one would have the two processes take turns. */
	if (++live->to_wake > control->pool / 4)
		live_wake(live);
}

/* Its thread still means to seal it. */
static void park_window(struct trace_live *live, uint32_t index)
{
	live->parked = mem_resize(live->parked, live->parked_count + 1, sizeof *live->parked);
	live->parked[live->parked_count++] = index;
}

void live_free_parked(struct trace_live *live)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < live->parked_count; i++)
		if (__atomic_load_n(&live_window_at(live, live->parked[i])->state, __ATOMIC_ACQUIRE) ==
		    LIVE_OPEN)
			live->parked[kept++] = live->parked[i];
		else
			free_window(live, live->parked[i]);
	live->parked_count = kept;
}

void live_keep_window(struct trace_live *live, const struct place *p, const struct stream *s)
{
	const struct live_window *window = live_window_at(live, p->window);

	if (live->keep)
		keep_events(live->keep, window->owner, p->sequence, window->words,
			    (uint64_t)(s->at - (const uint8_t *)window->words));
}

/* Read this window from its beginning, as far as this round may go in it. */
void live_enter_window(struct trace_live *live, struct stream *s, struct place *p, uint32_t index)
{
	const struct live_window *window = live_window_at(live, index);

	p->window = index;
	p->sequence = __atomic_load_n(&window->sequence, __ATOMIC_ACQUIRE);
	s->blocks = p->sequence;
	s->start = s->at = (const uint8_t *)window->words;
	s->end = (const uint8_t *)(index == p->limit_window && p->sequence == p->limit_sequence
					   ? p->limit
					   : live_window_end(window));
}

static void end_stream(struct trace_live *live, struct place *p)
{
	free_window(live, p->window);
	p->window = NO_WINDOW;
}

/*
 * The stream is at the end of what this round reads in its window. A window that
 * was sealed is read to its first zero word.
 */
void live_more(struct trace_cursor *c, struct stream *s)
{
	struct trace_live *live = live_of(c);
	struct place *p = &live->places[s - c->streams];
	struct live_window *window;

	if (p->window == p->limit_window && p->sequence == p->limit_sequence) {
		if (p->moving) {
			/* What it wrote meanwhile may have to stand before all that waits. */
			c->current = NULL;
			c->waiting = 0;
			return;
		}
		if (p->over) {
			live_keep_window(live, p, s);
			end_stream(live, p);
		}
		stream_leave(c);
		return;
	}
	window = live_window_at(live, p->window);
	if (p->drained && window->sequence != p->sequence) {
		live_enter_window(live, s, p, p->window); /* its thread has begun it anew */
	} else {
		uint32_t next = window->next - 1, old = p->window;

		if (next >= LIVE_COUNT) {
			live_damage(live, "a window is followed by none that there is");
			return;
		}

		if (!p->drained)
			live_keep_window(live, p, s);
		live_enter_window(live, s, p, next);
		if (__atomic_load_n(&window->state, __ATOMIC_ACQUIRE) == LIVE_OPEN)
			park_window(live, old);
		else
			free_window(live, old);
	}
	p->drained = false;
}

static const uint64_t *first_zero(const uint64_t *from, const uint64_t *end)
{
	const volatile uint64_t *p = from;

	while (end - p >= 4 && p[0] && p[1] && p[2] && p[3])
		p += 4;
	while (p < end && *p)
		p++;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return (const uint64_t *)p;
}

/*
 * As far as the thread has filled the window, from `from` on, without what it may
 * yet take back. Whether there is such is in the place, with the key that was there
 * before it was looked for.
 */
static const uint64_t *end_of_told(struct place *p, const struct live_window *window, const uint64_t *from)
{
	uint64_t told = __atomic_load_n(&window->told, __ATOMIC_ACQUIRE);
	const uint64_t *end = live_window_end(window), *to;

	p->untold = p->all = false;
	if (told & LIVE_ALL) {
		to = first_zero(from, end);
		/* What lies behind an index that came meanwhile belongs to what may be taken back. */
		told = __atomic_load_n(&window->told, __ATOMIC_ACQUIRE);
		p->all = told & LIVE_ALL;
		if (p->all)
			return to;
		if (window->words + (told & LIVE_INDEX) < to)
			to = window->words + (told & LIVE_INDEX);
		return to > from ? to : from;
	}
	to = window->words + (told & LIVE_INDEX);
	if (to < from || to > end)
		to = from;
	p->key = told >> LIVE_KEY_SHIFT;
	p->untold = (to < end && __atomic_load_n(to, __ATOMIC_ACQUIRE)) ||
		    __atomic_load_n(&window->next, __ATOMIC_ACQUIRE);
	return to;
}

void live_want(struct trace_live *live, struct place *p)
{
	struct live_window *window = live_window_at(live, p->limit_window);
	uint64_t told = __atomic_load_n(&window->told, __ATOMIC_RELAXED);

	while (!(told & (LIVE_ALL | LIVE_BACK)) &&
	       !__atomic_compare_exchange_n(&window->told, &told, told | LIVE_ALL, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_RELAXED))
		;
}

/*
 * Moves the limit to the end of what the thread has published. A first word that
 * is not zero means a complete event, and words are filled from the last to the
 * first, so the first zero word lies between two events. True if it moved.
 */
bool live_move_limit(struct trace_live *live, struct place *p)
{
	bool moved = false;

	for (uint32_t windows = 0;; windows++) {
		struct live_window *window = live_window_at(live, p->limit_window);
		uint32_t state = __atomic_load_n(&window->state, __ATOMIC_ACQUIRE);
		const uint64_t *zero;
		uint32_t next;

		/* A drained window's words are its thread's to clear and to write anew. */
		if (state != LIVE_DRAINED) {
			if (window->sequence != p->limit_sequence) {
				p->limit_sequence = window->sequence;
				p->limit = window->words;
				moved = true;
			}
			/* Nobody comes to the end of a call any more. */
			if (state == LIVE_OPEN && live->last)
				live_want(live, p);
			if (state == LIVE_OPEN)
				zero = end_of_told(p, window, p->limit);
			else
				zero = first_zero(p->limit, live_window_end(window));
			moved |= zero != p->limit;
			p->limit = zero;
		}
		p->untold &= state == LIVE_OPEN;
		if (state == LIVE_OPEN) {
			next = __atomic_load_n(&window->next, __ATOMIC_ACQUIRE);
			/* Left by a handler, with what it interrupted perhaps not yet written; or held. */
			if (next) {
				zero = end_of_told(p, window, p->limit);
				moved |= zero != p->limit;
				p->limit = zero;
			}
			p->held = __atomic_load_n(&window->hole, __ATOMIC_ACQUIRE) >
				  (uint64_t)(p->limit - window->words);
			if (moved)
				p->held_since = 0;
			if (!next || p->held || !p->all)
				return moved;
		}
		p->held = false;
		if (state == LIVE_LAST) {
			moved |= !p->over;
			p->over = true;
			return moved;
		}
		next = __atomic_load_n(&window->next, __ATOMIC_ACQUIRE);
		if (!next)
			return moved;
		if (next > LIVE_COUNT || windows > LIVE_COUNT) {
			live_damage(live, "a window is followed by none that there is");
			return moved;
		}
		p->limit_window = next - 1;
		window = live_window_at(live, p->limit_window);
		p->limit_sequence = __atomic_load_n(&window->sequence, __ATOMIC_ACQUIRE);
		p->limit = window->words;
		moved = true;
	}
}

/* A window that is sealed, read to its end, and followed by none: its thread may be waiting for it. */
void live_drain(struct trace_live *live, struct stream *s, struct place *p)
{
	struct live_window *window = live_window_at(live, p->window);

	if (p->drained || p->window != p->limit_window || p->sequence != p->limit_sequence ||
	    (const uint64_t *)s->at != p->limit ||
	    __atomic_load_n(&window->state, __ATOMIC_ACQUIRE) != LIVE_SEALED ||
	    first_zero(p->limit, live_window_end(window)) != p->limit ||
	    __atomic_load_n(&window->next, __ATOMIC_ACQUIRE))
		return;
	live_keep_window(live, p, s);
	p->drained = true;
	/* Pairs with the load of the thread that waits; it may link another window all the same. */
	__atomic_store_n(&window->state, LIVE_DRAINED, __ATOMIC_RELEASE);
	live->to_wake++;
}
