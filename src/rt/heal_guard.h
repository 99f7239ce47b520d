/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The lock that something is done under: a variable is used, or a section comes to
 * its end. From the first time there are two guesses, and each later time shows
 * whether they hold: it is this very lock, for a variable or a table that has one;
 * or it lies so far away from the access, for objects that have locks of their own.
 */
#ifndef ATOMSAN_RT_HEAL_GUARD_H
#define ATOMSAN_RT_HEAL_GUARD_H

#include "rt/heal_gate.h"

#pragma GCC visibility push(hidden)

/* Bits; none of them: nothing is known yet. */
enum heal_guess { HEAL_GUARD_AT = 1, HEAL_GUARD_NEAR = 2, HEAL_GUARD_NONE = 4 };

enum { HEAL_TRUSTED = 4096 };

static inline __attribute__((always_inline)) bool heal_guard_is(const struct atomsan_heal_guard *guard,
								const void *p, const void *lock)
{
	uint32_t state = guard->state;

	return (state & HEAL_GUARD_AT && lock == guard->lock) ||
	       (state & HEAL_GUARD_NEAR && lock == (const char *)p + guard->distance);
}

/* Accesses under the lock, thousands of times, and none without it. */
static inline __attribute__((always_inline)) bool heal_guard_trusted(const struct atomsan_heal_guard *guard)
{
	return guard->state != HEAL_GUARD_NONE && guard->times >= HEAL_TRUSTED;
}

/* It is the lock that the thread took last. */
static inline __attribute__((always_inline)) bool heal_guard_held(const struct atomsan_heal_guard *guard,
								  const void *p, bool may_share)
{
	const struct heal_held *last = &heal_self.held[heal_self.held_count - 1];

	return heal_self.held_count && heal_guard_trusted(guard) && heal_guard_is(guard, p, last->object) &&
	       (may_share || !last->shared);
}

/* Does the thread hold it? */
bool heal_guard_holds(const void *lock, bool may_share);
/* Something has been done at p under this lock: guesses that do not say so were wrong. If none is left it is
 * guessed anew. */
void heal_guard_learn(struct atomsan_heal_guard *guard, const void *lock, const void *p);
/* Is the variable used under one lock, always, and now? Then that lock's gate does for all. Who only reads
 * may share the lock; a section must have it alone, or two could begin at once. */
bool heal_guard_covers(struct atomsan_heal_variable *variable, const void *p, bool may_share);

#pragma GCC visibility pop

#endif
