/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Bare locks (heal_bare.c), compiled to bitcode when atomsan is built, as inlined.c
 * is. While nobody has to do with gates of locks they are libc's own calls, one
 * look before and one behind: whoever closes a lock's gate holds the lock, so who gets it next sees that.
 */
#include "abi/heal.h"

#define INLINED __attribute__((used, nothrow))
#define UNLIKELY(x) __builtin_expect((x) != 0, 0)
/* A plain load, though others write it: LLVM compares memory in one instruction only if the load is not
 * atomic, and around each look stands a call that could write anything. */
#define USE __atomsan_heal_use

/*
 * A thread that has nothing, neither locks nor gates, keeps nobody waiting while it waits for
 * the lock, so it need not look for gates before it has it. Who has another lock
 * does, and says that it has it.
 */
static inline __attribute__((always_inline)) int lock_it(void *lock, void *outer, uint32_t kind,
							 uint32_t outer_kind)
{
	uint32_t kinds = kind | outer_kind << 16;
	int taken;

	if (UNLIKELY(__atomsan_heal_mine | (outer ? USE : 0)))
		return __atomsan_heal_lock(lock, outer, kinds, ATOMSAN_HEAL_NOT_YET);
	taken = __atomsan_heal_real[kind].lock(lock);
	if (UNLIKELY(USE))
		return __atomsan_heal_lock(lock, outer, kinds, taken);
	return taken;
}

/* The second ones are inside of another bare lock. */
#define LOCK(name, kind)                                                                         \
	INLINED int __atomsan_inl_heal_##name(void *lock)                                        \
	{                                                                                        \
		return lock_it(lock, 0, kind, 0);                                                \
	}                                                                                        \
	INLINED int __atomsan_inl_heal_##name##_in(void *lock, void *outer, uint32_t outer_kind) \
	{                                                                                        \
		return lock_it(lock, outer, kind, outer_kind);                                   \
	}                                                                                        \
	INLINED int __atomsan_inl_heal_un##name(void *lock)                                      \
	{                                                                                        \
		if (UNLIKELY(__atomsan_heal_mine))                                               \
			return __atomsan_heal_unlock(lock, kind);                                \
		return __atomsan_heal_real[kind].unlock(lock);                                   \
	}

LOCK(mutex, ATOMSAN_HEAL_MUTEX)
LOCK(mtx, ATOMSAN_HEAL_MTX)
LOCK(spin, ATOMSAN_HEAL_SPIN)
LOCK(rdlock, ATOMSAN_HEAL_RDLOCK)
LOCK(wrlock, ATOMSAN_HEAL_WRLOCK)
