/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/event_inl.h"
#include "rt/scheduler.h"
#include "rt/spinlock.h"
#include "rt/sys.h"
#include "rt/watch.h"

#include <pthread.h>
#include <sys/mman.h>

/* The state of a thread that records nothing: one cell that every access finds
 * equal to its segment. Eight words, for accesses of up to 64 bytes. */
static uint64_t off_cell[8] = {~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull};
/* Code looks at the one below, too. */
static struct atomsan_frame off_frames[2];
/* With filter=0, or where accesses are watched: a cell that no access ever finds recorded. */
static uint64_t empty_cell[8];

EXPORT __thread struct atomsan_thread __atomsan_thread = {.shadow_base = (char *)off_cell,
							  .reader_base = (char *)off_cell,
							  .segment = ~0ull,
							  .fresh = ~0ull,
							  .top = &off_frames[1],
							  .low = &off_frames[1],
							  .limit = &off_frames[1],
							  .shallow = &off_frames[1],
							  .apart = 1};

__thread struct rt_thread rt_self = {.number = RT_NO_THREAD, .known = ~0ull};

enum { FRAMES = 1 << 18 };
static uint32_t next_number;

uint32_t rt_thread_number(void)
{
	uint32_t number = __atomic_fetch_add(&next_number, 1, __ATOMIC_RELAXED);

	__atomic_store_n(&rt_header->threads, number + 1, __ATOMIC_RELAXED);
	return number;
}

void rt_thread_off(void) ATOMSAN_KEEPS_REGISTERS
{
	__atomsan_thread.shadow_base = __atomsan_thread.reader_base = (char *)off_cell;
	__atomsan_thread.shadow_mask = 0;
	__atomsan_thread.fresh = ~0ull;
	__atomsan_thread.segment = ~0ull;
}

/* Where the calling thread's stack lies, without asking libc: that could allocate. */
static void stack_bounds(uint64_t *low, uint64_t *size)
{
	pthread_attr_t attributes;
	void *at = NULL;
	size_t length = 0;

	rt_self.inside++;
	if (!pthread_getattr_np(pthread_self(), &attributes)) {
		pthread_attr_getstack(&attributes, &at, &length);
		pthread_attr_destroy(&attributes);
	}
	rt_self.inside--;
	*low = (uint64_t)at;
	*size = length;
}

struct atomsan_frame *rt_all_shallow(void)
{
	return rt_self.frames + FRAMES + 4;
}

static void frames_map(void)
{
	struct atomsan_frame *frames;

	frames = (struct atomsan_frame *)sys6(mmap, 0, (FRAMES + 2) * sizeof *frames, PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_failed(frames))
		return;
	rt_self.frames = ++frames; /* there is one below, with no receiver */
	__atomsan_thread.top = __atomsan_thread.low = frames;
	__atomsan_thread.limit = frames + FRAMES;
	/* The bottom frame is main's or the start function's, and no unit. */
	__atomsan_thread.shallow = rt_options.filter == 2 ? frames + 2 : rt_all_shallow();
}

/*
 * Readers of the same cell need slots of their own, and there are few: a thread gets
 * the one that the fewest have now. Marks go round, so that one comes again as late as
 * may be.
 */
static struct {
	uint32_t lock, live[ATOMSAN_SLOTS], rounds[ATOMSAN_SLOTS];
} marks;

static void take_mark(void)
{
	uint32_t slot = 0;

	rt_spin_enter(&marks.lock);
	for (uint32_t i = 1; i < ATOMSAN_SLOTS; i++)
		if (marks.live[i] < marks.live[slot] ||
		    (marks.live[i] == marks.live[slot] && marks.rounds[i] < marks.rounds[slot]))
			slot = i;
	marks.live[slot]++;
	rt_self.mark = (marks.rounds[slot]++ * ATOMSAN_SLOTS + slot) % RT_MARKS;
	rt_self.slot = slot;
	rt_spin_leave(&marks.lock);
}

static void give_mark(void)
{
	rt_spin_enter(&marks.lock);
	marks.live[rt_self.slot]--;
	rt_spin_leave(&marks.lock);
}

void rt_thread_begin(uint32_t number, uint32_t parent)
{
	uint64_t low, size;

	/* A forked child goes on in the frames that it was forked in. */
	if (!rt_self.frames)
		frames_map();
	rt_self.written = rt_self.frames ? rt_self.frames : &off_frames[1];
	if (unlikely(rt_watching))
		watch_thread_begin(number);
	if (!rt_recording)
		return;
	rt_self.careful = rt_options.filter == 2;
	sched_thread_begin(number);
	take_mark();
	rt_self.window = NULL;
	rt_self.next = RT_WINDOW; /* no room: the first event gets a window */
	rt_self.sub = 0;
	rt_self.stamp = rt_self.handler_stamp = 0;
	stack_bounds(&low, &size);
	__atomsan_thread.shadow_base = (char *)SHADOW_CELLS;
	__atomsan_thread.reader_base = (char *)shadow_reader(rt_self.slot, 0);
	__atomsan_thread.shadow_mask = ATOMSAN_SHADOW_MASK;
	__atomsan_thread.fresh = 0xffff;
	__atomsan_thread.segment = 0xffff;
	__atomsan_thread.apart = 0;
	if (!rt_options.filter || rt_watching) {
		__atomsan_thread.shadow_base = __atomsan_thread.reader_base = (char *)empty_cell;
		__atomsan_thread.shadow_mask = 0;
	}
	/* Each access is looked at, or what it finds. */
	if (unlikely(rt_watching || rt_options.values))
		__atomsan_thread.scheduled = empty_cell;
	rt_self.number = number;
	unmet_thread_begin();
	rt_op_values(TRACE_OP_START, 0, (void *)low, size, parent, NULL);
}

void rt_thread_end(void)
{
	struct atomsan_frame *frames = rt_self.frames;

	if (rt_self.number == RT_NO_THREAD && !frames)
		return;
	if (unlikely(rt_watching))
		watch_thread_end();
	rt_op(TRACE_OP_END, 0, NULL, NULL);
	unmet_thread_end();
	sched_thread_end();
	rt_file_close_window();
	if (rt_self.number != RT_NO_THREAD)
		give_mark();
	rt_self.number = RT_NO_THREAD;
	rt_thread_off();
	__atomsan_thread.top = __atomsan_thread.low = __atomsan_thread.limit = __atomsan_thread.shallow =
		&off_frames[1];
	rt_self.frames = NULL;
	if (frames)
		sys2(munmap, frames - 1, (FRAMES + 2) * sizeof *frames);
}

void rt_thread_forget(void)
{
	__atomic_store_n(&next_number, 0, __ATOMIC_RELAXED);
	marks = (typeof(marks)){0};
	rt_self.window = NULL;
	rt_self.number = RT_NO_THREAD;
	rt_self.flushing = 0;
	unmet_forget();
}
