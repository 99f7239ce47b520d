/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Access interleaving invariants (AVIO, section 3): two accesses of one thread
 * to one location, one right after the other in one call of a function, and
 * what other threads did to the location in between. A pair that nobody ever
 * breaks is one that was perhaps meant to be atomic; one that was broken while
 * all went well was not.
 *
 * Fed with accesses in the order in which they happened, it keeps for each
 * location each thread's latest access and what others have done since, so
 * time and memory go with the number of accesses and of locations.
 */
#ifndef ATOMSAN_LEARN_PAIRS_H
#define ATOMSAN_LEARN_PAIRS_H

#include "learn/guards.h"

#include <stdbool.h>
#include <stdint.h>

struct pairs;

/* Numbers of the caller's choice; the key of a pair is all of it. */
struct pairs_pair {
	uint32_t first, last;          /* places */
	uint8_t first_kind, last_kind; /* ATOMICITY_READ or ATOMICITY_WRITE */
	uint32_t unit;                 /* function in whose call the first access was made */
	uint64_t times;                /* it was not broken */
	uint64_t broken;               /* times it was */
	uint64_t guarded;              /* times that nobody could have broken it */
};

/* Guards that the same run went through before and goes through along with this; NULL: nothing is guarded. */
struct pairs *pairs_new(const struct guards *guards);
void pairs_free(struct pairs *pairs);

/* Calls and iterations, which nest. What is transparent is no unit: what it does, its caller does. */
void pairs_enter(struct pairs *pairs, uint32_t thread, uint32_t unit, bool transparent);
void pairs_leave(struct pairs *pairs, uint32_t thread, uint32_t count);
/* The thread waits for a condition, which lets others in: no pair goes across it. */
void pairs_wait(struct pairs *pairs, uint32_t thread);

/* Kinds may be both, then it is a read and right after it a write. A place of 0 is of no interest: it comes
 * between others' accesses and the thread's own, and makes no pair. */
void pairs_access(struct pairs *pairs, uint32_t thread, uint64_t address, uint64_t length, unsigned kinds,
		  uint32_t place);
/* The bytes are something else from now on. */
void pairs_forget(struct pairs *pairs, uint64_t address, uint64_t length);

/* All pairs, in no order; good until the next access. */
const struct pairs_pair *pairs_all(const struct pairs *pairs, uint32_t *count);

#endif
