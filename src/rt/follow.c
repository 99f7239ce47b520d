/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Windows in memory that a checker shares. A thread never waits for another
 * thread of the program, only for the checker, and not for one that is gone; so
 * whatever locks it holds meanwhile, the checker comes round to its window.
 */
#include "rt/follow.h"

#include "rt/event_inl.h"
#include "rt/shadow.h"
#include "rt/sys.h"
#include "rt/unmet.h"

#include <linux/futex.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

struct live_control *rt_live;
static char *base;

_Static_assert(LIVE_WINDOW == RT_WINDOW, "the bit that tells the end of a window");

static struct live_window *window_at(uint32_t index)
{
	return (struct live_window *)(base + LIVE_WINDOWS + index * LIVE_STRIDE);
}

static uint32_t index_of(const struct live_window *window)
{
	return (uint32_t)(((uint64_t)window - (uint64_t)base - LIVE_WINDOWS) / LIVE_STRIDE);
}

/* The size of the memory counts as a file's, though hardly any of it is ever there. */
static long make_memory(void)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY}, wide;
	long fd = sys2(memfd_create, "atomsan", MFD_CLOEXEC), failed;
	bool narrow;

	if (sys_failed(fd))
		return fd;
	sys4(prlimit64, 0, RLIMIT_FSIZE, 0, &limit);
	narrow = limit.rlim_cur < LIVE_SIZE;
	wide = (struct rlimit){limit.rlim_max, limit.rlim_max};
	if (narrow && limit.rlim_max >= LIVE_SIZE)
		sys4(prlimit64, 0, RLIMIT_FSIZE, &wide, 0);
	failed = narrow && limit.rlim_max < LIVE_SIZE ? -1 : sys2(ftruncate, fd, LIVE_SIZE);
	if (narrow && limit.rlim_max >= LIVE_SIZE)
		sys4(prlimit64, 0, RLIMIT_FSIZE, &limit, 0);
	if (!sys_failed(failed))
		return fd;
	sys1(close, fd);
	return failed;
}

struct trace_header *follow_map(int *memory)
{
	long fd = make_memory(), all;
	uint64_t pool = (rt_options.buffer << 20) / RT_WINDOW;

	if (sys_failed(fd)) {
		rt_say("there is no memory to share with the checker (is the file size limited by ulimit "
		       "-f?); "
		       "the program runs unchecked");
		return NULL;
	}
	/* Windows must lie so that RT_WINDOW is a bit that is clear in them. */
	all = sys6(mmap, 0, LIVE_SIZE + LIVE_STRIDE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0);
	if (!sys_failed(all)) {
		long at = (all + (long)LIVE_STRIDE - 1) & ~((long)LIVE_STRIDE - 1);

		all = sys6(mmap, at, LIVE_SIZE, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0);
	}
	if (sys_failed(all)) {
		rt_say("there is no address space to share with the checker; the program runs unchecked");
		sys1(close, fd);
		return NULL;
	}
	sys3(madvise, all, LIVE_SIZE, MADV_DONTDUMP);
	base = (char *)all;
	rt_live = (struct live_control *)(base + LIVE_CONTROL);
	rt_live->version = LIVE_VERSION;
	rt_live->pool = pool < LIVE_COUNT / 2 ? (uint32_t)pool : LIVE_COUNT / 2;
	*memory = (int)fd;
	return (struct trace_header *)base;
}

/*
 * The mapping stays, for whoever forked may be a handler that interrupted a
 * writer: what it writes there is lost.
 */
void follow_unmap(void)
{
	if (!rt_live)
		return;
	rt_live = NULL;
	sys6(mmap, base, LIVE_SIZE, PROT_READ | PROT_WRITE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

bool follow_checker_gone(void)
{
	return __atomic_load_n(&rt_live->alive, __ATOMIC_ACQUIRE) & LIVE_OWNER_DIED;
}

bool follow_waiting(void) ATOMSAN_KEEPS_REGISTERS
{
	return rt_live && __atomic_load_n(&rt_live->waiters, __ATOMIC_RELAXED);
}

static void clear(void *at, uint64_t length)
{
	__asm__ volatile("rep stosb" : "+D"(at), "+c"(length) : "a"(0) : "memory");
}

/* A free window, or one that was never used; NULL: there are no more. Low ones first, to stay in caches. */
static struct live_window *take_free(void)
{
	uint32_t fresh = __atomic_load_n(&rt_live->fresh, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i * 64 < fresh; i++) {
		uint64_t bits = __atomic_load_n(&rt_live->free[i], __ATOMIC_RELAXED);

		while (bits) {
			uint64_t bit = bits & -bits;
			struct live_window *window;

			/* Acquire pairs with the release of the checker, who has read it. */
			bits = __atomic_fetch_and(&rt_live->free[i], ~bit, __ATOMIC_ACQUIRE);
			if (!(bits & bit))
				continue;
			window = window_at(i * 64 + (uint32_t)__builtin_ctzll(bit));
			clear(window->words, window->used - sizeof *window);
			return window;
		}
	}
	fresh = __atomic_fetch_add(&rt_live->fresh, 1, __ATOMIC_ACQ_REL);
	if (fresh < LIVE_COUNT)
		return window_at(fresh);
	__atomic_fetch_sub(&rt_live->fresh, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* One for each thread, and a pool for all of them; `in_any_case` goes beyond the pool. */
static struct live_window *take_window(bool in_any_case)
{
	struct live_window *window = NULL;

	if (__atomic_add_fetch(&rt_live->used, 1, __ATOMIC_RELAXED) <=
		    rt_live->pool + __atomic_load_n(&rt_live->threads, __ATOMIC_RELAXED) ||
	    in_any_case)
		window = take_free();
	if (!window)
		__atomic_fetch_sub(&rt_live->used, 1, __ATOMIC_RELAXED);
	return window;
}

static void open_window(struct live_window *window, uint32_t sequence)
{
	window->owner = rt_self.number;
	window->next = 0;
	window->used = RT_WINDOW;
	window->hole = 0;
	window->sequence = sequence;
	window->told = LIVE_ALL;
	unmet_window();
	/* Pairs with the checker's load: from here on these are new words. */
	__atomic_store_n(&window->state, LIVE_OPEN, __ATOMIC_RELEASE);
	rt_self.window = (struct trace_block *)window;
	rt_self.next = (uint64_t)window->words;
}

static void begin_window(struct live_window *window, uint32_t sequence)
{
	open_window(window, sequence);
	/*
	 * The next access draws a stamp, for the checker hands out nothing that is younger than the
	 * stamp of a thread that writes all the time. Not the one under way: its cell has the old one.
	 * Where a call is one unit, each segment costs a look at all that it comes to: some windows share
	 * one.
	 */
	if (!rt_self.call.entire || sequence % 4 == 0) {
		rt_self.sub = SHADOW_SUBS;
		__atomsan_thread.segment = __atomsan_thread.fresh;
	}
	unmet_window_begun();
}

/* The checker may be asleep. */
static void tell(void)
{
	__atomic_fetch_add(&rt_live->sealed, 1, __ATOMIC_SEQ_CST);
	/* Pairs with the checker's store, after which it looks at `sealed`. */
	if (__atomic_load_n(&rt_live->sleeping, __ATOMIC_SEQ_CST))
		sys3(futex, &rt_live->sealed, FUTEX_WAKE, 1);
}

static void seal(struct live_window *window, uint64_t used, enum live_state state)
{
	uint64_t count = (used - sizeof *window) / 8;

	/* What stands behind an event that a handler left for good, by longjmp, must not be cut off. */
	if (rt_self.handlers || rt_self.parked_count)
		for (uint64_t i = 0; i < count; i++)
			if (!window->words[i])
				window->words[i] = (uint64_t)TRACE_EXIT;
	window->used = (uint32_t)used;
	__atomic_store_n(&window->state, state, __ATOMIC_RELEASE);
}

static void seal_parked(void)
{
	for (; rt_self.parked_count; rt_self.parked_count--)
		seal((struct live_window *)rt_self.parked[rt_self.parked_count - 1], RT_WINDOW, LIVE_SEALED);
}

static void link_window(struct live_window *from, struct live_window *to)
{
	__atomic_store_n(&from->next, index_of(to) + 1, __ATOMIC_RELEASE);
}

/* ---- windows that are held ---- */

struct live_window *follow_behind(const struct live_window *window)
{
	return window_at(window->next - 1);
}

/* Goes on in another window, without giving this one away. */
static bool hold(struct live_window *mine)
{
	struct live_window *window = NULL;

	if (!unmet_may_hold())
		return false;
	if (__atomic_add_fetch(&rt_live->held, 1, __ATOMIC_RELAXED) <= rt_live->pool)
		window = take_window(true);
	if (!window) {
		__atomic_fetch_sub(&rt_live->held, 1, __ATOMIC_RELAXED);
		return false;
	}
	rt_self.call.held++;
	open_window(window, mine->sequence + 1);
	/* The checker does not go there before it may read all of `mine`. */
	link_window(mine, window);
	return true;
}

void follow_release(void)
{
	struct live_window *window = (struct live_window *)rt_self.call.first, *next;
	/* A handler that interrupts this finds nothing to do. */
	uint32_t held = __atomic_exchange_n(&rt_self.call.held, 0, __ATOMIC_RELAXED);

	if (!held)
		return;
	__atomic_fetch_sub(&rt_live->held, held, __ATOMIC_RELAXED);
	__atomic_fetch_or(&window->told, LIVE_ALL, __ATOMIC_RELEASE);
	for (; held; held--, window = next) {
		next = follow_behind(window);
		seal(window, RT_WINDOW, LIVE_SEALED);
	}
	tell();
}

static void free_window(struct live_window *window)
{
	uint32_t index = index_of(window);

	/* Pairs with the acquire of who takes it. */
	__atomic_fetch_or(&rt_live->free[index / 64], 1ull << index % 64, __ATOMIC_RELEASE);
	__atomic_fetch_sub(&rt_live->used, 1, __ATOMIC_RELEASE);
}

void follow_back_to(struct live_window *window)
{
	struct live_window *last = (struct live_window *)rt_self.window;
	struct live_window *before = (struct live_window *)rt_self.call.first;
	struct live_window *behind = window == last ? NULL : follow_behind(window), *next;

	window->next = 0;
	for (; behind; behind = next) {
		next = behind == last ? NULL : follow_behind(behind);
		free_window(behind);
	}
	for (; before != window; before = next) {
		next = follow_behind(before);
		seal(before, RT_WINDOW, LIVE_SEALED);
		tell();
	}
	rt_self.window = (struct trace_block *)window;
	__atomic_fetch_sub(&rt_live->held, rt_self.call.held, __ATOMIC_RELAXED);
	rt_self.call.held = 0;
	__atomic_fetch_add(&rt_live->freed, 1, __ATOMIC_SEQ_CST);
	/* Pairs with who waits, and looks for a window after it has looked at `freed`. */
	if (__atomic_load_n(&rt_live->waiters, __ATOMIC_SEQ_CST))
		sys3(futex, &rt_live->freed, FUTEX_WAKE, INT32_MAX);
}

/* A thread of a process that is to end need not go on. */
static void halt(void)
{
	if (__atomic_load_n(&rt_live->halt, __ATOMIC_ACQUIRE))
		sys1(exit_group, rt_options.exitcode ? rt_options.exitcode : 1);
}

/* Another window, or the same one (if any) again. NULL: the checker is gone, or has no more. */
static struct live_window *wait_for_window(struct live_window *mine)
{
	struct live_window *window = NULL;
	struct timespec while_it_lives = {0, 50000000};

	__atomic_fetch_add(&rt_live->waiters, 1, __ATOMIC_SEQ_CST);
	while (rt_record_need_checker()) {
		/* It was started, and has said what it wants to know. */
		unmet_start();
		uint32_t seen = __atomic_load_n(&rt_live->freed, __ATOMIC_SEQ_CST);

		halt();
		window = take_window(false);
		if (window || follow_checker_gone())
			break;
		if (!mine && __atomic_load_n(&rt_live->fresh, __ATOMIC_RELAXED) >= LIVE_COUNT)
			break;
		if (mine && __atomic_load_n(&mine->state, __ATOMIC_ACQUIRE) == LIVE_DRAINED) {
			window = mine;
			break;
		}
		sys4(futex, &rt_live->freed, FUTEX_WAIT, seen, &while_it_lives);
	}
	__atomic_fetch_sub(&rt_live->waiters, 1, __ATOMIC_RELAXED);
	return window;
}

bool follow_make_room(void)
{
	struct live_window *mine = (struct live_window *)rt_self.window, *window;

	halt();
	if (follow_checker_gone())
		return false;
	if (!mine) {
		__atomic_fetch_add(&rt_live->threads, 1, __ATOMIC_RELAXED);
		window = take_window(false);
		if (!window)
			window = wait_for_window(NULL);
		if (!window) {
			__atomic_fetch_sub(&rt_live->threads, 1, __ATOMIC_RELAXED);
			return false;
		}
		begin_window(window, 0);
		/* Release pairs with the checker's acquire of the count and exchange of the bits. */
		__atomic_fetch_or(&rt_live->begun[index_of(window) / 64], 1ull << index_of(window) % 64,
				  __ATOMIC_RELEASE);
		__atomic_fetch_add(&rt_live->begun_count, 1, __ATOMIC_RELEASE);
		return true;
	}
	/* An event that the handler interrupted will be completed in the old window: nobody may have it yet.
	 */
	if (rt_self.handlers && rt_self.parked_count < RT_PARKED) {
		window = take_window(true);
		if (window) {
			__atomic_fetch_or(&mine->told, LIVE_ALL, __ATOMIC_RELEASE);
			rt_self.parked[rt_self.parked_count++] = rt_self.window;
			begin_window(window, mine->sequence + 1);
			link_window(mine, window);
			return true;
		}
	}
	entire_look();
	if (unmet_back_full() || hold(mine))
		return true;
	unmet_keep();
	seal(mine, RT_WINDOW, LIVE_SEALED);
	seal_parked();
	tell();
	window = take_window(false);
	if (!window)
		window = wait_for_window(mine);
	if (!window)
		return false;
	if (window == mine) {
		clear(window->words, RT_WINDOW - sizeof *window);
		begin_window(window, window->sequence + 1);
	} else {
		begin_window(window, mine->sequence + 1);
		link_window(mine, window);
	}
	return true;
}

void follow_handler(void)
{
	struct live_window *window = (struct live_window *)rt_self.window;
	uint64_t *end;

	if (!rt_live || !window)
		return;
	unmet_keep();
	end = rt_self.next & RT_WINDOW ? (uint64_t *)((char *)window + RT_WINDOW) : (uint64_t *)rt_self.next;
	for (uint64_t *p = end; p-- > window->words && end - p <= EVENT_WORDS;)
		if (!*p) {
			/* Read by the checker after the stamps of what the handler does. */
			__atomic_store_n(&window->hole, (uint32_t)(p - window->words) + 1, __ATOMIC_RELEASE);
			return;
		}
}

void follow_close_window(void)
{
	struct live_window *window = (struct live_window *)rt_self.window;
	uint64_t used = rt_self.next & RT_WINDOW ? RT_WINDOW : rt_self.next - (uint64_t)window;

	if (!window)
		return;
	seal(window, used, LIVE_LAST);
	seal_parked();
	__atomic_fetch_sub(&rt_live->threads, 1, __ATOMIC_RELAXED);
	tell();
}

void follow_meta(enum trace_meta kind, uint32_t item, const struct rt_piece *pieces, int count)
{
	struct trace_block *block;
	uint64_t payload = 0, length, at;
	char *to;

	for (int i = 0; i < count; i++)
		payload += pieces[i].length;
	length = (payload + sizeof *block + TRACE_PAGE - 1) / TRACE_PAGE * TRACE_PAGE;
	if (length > LIVE_META_ROOM) {
		rt_count(TRACE_COUNT_MODULES_REFUSED);
		return;
	}
	at = __atomic_fetch_add(&rt_live->meta_next, length, __ATOMIC_ACQ_REL);
	if (at + length > LIVE_META_ROOM) {
		rt_count(TRACE_COUNT_MODULES_REFUSED);
		return;
	}
	block = (struct trace_block *)(base + LIVE_META + at);
	to = (char *)(block + 1);
	for (int i = 0; i < count; i++) {
		const void *from = pieces[i].bytes;
		uint64_t n = pieces[i].length;

		__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	}
	block->kind = TRACE_BLOCK_META;
	block->payload = (uint32_t)payload;
	block->owner = kind;
	block->item = item;
	/* Pairs with the checker's load: the rest is there. */
	__atomic_store_n(&block->magic, TRACE_BLOCK_MAGIC, __ATOMIC_RELEASE);
}
