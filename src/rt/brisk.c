/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/brisk.h"
#include "rt/access_inl.h"
#include "rt/follow.h"
#include "rt/scheduler.h"

struct brisk_sites brisk_sites, brisk_lock_sites;

void brisk_begin(void)
{
	bool brisk = rt_recording && !rt_watching && sched.mode == SCHED_OFF && rt_options.filter == 1;

	if (!brisk)
		return;
	brisk_lock_sites.bias = rt_numbers.sites_bias;
	brisk_lock_sites.length = rt_numbers.sites_limit * sizeof(struct atomsan_site);
	if (!rt_live)
		brisk_sites = brisk_lock_sites;
}

#define SAME(number, value) _Static_assert(number == value, "brisk.S knows it by this number")
SAME(BRISK_BASE, offsetof(struct atomsan_thread, shadow_base));
SAME(BRISK_READER, offsetof(struct atomsan_thread, reader_base));
SAME(BRISK_MASK, offsetof(struct atomsan_thread, shadow_mask));
SAME(BRISK_SEGMENT, offsetof(struct atomsan_thread, segment));
SAME(BRISK_TOP, offsetof(struct atomsan_thread, top));
SAME(BRISK_LOW, offsetof(struct atomsan_thread, low));
SAME(BRISK_TOLD, offsetof(struct rt_thread, written));
SAME(BRISK_SLOT, offsetof(struct rt_thread, slot));
SAME(BRISK_NEXT, offsetof(struct rt_thread, next));
SAME(BRISK_SEGMENT_START, offsetof(struct rt_thread, segment_start));
SAME(BRISK_LOCKS, offsetof(struct rt_thread, locks));
SAME(BRISK_MARK, offsetof(struct rt_thread, mark));
SAME(BRISK_FLUSHING, offsetof(struct rt_thread, flushing));
SAME(BRISK_SUBS_SO_FAR, offsetof(struct rt_thread, sub));
SAME(BRISK_STAMP, offsetof(struct rt_thread, stamp));
SAME(BRISK_FUNCTIONS, offsetof(struct rt_numbers, functions_bias));
SAME(BRISK_FUNCTIONS + 8, offsetof(struct rt_numbers, functions_limit));
SAME(BRISK_REGIONS, offsetof(struct trace_header, regions));
SAME(BRISK_SEGMENT_SHIFT, ATOMSAN_SEGMENT_SHIFT);
SAME(BRISK_THREAD_SHIFT, ATOMSAN_THREAD_SHIFT);
SAME(BRISK_STAMP_SHIFT, ATOMSAN_STAMP_SHIFT);
SAME(BRISK_SUBS, SHADOW_SUBS);
SAME(BRISK_ENTER, TRACE_ENTER);
SAME(BRISK_EXIT, TRACE_EXIT);
SAME(BRISK_SWITCH, TRACE_SWITCH);
SAME(BRISK_IDS, TRACE_ID_MAX);
SAME(BRISK_ID_SHIFT, TRACE_ID_SHIFT);
SAME(16, sizeof(struct atomsan_frame));
SAME(1 << 5, sizeof(struct atomsan_function));
SAME(64 - BRISK_ADDRESS_SHIFT, TRACE_ADDRESS_BITS);
SAME(BRISK_SUB, SHADOW_SHARED);
SAME(BRISK_ONE_SUB, 1 << ATOMSAN_SEGMENT_SHIFT);
SAME(BRISK_THREAD, SHADOW_THREAD_MASK);
SAME(BRISK_WRITTEN, SHADOW_WRITTEN);
SAME(BRISK_SHORT, SHORT_SEGMENT);
SAME(BRISK_WINDOW, RT_WINDOW);
SAME(BRISK_ADDRESS_SHIFT, TRACE_ADDRESS_SHIFT);
SAME(BRISK_ACCESS, TRACE_ACCESS);
SAME(5 << TRACE_ID_SHIFT, sizeof(struct atomsan_site));
SAME(5 * BRISK_BY_5, 1);
