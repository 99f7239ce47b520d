/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/entire.h"

#include "rt/follow.h"
#include "rt/unmet.h"

static bool said(const struct atomsan_function *function)
{
	uint64_t number = rt_module_function(function);

	return number < TRACE_ID_MAX &&
	       __atomic_load_n(&rt_live->entire[number / 64], __ATOMIC_RELAXED) >> number % 64 & 1;
}

static bool is_entire(void)
{
	const struct rt_call *call = &rt_self.call;

	/* Who marks calls wants to see all of them. */
	return unmet_on && rt_live && call->inside && !rt_self.handlers && !rt_options.mark_calls &&
	       said(call->level->function);
}

static void set(bool entire)
{
	rt_self.call.entire = entire;
	/* Frames may come and go in a segment: each hook looks whether the trace has heard of them. */
	rt_self.careful = entire;
	rt_self.known = ~0ull;
	__atomsan_thread.shallow = entire ? rt_self.call.level + 1 : rt_all_shallow();
}

void entire_look(void) ATOMSAN_KEEPS_REGISTERS
{
	bool entire = rt_self.frames && __atomsan_thread.low > rt_self.call.level && is_entire();

	if (entire == rt_self.call.entire)
		return;
	set(entire);
	__atomsan_thread.segment = __atomsan_thread.fresh;
}

void entire_end(void) ATOMSAN_KEEPS_REGISTERS
{
	if (unlikely(rt_self.call.entire))
		set(false);
}
