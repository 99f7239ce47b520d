/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A lock of the runtime's own, for what is seldom done and soon over: reports,
 * tables. Who waits gives its processor away, since the holder may need it. Zero
 * is free; a forked child sets it so.
 */
#ifndef ATOMSAN_RT_SPINLOCK_H
#define ATOMSAN_RT_SPINLOCK_H

#include "rt/sys.h"

#include <stdint.h>

static inline void rt_spin_enter(uint32_t *lock)
{
	/* Acquire pairs with the release below. */
	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
		sys0(sched_yield);
}

static inline void rt_spin_leave(uint32_t *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#endif
