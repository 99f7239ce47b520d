/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Reading goes in rounds. Each fixes how far every thread is read now (its
 * limit), merges that by stamps, and gives windows back as they are done with.
 */
#include "trace/live.h"

#include "abi/live.h"
#include "trace/keep.h"
#include "trace/stream.h"
#include "trace/word_inl.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NO_WINDOW UINT32_MAX
/* How long the order of what a handler does is waited for. One that has left by longjmp never returns. */
#define PATIENCE 500000000ull /* ns */

/* A stream's place in the shared memory; same index as in the cursor's streams. */
struct place {
	uint32_t window;         /* that the stream is in; NO_WINDOW: the stream is not in use */
	uint32_t limit_window;   /* where this round ends for it */
	uint32_t sequence;       /* of the window that it is in */
	const uint64_t *limit;   /* the first word that is not read in this round */
	bool moving;             /* more was written while the round was being fixed */
	bool held;               /* what was written is hidden by an event that a handler interrupted */
	uint64_t held_since;     /* when that was first seen, in ns; 0: not yet */
	bool over;               /* the thread has ended, and so does the stream with its last word */
	bool drained;            /* its thread was told that this window is read and may be used again */
	uint32_t limit_sequence; /* of the window that the limit lies in */
};

struct trace_live {
	struct trace *trace;
	struct trace_cursor *cursor;
	uint8_t *map;
	struct trace_header *header;
	struct live_control *control;
	struct place *places;
	uint32_t room; /* of places and streams */
	uint32_t thread_room;
	uint32_t begun;
	uint64_t meta_read;
	int process;    /* pidfd, or -1 */
	uint64_t inode; /* of the memory */
	bool last;      /* this round is the last one */
	uint32_t to_wake;
	uint32_t *parked; /* windows that were read but are not sealed yet */
	uint32_t parked_count;
	unsigned quiet; /* naps in a row */
	uint64_t asked; /* when the process was last looked at, in naps */
	struct keep *keep;
	struct trace_live_stats stats;
};

static struct live_window *window_at(const struct trace_live *live, uint32_t index)
{
	return (struct live_window *)(live->map + LIVE_WINDOWS + index * LIVE_STRIDE);
}

static const uint64_t *window_end(const struct live_window *window)
{
	return (const uint64_t *)((const uint8_t *)window + LIVE_WINDOW);
}

static struct trace_live *of(struct trace_cursor *c)
{
	return *(struct trace_live **)(c + 1);
}

/* ---- windows ---- */

static void wake(struct trace_live *live)
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
		wake(live);
}

/* Its thread still means to seal it. */
static void park_window(struct trace_live *live, uint32_t index)
{
	live->parked = mem_resize(live->parked, live->parked_count + 1, sizeof *live->parked);
	live->parked[live->parked_count++] = index;
}

static void free_parked(struct trace_live *live)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < live->parked_count; i++)
		if (__atomic_load_n(&window_at(live, live->parked[i])->state, __ATOMIC_ACQUIRE) == LIVE_OPEN)
			live->parked[kept++] = live->parked[i];
		else
			free_window(live, live->parked[i]);
	live->parked_count = kept;
}

static void keep_window(struct trace_live *live, const struct place *p, const struct stream *s)
{
	const struct live_window *window = window_at(live, p->window);

	if (live->keep)
		keep_events(live->keep, window->owner, p->sequence, window->words,
			    (uint64_t)(s->at - (const uint8_t *)window->words));
}

/* Read this window from its beginning, as far as this round may go in it. */
static void enter_window(struct trace_live *live, struct stream *s, struct place *p, uint32_t index)
{
	const struct live_window *window = window_at(live, index);

	p->window = index;
	p->sequence = __atomic_load_n(&window->sequence, __ATOMIC_ACQUIRE);
	s->blocks = p->sequence;
	s->start = s->at = (const uint8_t *)window->words;
	s->end = (const uint8_t *)(index == p->limit_window && p->sequence == p->limit_sequence
					   ? p->limit
					   : window_end(window));
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
static void more(struct trace_cursor *c, struct stream *s)
{
	struct trace_live *live = of(c);
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
			keep_window(live, p, s);
			end_stream(live, p);
		}
		stream_leave(c);
		return;
	}
	window = window_at(live, p->window);
	if (p->drained && window->sequence != p->sequence) {
		enter_window(live, s, p, p->window); /* its thread has begun it anew */
	} else {
		uint32_t next = window->next - 1, old = p->window;

		if (!p->drained)
			keep_window(live, p, s);
		enter_window(live, s, p, next);
		if (__atomic_load_n(&window->state, __ATOMIC_ACQUIRE) == LIVE_OPEN)
			park_window(live, old);
		else
			free_window(live, old);
	}
	p->drained = false;
}

/* ---- where a round ends ---- */

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
 * Moves the limit to the end of what the thread has published. A first word that
 * is not zero means a complete event, and words are filled from the last to the
 * first, so the first zero word lies between two events. True if it moved.
 */
static bool move_limit(struct trace_live *live, struct place *p)
{
	bool moved = false;

	for (;;) {
		struct live_window *window = window_at(live, p->limit_window);
		uint32_t state = __atomic_load_n(&window->state, __ATOMIC_ACQUIRE);
		const uint64_t *zero;

		/* A drained window's words are its thread's to clear and to write anew. */
		if (state != LIVE_DRAINED) {
			if (window->sequence != p->limit_sequence) {
				p->limit_sequence = window->sequence;
				p->limit = window->words;
				moved = true;
			}
			zero = first_zero(p->limit, window_end(window));
			moved |= zero != p->limit;
			p->limit = zero;
		}
		if (state == LIVE_OPEN) {
			uint32_t next = __atomic_load_n(&window->next, __ATOMIC_ACQUIRE);

			/* Left by a handler, with what it interrupted perhaps not yet written. */
			if (next) {
				zero = first_zero(p->limit, window_end(window));
				moved |= zero != p->limit;
				p->limit = zero;
			}
			p->held = __atomic_load_n(&window->hole, __ATOMIC_ACQUIRE) >
				  (uint64_t)(p->limit - window->words);
			if (moved)
				p->held_since = 0;
			if (!next || p->held)
				return moved;
		}
		p->held = false;
		if (state == LIVE_LAST) {
			moved |= !p->over;
			p->over = true;
			return moved;
		}
		if (!__atomic_load_n(&window->next, __ATOMIC_ACQUIRE))
			return moved;
		p->limit_window = window->next - 1;
		window = window_at(live, p->limit_window);
		p->limit_sequence = __atomic_load_n(&window->sequence, __ATOMIC_ACQUIRE);
		p->limit = window->words;
		moved = true;
	}
}

/* A window that is sealed, read to its end, and followed by none: its thread may be waiting for it. */
static void drain(struct trace_live *live, struct stream *s, struct place *p)
{
	struct live_window *window = window_at(live, p->window);

	if (p->drained || p->window != p->limit_window || p->sequence != p->limit_sequence ||
	    (const uint64_t *)s->at != p->limit ||
	    __atomic_load_n(&window->state, __ATOMIC_ACQUIRE) != LIVE_SEALED ||
	    first_zero(p->limit, window_end(window)) != p->limit ||
	    __atomic_load_n(&window->next, __ATOMIC_ACQUIRE))
		return;
	keep_window(live, p, s);
	p->drained = true;
	/* Pairs with the load of the thread that waits; it may link another window all the same. */
	__atomic_store_n(&window->state, LIVE_DRAINED, __ATOMIC_RELEASE);
	live->to_wake++;
}

/* ---- threads ---- */

static void grow_threads(struct trace_live *live, uint32_t count)
{
	struct trace *trace = live->trace;

	if (count <= trace->thread_count)
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
	struct live_window *window = window_at(live, index);
	uint32_t n = 0;

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
	c->streams[n] = (struct stream){.thread = window->owner};
	live->places[n] = (struct place){.window = index, .limit_window = index, .limit = window->words};
	enter_window(live, &c->streams[n], &live->places[n], index);
	grow_threads(live, window->owner + 1);
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

/* ---- tables ---- */

static bool read_tables(struct trace_live *live)
{
	const uint8_t *base = live->map + LIVE_META;
	uint64_t end = __atomic_load_n(&live->control->meta_next, __ATOMIC_ACQUIRE);
	bool modules = false;

	if (end > LIVE_META_ROOM)
		end = LIVE_META_ROOM;
	while (live->meta_read < end) {
		const struct trace_block *b = (const struct trace_block *)(base + live->meta_read);
		struct trace_span item;
		uint64_t length;

		/* Stored last. */
		if (__atomic_load_n(&b->magic, __ATOMIC_ACQUIRE) != TRACE_BLOCK_MAGIC)
			break;
		length = (sizeof *b + (uint64_t)b->payload + TRACE_PAGE - 1) / TRACE_PAGE * TRACE_PAGE;
		if (length > end - live->meta_read)
			break;
		item = (struct trace_span){(const char *)(b + 1), b->payload};
		if (live->keep)
			keep_meta(live->keep, b, item.data, item.length);
		live->meta_read += length;
		modules |= b->owner == TRACE_META_MODULE;
		if (trace_meta_take(live->trace, b->owner, b->item, item, &live->cursor->err))
			live->cursor->failed = true;
	}
	if (modules && trace_modules_sort(live->trace, &live->cursor->err))
		live->cursor->failed = true;
	return modules;
}

static bool tables(struct trace_cursor *c)
{
	return read_tables(of(c));
}

/* ---- rounds ---- */

/* Is our memory still mapped there? After an exec it is not. */
static bool still_mapped(const struct trace_live *live)
{
	char path[64], line[4352];
	bool found = false;
	FILE *maps;

	snprintf(path, sizeof path, "/proc/%" PRIu32 "/maps", live->header->pid);
	maps = fopen(path, "re");
	if (!maps)
		return errno != ENOENT;
	while (!found && fgets(line, sizeof line, maps)) {
		unsigned long inode = 0;

		if (sscanf(line, "%*s %*s %*s %*s %lu", &inode) == 1)
			found = inode == live->inode;
	}
	fclose(maps);
	return found;
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
	if (live->process >= 0 ? poll(&process, 1, 0) > 0
			       : kill((pid_t)live->header->pid, 0) && errno == ESRCH)
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
	for (uint32_t i = 0; i < known; i++)
		if (live->places[i].window != NO_WINDOW)
			move_limit(live, &live->places[i]);
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
	return key ? key : s->last;
}

/*
 * Puts the streams that have something in this round into the heap. False: the
 * lowest has moved on, or is held, with nothing in the round before that.
 */
static bool fill_heap(struct trace_live *live, bool *held)
{
	struct trace_cursor *c = live->cursor;
	uint64_t lowest = UINT64_MAX;
	bool ready = false;

	c->waiting = 0;
	*held = false;
	for (uint32_t i = 0; i < c->stream_count; i++) {
		struct place *p = &live->places[i], ahead;
		struct stream *s = &c->streams[i];
		bool hidden;
		uint64_t key;

		if (p->window == NO_WINDOW)
			continue;
		ahead = *p;
		p->moving = move_limit(live, &ahead);
		hidden = !p->moving && worth_waiting(p);
		p->moving = (p->moving || hidden) && !live->last;
		/* What stands in a drained window now is for later, when the stream enters it anew. */
		s->end = p->drained ? s->at
			 : p->window == p->limit_window && p->sequence == p->limit_sequence
				 ? (const uint8_t *)p->limit
				 : (const uint8_t *)window_end(window_at(live, p->window));
		if (at_limit(s, p) && !p->moving && !p->over)
			continue;
		key = next_key(s, p, &ahead);
		if (key >= c->bound)
			continue;
		c->heap[c->waiting++] = (struct waiting){key, i};
		if (key < lowest) {
			lowest = key;
			ready = !at_limit(s, p) || !p->moving;
			*held = hidden;
		}
	}
	return ready;
}

static bool refill(struct trace_cursor *c)
{
	struct trace_live *live = of(c);

	for (;;) {
		uint32_t seen = __atomic_load_n(&live->control->sealed, __ATOMIC_ACQUIRE);
		bool held;

		free_parked(live);
		for (uint32_t i = 0; i < c->stream_count; i++)
			if (live->places[i].window != NO_WINDOW)
				drain(live, &c->streams[i], &live->places[i]);
		if (live->to_wake)
			wake(live);
		if (live->last || c->failed)
			return false;
		live->last = is_over(live);
		read_tables(live);
		fix_round(live);
		if (fill_heap(live, &held)) {
			live->quiet = 0;
			stream_begin(c);
			return true;
		}
		if (!live->last && (held || !c->waiting))
			nap(live, seen);
	}
}

static const struct stream_source source = {refill, more, tables};

/* ---- beginning and end ---- */

static int check_memory(const struct trace_live *live, struct err *err)
{
	const struct trace_header *h = live->header;

	if (!trace_is_one(h, sizeof *h) || h->version != TRACE_VERSION ||
	    live->control->version != LIVE_VERSION)
		return err_set(err,
			       "the program was linked with another version of atomsan's runtime: link it "
			       "again with this one's 'atomsan cc'");
	return 0;
}

/* The kernel tells the program when we are gone: see abi/live.h. */
static void be_alive(struct trace_live *live)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t *alive = (pthread_mutex_t *)live->control->alive;

	_Static_assert(sizeof *alive <= sizeof live->control->alive, "room for it");
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(alive, &attributes);
	pthread_mutexattr_destroy(&attributes);
	pthread_mutex_lock(alive);
}

struct trace_live *trace_live_open(int memory, int keep, struct err *err)
{
	struct trace_live *live = mem_zalloc(1, sizeof *live);
	struct trace_cursor *c = mem_zalloc(1, sizeof *c + sizeof live);
	struct stat file;
	void *map;

	live->process = -1;
	live->cursor = c;
	*(struct trace_live **)(c + 1) = live;
	if (fstat(memory, &file) || (uint64_t)file.st_size < LIVE_SIZE) {
		err_set(err, "descriptor %d is not the memory of a program to be checked", memory);
		goto fail;
	}
	map = mmap(NULL, LIVE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
	if (map == MAP_FAILED) {
		err_set(err, "the program's memory cannot be mapped: %s", strerror(errno));
		goto fail;
	}
	live->map = map;
	live->inode = file.st_ino;
	live->header = map;
	live->control = (struct live_control *)(live->map + LIVE_CONTROL);
	if (check_memory(live, err))
		goto fail;
	be_alive(live);
	live->process = (int)syscall(SYS_pidfd_open, (pid_t)live->header->pid, 0);
	live->trace = mem_zalloc(1, sizeof *live->trace);
	live->trace->path = mem_textf("process %" PRIu32, live->header->pid);
	live->trace->header = *live->header;
	live->trace->header.state = TRACE_RUNNING;
	c->trace = live->trace;
	c->source = &source;
	c->merged = true;
	if (keep >= 0)
		live->keep = keep_open(keep, live->header);
	read_tables(live);
	if (c->failed) {
		*err = c->err;
		goto fail;
	}
	return live;
fail:
	trace_live_close(live);
	return NULL;
}

struct trace *trace_live_trace(struct trace_live *live)
{
	return live->trace;
}

struct trace_cursor *trace_live_cursor(struct trace_live *live)
{
	return live->cursor;
}

void trace_live_stats(const struct trace_live *live, struct trace_live_stats *stats)
{
	*stats = live->stats;
}

void trace_live_halt(struct trace_live *live)
{
	struct pollfd process = {live->process, POLLIN, 0};

	__atomic_store_n(&live->control->halt, 1, __ATOMIC_RELEASE);
	wake(live);
	/* Its threads look when they need a window; one that sleeps does not. */
	if (live->process >= 0 ? poll(&process, 1, 200) == 0 : (usleep(200000), 1))
		kill((pid_t)live->header->pid, SIGKILL);
}

int trace_live_finish(struct trace_live *live, struct err *err)
{
	struct trace_cursor *c = live->cursor;

	read_tables(live);
	live->trace->header = *live->header;
	if (!live->keep)
		return 0;
	for (uint32_t i = 0; i < c->stream_count; i++)
		if (live->places[i].window != NO_WINDOW && !live->places[i].drained)
			keep_window(live, &live->places[i], &c->streams[i]);
	return keep_finish(live->keep, live->header, err);
}

void trace_live_verdict(struct trace_live *live, uint32_t findings)
{
	live->control->findings = findings;
	__atomic_store_n(&live->control->done, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &live->control->done, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void trace_live_close(struct trace_live *live)
{
	if (!live)
		return;
	if (live->keep)
		keep_close(live->keep);
	if (live->process >= 0)
		close(live->process);
	if (live->trace)
		trace_close(live->trace);
	if (live->map)
		munmap(live->map, LIVE_SIZE);
	free(live->cursor->streams);
	free(live->cursor->heap);
	free(live->cursor);
	free(live->places);
	free(live->parked);
	free(live);
}
