/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Watchpoints: accesses that are about to be made, for others to see. A thread
 * sets one, waits a while, and closes it right before its access; who makes a
 * conflicting access in the meantime claims it and leaves word of himself.
 *
 * A watchpoint covers bytes of one aligned 8-byte granule. There are some cells,
 * and each granule falls to one of them: that is what inlined code looks at
 * (abi/hooks.h). As long as nothing is watched they equal WATCHPOINT_CLEAR, which
 * is also the segment of every thread, so an access calls no hook unless its
 * granule falls to a cell in use. A cell serves one watchpoint at a time; where it
 * is in use, or all places are taken, none is set.
 *
 *   who sets      FREE -> BUSY -> OPEN ........ -> FREE
 *   who claims                    OPEN -> CLAIMED -> TOLD -> FREE (by who set it)
 *
 * Each use of a place has a number of its own, kept beside the state: who read
 * what a watchpoint is about and then claims it has read of that one.
 */
#ifndef ATOMSAN_RT_WATCHPOINT_H
#define ATOMSAN_RT_WATCHPOINT_H

#include "abi/hooks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

enum { WATCHPOINT_CELLS = 512, WATCHPOINT_PLACES = 64, WATCHPOINT_FRAMES = 16 };
#define WATCHPOINT_CLEAR (1ull << ATOMSAN_STAMP_SHIFT | 0xffff)
/* The segment of a thread whose every access is to call its hook. */
#define WATCHPOINT_ARMED (2ull << ATOMSAN_STAMP_SHIFT | 0xffff)

/* Kinds of accesses, as in watch.h. */
enum { WATCHPOINT_READ = 1, WATCHPOINT_WRITE = 2 };

struct watchpoint_access {
	uint64_t address, length;
	const struct atomsan_site *site;
	uint32_t thread;
	uint8_t kinds;
	bool marked; /* atomic or volatile: two of these are no race */
};

struct watchpoint {
	uint64_t state; /* number of the use, and enum watchpoint_state */
	uint32_t bytes; /* of the granule, one bit each */
	struct watchpoint_access mine;
	/* Valid once it is closed with WATCHPOINT_HIT. */
	struct watchpoint_access other;
	const struct atomsan_function *frames[WATCHPOINT_FRAMES]; /* the other's, innermost first */
	uint32_t depth;
	char name[48]; /* of the other thread */
};

/* What inlined code compares with; one more, for accesses of two granules. */
extern uint64_t watchpoint_cells[WATCHPOINT_CELLS + 1];
/* Which places are in use, and what granules they watch. */
extern uint64_t watchpoint_active, watchpoint_granules[WATCHPOINT_PLACES];

void watchpoint_start(void); /* also in a forked child: nothing is watched */

/* Is there a watchpoint on a granule of these bytes? */
static inline __attribute__((always_inline)) bool watchpoint_near(uint64_t address, uint64_t length)
{
	uint64_t first = address >> 3, span = ((address + length - 1) >> 3) - first;

	for (uint64_t places = __atomic_load_n(&watchpoint_active, __ATOMIC_RELAXED); places;
	     places &= places - 1)
		if (__atomic_load_n(&watchpoint_granules[__builtin_ctzll(places)], __ATOMIC_RELAXED) -
			    first <=
		    span)
			return true;
	return false;
}

/* Watches the bytes of the access in one of its granules, which one `pick` says. NULL: there is no room. */
struct watchpoint *watchpoint_set(const struct watchpoint_access *access, uint64_t pick);

/* The watchpoint that this access runs into, if any; it is the caller's to fill in `other` and what follows
 * it, and then to tell. */
struct watchpoint *watchpoint_claim(const struct watchpoint_access *access);
void watchpoint_tell(struct watchpoint *w);

/* By who set it. WAIT: somebody is about to tell; ask again. After MISSED the place is free; after HIT it is
 * once watchpoint_free() is called. */
enum watchpoint_end { WATCHPOINT_MISSED, WATCHPOINT_HIT, WATCHPOINT_WAIT };
enum watchpoint_end watchpoint_close(struct watchpoint *w);
void watchpoint_free(struct watchpoint *w);

#pragma GCC visibility pop

#endif
