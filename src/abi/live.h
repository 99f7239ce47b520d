/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A trace that is read while it is written, by a checker beside the program. It
 * lies in memory that the two share and is bounded: windows go round.
 *
 *   0                     struct trace_header, as in a file
 *   LIVE_CONTROL          struct live_control
 *   LIVE_WINDOWS          windows, LIVE_STRIDE apart; the second half of each stride is never touched,
 *                         so that one bit of an address tells the end of the window
 *   LIVE_META             metadata blocks as in a file, back to back
 *
 * A window belongs to a thread, or is free. The thread takes a free one, fills
 * it with events as in a file's block, seals it and links the next one to it. The
 * checker reads it in place and frees it. Where the pool is used up, the thread
 * seals its window and waits until the checker has freed another or drained
 * this one, which it then uses again: so it never waits for another thread.
 *
 * Who writes what, and who reads it:
 *
 *   state OPEN, SEALED, LAST   thread   checker: a window that is not OPEN is complete
 *   state DRAINED              checker  thread: everything in it was read, use it again
 *   next                       thread   checker: index + 1 of the window that follows
 *   free bit                   checker sets, or who held the window; who takes it clears
 *   begun bit                  thread sets with its first window, checker clears
 *   hole                       thread   checker: what is hidden behind a zero word before it
 *   told                       both     how far the checker may read in a window that is open
 *
 * A thread may take back what it wrote in a window that is open (rt/unmet.h), so
 * `told` has the index of the first word that it might, and LIVE_ALL if it will
 * take back none. The checker that cannot go on sets LIVE_ALL; the thread that takes
 * back sets LIVE_BACK before, in one exchange that fails if it was the checker's
 * turn. The upper bits are a key which no event from that word on is below. What might
 * be taken back may go on in windows behind that one, which are open like it: the thread
 * *holds* them, and the checker does not look there before it may read all of the first.
 */
#ifndef ATOMSAN_ABI_LIVE_H
#define ATOMSAN_ABI_LIVE_H

#include "abi/trace.h"

#define LIVE_VERSION 3
#define LIVE_WINDOW 0x20000ull
#define LIVE_STRIDE (2 * LIVE_WINDOW)
#define LIVE_COUNT 32768u /* each thread has one, so no more threads than that */
#define LIVE_CONTROL 0x1000ull
#define LIVE_WINDOWS 0x40000ull
#define LIVE_META (LIVE_WINDOWS + LIVE_COUNT * LIVE_STRIDE)
#define LIVE_META_ROOM (1ull << 30)
#define LIVE_SIZE (LIVE_META + LIVE_META_ROOM)

/* Descriptors that the checker finds open. */
enum { LIVE_FD_MEMORY = 3, LIVE_FD_READY = 4, LIVE_FD_TRACE = 5 };

enum live_state {
	LIVE_OPEN = 1,
	LIVE_SEALED = 2,  /* the thread goes on in another window, or will */
	LIVE_LAST = 3,    /* sealed, and the thread has ended */
	LIVE_DRAINED = 4, /* sealed, and read to its end */
};

struct live_window {
	uint32_t state;
	uint32_t owner;    /* thread number */
	uint32_t sequence; /* of this thread's windows, from 0 */
	uint32_t next;     /* index + 1; 0: none yet */
	uint32_t used;     /* bytes from the beginning of the window; to be cleared before it is used again */
	uint32_t hole;     /* index of the last word that a signal handler found taken and not yet filled */
	uint64_t told;     /* index | LIVE_ALL or LIVE_BACK | key << LIVE_KEY_SHIFT */
	uint64_t words[];
};

#define LIVE_INDEX 0xffffull
#define LIVE_ALL 0x10000ull
#define LIVE_BACK 0x20000ull
#define LIVE_KEY_SHIFT 20

/* Each group on a cache line of its own, lest one writer's line be another's. */
struct live_control {
	uint32_t version;
	uint32_t pool; /* windows beyond one for each thread */
	/* A robust futex that the checker owns as long as it lives: the kernel marks it when the checker
	 * dies, however it does. */
	uint32_t alive;

	/* Threads write. */
	uint32_t used __attribute__((aligned(64))); /* windows that are not free */
	uint32_t threads;                           /* that have a window, or wait for their first */
	uint32_t fresh;                             /* windows that ever were taken */
	uint32_t begun_count;                       /* threads that ever began */
	uint32_t waiters;                           /* threads that wait for a window */
	uint32_t held;                              /* windows that are, of a pool of their own */
	uint64_t meta_next;                         /* bytes of metadata handed out */
	uint64_t calls, unmet;                      /* outermost calls, and those that were taken back */
	uint64_t silent, spoken; /* calls taken back as they went on, and accesses told by others for them */

	uint32_t sealed __attribute__((aligned(64))); /* futex: windows sealed, and other news */
	uint32_t sleeping;                            /* the checker waits for that */

	/* The checker writes, and who frees windows that it held. */
	uint32_t freed __attribute__((aligned(64))); /* futex: windows freed or drained */
	/* The checker writes. */
	uint32_t halt;      /* the program shall end here */
	uint32_t done;      /* futex: everything was checked */
	uint32_t findings;  /* with `done`: how many */
	uint32_t all_calls; /* no call is to be taken back; set before it is ready */

	uint64_t free[LIVE_COUNT / 64] __attribute__((aligned(64)));
	uint64_t begun[LIVE_COUNT / 64];
	/* The checker writes: functions, by number, whose outermost calls are one unit with all that is
	 * called in them, as far as it has seen (rt/entire.h). */
	uint64_t entire[(1 << TRACE_ID_BITS) / 64];
};

#define LIVE_OWNER_DIED 0x40000000u /* in `alive`: FUTEX_OWNER_DIED */

_Static_assert(sizeof(struct live_window) == sizeof(struct trace_block), "events begin at the same place");
_Static_assert(sizeof(struct live_control) <= LIVE_WINDOWS - LIVE_CONTROL, "it fits before the windows");

#endif
