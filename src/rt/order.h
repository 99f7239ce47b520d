/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which operations draw a stamp. The key of an event is its thread's latest
 * stamp, and all that order asks is that whoever goes on has a higher key than
 * who let it go on (Lamport's rule). So a release notes its key at the object
 * and draws none; who acquires draws one only if the key that it finds is above
 * its own. Equal keys are of one thread, for stamps are unique and a thread's
 * first event has one.
 *
 * Keys are noted in a table by the object's address. They only ever grow. An entry belongs to the
 * object that came first, so that who lets go what he has alone notes his key with a mere
 * store; others with the same place share one of a second table, which costs a stamp and never an order.
 *
 * A handler may have drawn a stamp behind the thread's back, between two steps
 * of the operation that it interrupted. So what is noted is the higher of both,
 * and operations of handlers draw one always.
 */
#ifndef ATOMSAN_RT_ORDER_H
#define ATOMSAN_RT_ORDER_H

#include "rt/event_inl.h"

#pragma GCC visibility push(hidden)

/* The highest keys with which an object was let go by who had it alone, or with others, and with which
 * somebody tried in vain to get it. */
struct order_keys {
	uint64_t released, shared, failed;
	const void *object; /* NULL: nobody's, or whoever's comes */
};

enum {
	ORDER_BITS = 11,
	/* Segments without a stamp run out, and an operation draws one more cheaply than an access. */
	ORDER_SUBS = SHADOW_SUBS - 16,
};
extern struct order_keys order_table[1 << ORDER_BITS], order_crowd[1 << ORDER_BITS];
/* The highest key of a free that the cells do not tell of (block.c). */
extern uint64_t order_freed;

/* As if nobody had done anything yet: stamps begin anew. */
void order_forget(void);
void order_forget_atomics(void); /* atomic.c */
/* Is the readers-writer lock, which the caller holds, held for reading (rwlock.c)? */
bool order_held_shared(const void *lock) ATOMSAN_KEEPS_REGISTERS;

INLINE uint64_t order_place_of(const void *object)
{
	return ((uint64_t)object >> 3) * 0x9e3779b97f4a7c15ull >> (64 - ORDER_BITS);
}

INLINE struct order_keys *order_keys_of(const void *object)
{
	struct order_keys *keys = &order_table[order_place_of(object)];
	const void *nobody = NULL;

	if (likely(keys->object == object) ||
	    (!keys->object && __atomic_compare_exchange_n(&keys->object, &nobody, object, false,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED)) ||
	    nobody == object)
		return keys;
	return &order_crowd[order_place_of(object)];
}

/* They will be written to when the object is let go. */
INLINE void order_fetch(const void *object)
{
	__asm__ volatile("prefetchw %0" : : "m"(order_table[order_place_of(object)]));
}

/* Must an operation draw a stamp, whatever was noted? */
INLINE bool order_due_anyway(void)
{
	return rt_self.handlers || rt_self.sub >= ORDER_SUBS;
}

/* The key of what the thread has written so far, or a higher one. */
INLINE uint64_t order_key(void)
{
	return rt_self.stamp > rt_self.handler_stamp ? rt_self.stamp : rt_self.handler_stamp;
}

INLINE void order_raise(uint64_t *key, uint64_t to)
{
	uint64_t now = __atomic_load_n(key, __ATOMIC_RELAXED);

	/* What others learn from it they learn after the object was let go. */
	while (now < to &&
	       !__atomic_compare_exchange_n(key, &now, to, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/* The object is about to be let go by who has it alone. */
INLINE void order_release(struct order_keys *keys)
{
	if (unlikely(!keys->object))
		order_raise(&keys->released, order_key());
	else if (keys->released < order_key())
		__atomic_store_n(&keys->released, order_key(), __ATOMIC_RELAXED);
}

/* Does the operation need a stamp to stand behind what it comes after? */
INLINE bool order_due_at(const struct order_keys *keys, enum trace_op op, unsigned flags)
{
	uint64_t own = rt_self.stamp;

	switch (op) {
	case TRACE_OP_LOCK:
		/* A dead thread noted nothing. */
		return __atomic_load_n(&keys->released, __ATOMIC_RELAXED) > own ||
		       __atomic_load_n(&keys->shared, __ATOMIC_RELAXED) > own || flags & TRACE_LOCK_OWNERDEAD;
	case TRACE_OP_RDLOCK:
		return __atomic_load_n(&keys->released, __ATOMIC_RELAXED) > own;
	case TRACE_OP_UNLOCK:
		return __atomic_load_n(&keys->failed, __ATOMIC_RELAXED) > own;
	default:
		return true;
	}
}

INLINE bool order_due(enum trace_op op, unsigned flags, const void *object)
{
	return order_due_anyway() || order_due_at(order_keys_of(object), op, flags);
}

/* Does the operation let a lock go that others may have, too? */
INLINE bool order_shared(enum trace_op op, unsigned flags, const void *object)
{
	return op == TRACE_OP_UNLOCK && flags & TRACE_LOCK_RW && order_held_shared(object);
}

/* The operation is written; if it lets others go on it has not done so yet. */
INLINE void order_note(enum trace_op op, bool shared, const void *object, uint64_t value)
{
	struct order_keys *keys;

	switch (op) {
	case TRACE_OP_UNLOCK:
		keys = order_keys_of(object);
		if (shared)
			order_raise(&keys->shared, order_key());
		else
			order_release(keys);
		break;
	case TRACE_OP_LOCK_FAILED:
		order_raise(&order_keys_of(object)->failed, order_key());
		break;
	case TRACE_OP_WAIT: /* and its mutex */
		order_release(order_keys_of((const void *)value));
		break;
	default:
		break;
	}
}

#pragma GCC visibility pop

#endif
