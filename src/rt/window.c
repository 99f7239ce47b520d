/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Windows: what threads write their events into, shared mappings of the trace,
 * so the kernel keeps what was written however the process ends. Room on disk
 * is reserved before a window is mapped (a store into a hole of a full disk
 * would be a SIGBUS for the program).
 *
 * They are used again instead of mapping the growing file: full, a window is
 * squeezed and appended, which costs less than the faults of fresh pages would.
 */
#include "abi/squeeze.h"
#include "rt/file.h"
#include "rt/follow.h"
#include "rt/rt.h"
#include "rt/spinlock.h"
#include "rt/sys.h"

#include <sys/mman.h>

/* Each is mapped once, at an address with the bit RT_WINDOW clear, and handed from thread to thread; there
 * are as many as threads ever ran at the same time. */
static struct trace_block *windows[1 << 14];
static uint32_t windows_used, windows_lock;

/* A window that is in no file. */
static bool map_memory(uint64_t at)
{
	return !sys_failed(sys6(mmap, at, RT_WINDOW, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
}

static struct trace_block *map_window(void)
{
	uint64_t offset = file_nowhere ? 0 : file_reserve(RT_WINDOW), at;
	long all;

	if (!offset && !file_nowhere)
		return NULL;
	/* Room enough to find the right alignment in, and nothing mapped behind. */
	all = sys6(mmap, 0, 4 * RT_WINDOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_failed(all)) {
		file_stop("there is no address space for a buffer");
		return NULL;
	}
	at = ((uint64_t)all + 2 * RT_WINDOW - 1) & ~(2 * RT_WINDOW - 1);
	if (!(file_nowhere ? map_memory(at) : file_map((void *)at, RT_WINDOW, offset))) {
		sys2(munmap, all, 4 * RT_WINDOW);
		file_stop("the trace cannot be mapped");
		return NULL;
	}
	return (struct trace_block *)at;
}

static void begin_window(struct trace_block *window, uint32_t sequence)
{
	window->kind = TRACE_BLOCK_EVENTS;
	window->length = RT_WINDOW;
	window->owner = rt_self.number;
	window->sequence = sequence;
	window->magic = TRACE_BLOCK_MAGIC;
	__atomic_store_n(&window->flags, TRACE_BLOCK_WINDOW, __ATOMIC_RELEASE);
	rt_self.window = window;
	rt_self.next = (uint64_t)(window + 1);
}

static struct trace_block *take_window(void)
{
	struct trace_block *window = NULL;

	rt_spin_enter(&windows_lock);
	if (windows_used)
		window = windows[--windows_used];
	rt_spin_leave(&windows_lock);
	return window ? window : map_window();
}

static void clear(void *at, uint64_t length)
{
	__asm__ volatile("rep stosb" : "+D"(at), "+c"(length) : "a"(0) : "memory");
}

/*
 * Memory to squeeze a window in: there are as many as threads ever appended at
 * the same time, and those are few. Where the block goes, whole, and what the
 * squeezing remembers.
 */
struct workshop {
	struct trace_block header;
	uint8_t squeezed[(RT_WINDOW / 8 / SQUEEZE_GROUP + 1) * SQUEEZE_GROUP_ROOM];
	uint8_t end[TRACE_PAGE]; /* blocks are whole pages */
	struct squeeze tables;
};
static struct workshop *workshops[64];
static uint32_t workshops_used;

static struct workshop *take_workshop(void)
{
	struct workshop *shop = NULL;
	long at;

	rt_spin_enter(&windows_lock);
	if (workshops_used)
		shop = workshops[--workshops_used];
	rt_spin_leave(&windows_lock);
	if (shop)
		return shop;
	at = sys6(mmap, 0, sizeof *shop, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return sys_failed(at) ? NULL : (struct workshop *)at;
}

static void give_workshop(struct workshop *shop)
{
	bool kept = false;

	rt_spin_enter(&windows_lock);
	if (workshops_used < sizeof workshops / sizeof *workshops) {
		workshops[workshops_used++] = shop;
		kept = true;
	}
	rt_spin_leave(&windows_lock);
	if (!kept)
		sys2(munmap, shop, sizeof *shop);
}

static uint64_t whole_pages(uint64_t length)
{
	return (length + TRACE_PAGE - 1) / TRACE_PAGE * TRACE_PAGE;
}

/* The block's bytes in the workshop, if that saves a page; else 0. */
static uint64_t squeeze_block(struct workshop *shop, const struct trace_block *header, const uint64_t *words,
			      uint64_t count)
{
	static uint8_t known; /* 1: no, 2: yes */
	uint64_t payload, length;
	bool lzcnt;

	if (!known)
		known = squeeze_lzcnt() ? 2 : 1;
	lzcnt = known == 2;
	clear(&shop->tables, sizeof shop->tables);
	payload = lzcnt ? squeeze(&shop->tables, words, count, shop->squeezed, 1)
			: squeeze(&shop->tables, words, count, shop->squeezed, 0);
	length = whole_pages(sizeof *header + payload);
	if (length >= whole_pages(sizeof *header + count * 8))
		return 0;
	clear(shop->squeezed + payload, length - sizeof *header - payload);
	shop->header = *header;
	shop->header.flags = TRACE_BLOCK_SQUEEZED;
	shop->header.length = (uint32_t)length;
	shop->header.payload = (uint32_t)payload;
	shop->header.unpacked = (uint32_t)(count * 8);
	return length;
}

static bool append_plain(struct trace_block header, const uint64_t *words, uint64_t length)
{
	uint64_t offset = file_take(length);

	header.flags = 0;
	header.length = (uint32_t)length;
	return offset && file_write_block(&header, words, length, offset);
}

/* True if the words are in the file now, or recording has stopped. */
static bool append_squeezed(const struct trace_block *header, const uint64_t *words, uint64_t count)
{
	struct workshop *shop = take_workshop();
	uint64_t length, offset;

	if (!shop)
		return false;
	length = squeeze_block(shop, header, words, count);
	if (length) {
		offset = file_take(length);
		if (offset)
			file_write(shop, length, offset);
	}
	give_workshop(shop);
	return length != 0;
}

/* Append the window's content as a block, and clear it. */
static bool append_window(struct trace_block *window, uint64_t used)
{
	uint64_t length = whole_pages(used);
	struct trace_block header = *window;
	uint64_t *words = (uint64_t *)(window + 1);
	uint64_t count = (used - sizeof header) / 8;

	if (file_nowhere)
		return true;
	/* What stands behind an event that a handler left for good, by longjmp, must not be cut off. */
	if (rt_self.handlers || rt_self.parked_count)
		for (uint64_t i = 0; i < count; i++)
			if (!words[i])
				words[i] = (uint64_t)TRACE_EXIT;
	if (!(rt_options.pack && length > TRACE_PAGE && append_squeezed(&header, words, count)) &&
	    !append_plain(header, words, length))
		return false;
	if (!rt_recording)
		return false;
	__atomic_store_n(&window->flags, TRACE_BLOCK_WINDOW | TRACE_BLOCK_FLUSHED, __ATOMIC_RELEASE);
	clear(words, used - sizeof header);
	__asm__ volatile("" ::: "memory");
	return true;
}

static void give_window(struct trace_block *window)
{
	rt_spin_enter(&windows_lock);
	if (windows_used < sizeof windows / sizeof *windows)
		windows[windows_used++] = window;
	rt_spin_leave(&windows_lock);
}

static bool append_parked(void)
{
	for (; rt_self.parked_count; rt_self.parked_count--) {
		struct trace_block *window = rt_self.parked[rt_self.parked_count - 1];

		if (!append_window(window, RT_WINDOW))
			return false;
		give_window(window);
	}
	return true;
}

/* As rt_file_make_room(). */
static bool make_room_live(void)
{
	if (follow_make_room())
		return true;
	if (!follow_checker_gone())
		rt_count(TRACE_COUNT_DROPPED); /* more threads than windows: this one goes without */
	else if (__atomic_load_n(&rt_live->done, __ATOMIC_ACQUIRE))
		rt_recording = false; /* the program has had its verdict and is about to end */
	else
		file_stop("the checker is gone");
	return false;
}

bool rt_file_make_room(void) ATOMSAN_KEEPS_REGISTERS
{
	/* A handler must not find the thread between two windows. */
	uint64_t before = sys_block_signals();
	struct trace_block *window = rt_self.window;
	bool done = false;

	if (window && !(rt_self.next & RT_WINDOW)) {
		done = true; /* a handler came first */
	} else if (!rt_recording) {
	} else if (rt_live) {
		done = make_room_live();
	} else if (!window) {
		window = take_window();
		if (window)
			begin_window(window, 0);
		done = window != NULL;
	} else if (rt_self.handlers && rt_self.parked_count < RT_PARKED) {
		struct trace_block *other = take_window();

		if (other) {
			rt_self.parked[rt_self.parked_count++] = window;
			begin_window(other, window->sequence + 1);
			done = true;
		}
	} else if (append_parked() && append_window(window, RT_WINDOW)) {
		begin_window(window, window->sequence + 1);
		done = true;
	}
	sys_unblock_signals(before);
	if (!done)
		rt_thread_off();
	return done;
}

void rt_file_make_room_soon(void)
{
	uint64_t before;
	struct trace_block *window;

	if (rt_live || !rt_on() || rt_self.handlers || rt_self.parked_count)
		return;
	before = sys_block_signals();
	window = rt_self.window;
	if (window && !(rt_self.next & RT_WINDOW) && append_window(window, rt_self.next - (uint64_t)window))
		begin_window(window, window->sequence + 1);
	sys_unblock_signals(before);
}

void rt_file_close_window(void)
{
	uint64_t before = sys_block_signals();
	struct trace_block *window = rt_self.window;
	uint64_t used = rt_self.next & RT_WINDOW ? RT_WINDOW : rt_self.next - (uint64_t)window;

	if (rt_live)
		follow_close_window();
	else if (window && rt_recording && append_parked() && append_window(window, used))
		give_window(window);
	rt_self.window = NULL;
	rt_self.next = RT_WINDOW;
	sys_unblock_signals(before);
}

void window_leave_all(void)
{
	if (rt_self.window)
		map_memory((uint64_t)rt_self.window);
	for (; rt_self.parked_count; rt_self.parked_count--)
		map_memory((uint64_t)rt_self.parked[rt_self.parked_count - 1]);
	windows_used = windows_lock = 0;
}
