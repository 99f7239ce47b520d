/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What is learned about the lock that something is done under; rt/heal_guard.h says how. */
#include "rt/heal_guard.h"

enum {
	NEAR = 1
	       << 30, /* bytes: in one object, however large; what is no distance at all is soon found out */
};

bool heal_guard_holds(const void *lock, bool may_share)
{
	for (uint32_t i = heal_self.held_count; i--;)
		if (heal_self.held[i].object == lock)
			return may_share || !heal_self.held[i].shared;
	return false;
}

void heal_guard_learn(struct atomsan_heal_guard *guard, const void *lock, const void *p)
{
	int64_t distance = (int64_t)((uint64_t)lock - (uint64_t)p);
	uint32_t state = guard->state, left = state;

	if (guard->lock != lock)
		left &= ~(uint32_t)HEAL_GUARD_AT;
	if (guard->distance != distance)
		left &= ~(uint32_t)HEAL_GUARD_NEAR;
	if (heal_likely(left && left == state))
		return;
	if (!left) {
		/* Who reads this meanwhile takes another gate, and one too many does no harm. */
		guard->lock = lock;
		guard->distance = (int32_t)distance;
		left = HEAL_GUARD_AT | (distance > -NEAR && distance < NEAR ? HEAL_GUARD_NEAR : 0);
	}
	__atomic_store_n(&guard->state, (uint16_t)left, __ATOMIC_RELEASE);
}

/* The innermost that one of the guesses names; NULL: none. */
static const void *guessed(const struct atomsan_heal_guard *guard, const void *p, bool may_share)
{
	for (uint32_t i = heal_self.held_count; i--;)
		if (heal_guard_is(guard, p, heal_self.held[i].object) &&
		    (may_share || !heal_self.held[i].shared))
			return heal_self.held[i].object;
	return NULL;
}

bool heal_guard_covers(struct atomsan_heal_variable *variable, const void *p, bool may_share)
{
	struct atomsan_heal_guard *guard = &variable->guard;
	const struct heal_thread *me = &heal_self;
	const void *lock;

	if (guard->state == HEAL_GUARD_NONE)
		return false;
	if (!guard->state && me->held_count && (may_share || !me->held[me->held_count - 1].shared))
		heal_guard_learn(guard, me->held[me->held_count - 1].object, p);
	lock = guessed(guard, p, may_share);
	if (!lock) {
		__atomic_store_n(&guard->state, HEAL_GUARD_NONE, __ATOMIC_RELEASE);
		return false;
	}
	heal_guard_learn(guard, lock, p);
	if (heal_likely(heal_guard_trusted(guard)))
		return true;
	guard->times++;
	return false;
}
