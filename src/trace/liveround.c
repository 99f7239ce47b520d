/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reading goes in rounds. Each fixes how far every thread is read now (its
 * limit), merges that by stamps, and gives windows back as they are done with.
 * docs/architecture.md ("The order while it runs") has the reasons.
 */
#include "trace/liveinside.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* More threads than that have never lived in one process. */
enum { MOST_THREADS = 1 << 24 };

static void grow_threads(struct trace_live *live, uint32_t count)
{
	struct trace *trace = live->trace;

	if (count <= trace->thread_count || count > MOST_THREADS)
		return;
	if (count > live->thread_room) {
		live->thread_room = count < 32 ? 64 : 2 * count;
		trace->threads = mem_resize(trace->threads, live->thread_room, sizeof *trace->threads);
	}
	for (uint32_t i = trace->thread_count; i < count; i++) {
		trace->threads[i] = (struct trace_thread){.number = i};
		snprintf(trace->threads[i].fallback, sizeof trace->threads[i].fallback, "T?%" PRIu32, i);
	}
	if (!trace->thread_count)
		trace->threads[0].name = mem_text("T0");
	trace->thread_count = count;
}

static void adopt(struct trace_live *live, uint32_t index)
{
	struct trace_cursor *c = live->cursor;
	struct live_window *window = live_window_at(live, index);
	uint32_t owner = window->owner, n = 0;

	if (owner >= MOST_THREADS) {
		live_damage(live, "a thread's number is impossible");
		return;
	}
	while (n < live->room && live->places[n].window != NO_WINDOW)
		n++;
	if (n == live->room) {
		live->room = live->room ? live->room * 2 : 16;
		live->places = mem_resize(live->places, live->room, sizeof *live->places);
		c->streams = mem_resize(c->streams, live->room, sizeof *c->streams);
		c->heap = mem_resize(c->heap, live->room, sizeof *c->heap);
		for (uint32_t i = n; i < live->room; i++)
			live->places[i].window = NO_WINDOW;
	}
	if (n >= c->stream_count)
		c->stream_count = n + 1;
	c->streams[n] = (struct stream){.thread = owner};
	live->places[n] = (struct place){.window = index, .limit_window = index, .limit = window->words};
	live_enter_window(live, &c->streams[n], &live->places[n], index);
	grow_threads(live, owner + 1);
}

/* Threads that have begun since. */
static void adopt_new(struct trace_live *live)
{
	struct live_control *control = live->control;
	uint32_t count = __atomic_load_n(&control->begun_count, __ATOMIC_ACQUIRE);
	uint32_t fresh = __atomic_load_n(&control->fresh, __ATOMIC_ACQUIRE);

	if (count == live->begun)
		return;
	for (uint32_t i = 0; i < LIVE_COUNT / 64 && i * 64 < fresh; i++) {
		uint64_t bits =
			control->begun[i] ? __atomic_exchange_n(&control->begun[i], 0, __ATOMIC_ACQ_REL) : 0;

		for (; bits; bits &= bits - 1) {
			adopt(live, i * 64 + (uint32_t)__builtin_ctzll(bits));
			live->begun++;
		}
	}
}

/* Has it threads beside the first one? */
static bool has_others(const struct trace_live *live)
{
	char path[64];
	unsigned count = 0;
	DIR *tasks;

	snprintf(path, sizeof path, "/proc/%d/task", live->pid);
	tasks = opendir(path);
	if (!tasks)
		return false;
	for (struct dirent *entry; (entry = readdir(tasks));)
		count += entry->d_name[0] != '.';
	closedir(tasks);
	return count > 1;
}

/* Is our memory still mapped there? After an exec it is not. */
static bool still_mapped(const struct trace_live *live)
{
	char path[64], line[4352];
	bool found = false, any = false;
	FILE *maps;

	snprintf(path, sizeof path, "/proc/%d/maps", live->pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno != ENOENT;
	while (!found && fgets(line, sizeof line, maps)) {
		unsigned long inode = 0;

		any = true;
		if (sscanf(line, "%*s %*s %*s %*s %lu", &inode) == 1)
			found = inode == live->inode;
	}
	fclose(maps);
	/* A first thread that has left, with pthread_exit say, shows no memory; the others still have it. */
	return any ? found : has_others(live);
}

/* Has the process ended, or said that it is about to? */
static bool is_over(struct trace_live *live)
{
	struct pollfd process = {live->process, POLLIN, 0};
	uint32_t state = __atomic_load_n(&live->header->state, __ATOMIC_ACQUIRE);

	if (state == TRACE_FINISHED || state == TRACE_STOPPED)
		return true;
	/* While there are events it lives, or what it left behind is read. */
	if (!live->quiet)
		return false;
	if (live->process >= 0 ? poll(&process, 1, 0) > 0 : kill(live->pid, 0) && errno == ESRCH)
		return true;
	/* exec keeps the process. Ask seldom: reading the maps is slow. */
	if (live->stats.naps < live->asked)
		return false;
	live->asked = live->stats.naps + (live->quiet < 64 ? 16 : 256);
	return !still_mapped(live);
}

static void nap(struct trace_live *live, uint32_t seen)
{
	struct live_control *control = live->control;
	/* Long enough to find a good deal of work after it; short for who waits to see what happens. */
	long milliseconds = live->quiet < 8 ? 1 : live->quiet < 32 ? 4 : 25;
	struct timespec time = {0, milliseconds * 1000000};

	live->stats.naps++;
	live->quiet++;
	/* Pairs with rt/follow.c: who seals looks here afterwards, and we look at `sealed` afterwards. */
	__atomic_store_n(&control->sleeping, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &control->sealed, FUTEX_WAIT, seen, &time, NULL, 0);
	__atomic_store_n(&control->sleeping, 0, __ATOMIC_RELAXED);
}

/*
 * Fixes a round: the stamps given out so far are its bound, what threads have
 * published after that is its content. A thread that publishes between the two
 * looks at it is moving: nothing that comes after its limit may be handed out.
 */
static void fix_round(struct trace_live *live)
{
	struct trace_cursor *c = live->cursor;
	uint32_t known;

	live->stats.rounds++;
	c->bound = live->last ? UINT64_MAX : __atomic_load_n(&live->header->next_stamp, __ATOMIC_ACQUIRE);
	adopt_new(live);
	known = c->stream_count;
	for (uint32_t i = 0; i < known; i++) {
		if (live->places[i].window == NO_WINDOW)
			continue;
		live_move_limit(live, &live->places[i]);
		if (live->between)
			live->between();
	}
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	adopt_new(live);
	grow_threads(live, __atomic_load_n(&live->header->threads, __ATOMIC_ACQUIRE));
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static bool worth_waiting(struct place *p)
{
	if (!p->held)
		return false;
	if (!p->held_since)
		p->held_since = now();
	return now() - p->held_since < PATIENCE;
}

/* Is there nothing in this round for the stream, as far as its window goes? */
static bool at_limit(const struct stream *s, const struct place *p)
{
	return s->at == s->end && p->window == p->limit_window && p->sequence == p->limit_sequence;
}

/* The key of what a stream has next; it has moved on beyond its limit if there is nothing before it. */
static uint64_t next_key(const struct stream *s, const struct place *p, const struct place *ahead)
{
	struct stream next = *s;
	uint64_t key;

	if (at_limit(s, p) && p->window == ahead->limit_window && p->sequence == ahead->limit_sequence)
		next.end = (const uint8_t *)ahead->limit;
	key = stream_stamp(&next);
	if (!key)
		key = s->last;
	/* What has not been told may have been preceded by what was taken back, which had younger stamps. */
	return at_limit(s, p) && key < p->key ? p->key : key;
}

/*
 * Puts the streams that have something in this round into the heap. False: the
 * lowest has moved on, or is held, with nothing in the round before that. If it has
 * not told what it did, it is `untold`.
 */
static bool fill_heap(struct trace_live *live, bool *held, struct place **untold)
{
	struct trace_cursor *c = live->cursor;
	uint64_t lowest = UINT64_MAX;
	bool ready = false;

	c->waiting = 0;
	live->ready = false;
	*held = false;
	*untold = NULL;
	for (uint32_t i = 0; i < c->stream_count; i++) {
		struct place *p = &live->places[i], ahead;
		struct stream *s = &c->streams[i];
		bool hidden;
		uint64_t key;

		if (p->window == NO_WINDOW)
			continue;
		ahead = *p;
		p->moving = live_move_limit(live, &ahead) || ahead.untold;
		hidden = !p->moving && worth_waiting(p);
		p->moving = (p->moving || hidden) && !live->last;
		/* What stands in a drained window now is for later, when the stream enters it anew. */
		s->end = p->drained ? s->at
			 : p->window == p->limit_window && p->sequence == p->limit_sequence
				 ? (const uint8_t *)p->limit
				 : (const uint8_t *)live_window_end(live_window_at(live, p->window));
		if (at_limit(s, p) && !p->moving && !p->over)
			continue;
		key = next_key(s, p, &ahead);
		if (key >= c->bound)
			continue;
		c->heap[c->waiting++] = (struct waiting){key, i};
		live->ready |= !at_limit(s, p) || !p->moving;
		if (key < lowest) {
			lowest = key;
			ready = !at_limit(s, p) || !p->moving;
			*held = hidden;
			*untold = !ready && ahead.untold ? p : NULL;
		}
	}
	return ready;
}

/*
 * A call that is not over may keep others waiting. Most are over soon, and then need
 * not be read at all. Who waits for a window is waited for as long, but not longer.
 */
static void wait_for_call(struct trace_live *live, struct place *p, uint32_t seen)
{
	enum { SHORT = 4000000, LONG = 50000000 }; /* ns */
	bool urgent = __atomic_load_n(&live->control->waiters, __ATOMIC_RELAXED);

	if (!p->blocked && live->ready)
		p->blocked = now();
	if (p->blocked && now() - p->blocked > (urgent ? SHORT : LONG))
		live_want(live, p);
	else
		nap(live, seen);
}

bool live_refill(struct trace_cursor *c)
{
	struct trace_live *live = live_of(c);
	struct place *untold;

	for (;;) {
		uint32_t seen = __atomic_load_n(&live->control->sealed, __ATOMIC_ACQUIRE);
		bool held;

		live_free_parked(live);
		for (uint32_t i = 0; i < c->stream_count; i++)
			if (live->places[i].window != NO_WINDOW)
				live_drain(live, &c->streams[i], &live->places[i]);
		if (live->to_wake)
			live_wake(live);
		if (live->last || c->failed)
			return false;
		live->last = is_over(live);
		live_read_tables(live);
		fix_round(live);
		if (fill_heap(live, &held, &untold)) {
			live->quiet = 0;
			for (uint32_t i = 0; i < c->stream_count; i++)
				live->places[i].blocked = 0;
			stream_begin(c);
			return true;
		}
		if (untold && !live->last)
			wait_for_call(live, untold, seen);
		else if (!live->last && (held || !c->waiting))
			nap(live, seen);
	}
}
