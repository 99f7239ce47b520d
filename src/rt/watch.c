/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/watch.h"

uint32_t rt_watching;

/* Every access differs from a cell like this: without a recording, hooks are called for all of them. */
static uint64_t news_cell[4];

/* The program's own doing, and not in a signal handler: there nothing may wait. */
static inline bool mine(void)
{
	return rt_self.number != RT_NO_THREAD && !rt_self.inside && !rt_self.handlers;
}

void watch_start(void)
{
}

void watch_thread_begin(uint32_t number)
{
	if (rt_recording)
		return;
	rt_self.number = number;
	__atomsan_thread.shadow_base = __atomsan_thread.reader_base = (char *)news_cell;
	__atomsan_thread.shadow_mask = 0;
	__atomsan_thread.fresh = 0xffff | 1ull << ATOMSAN_STAMP_SHIFT;
	__atomsan_thread.segment = __atomsan_thread.fresh;
	/* So that the write of an update is told of. */
	__atomsan_thread.scheduled = news_cell;
}

void watch_thread_end(void)
{
}

void watch_finish(void)
{
}

void watch_access(const void *p, uint64_t length, unsigned kinds,
		  const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	(void)p;
	(void)length;
	(void)kinds;
	(void)site;
	if (!mine())
		return;
}

void watch_store(const void *p) ATOMSAN_KEEPS_REGISTERS
{
	(void)p;
	if (!mine())
		return;
}

void watch_atomic(const void *p, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	(void)p;
	(void)site;
	if (!mine())
		return;
}

void watch_atomic_done(const void *p, bool wrote, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	(void)p;
	(void)wrote;
	(void)site;
	if (!mine())
		return;
}

void watch_before(const void *object, const struct atomsan_site *site)
{
	(void)object;
	(void)site;
	if (!mine())
		return;
}

void watch_op(enum trace_op op, const void *object, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	(void)op;
	(void)object;
	(void)site;
	if (!mine())
		return;
}
