/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/entire.h"

#include "rt/access_inl.h"
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

/* Is its frame still open, as far as can be seen? */
static bool lives(const struct rt_object *object)
{
	return object->top <= __atomsan_thread.top && object->top[-1].function == object->function;
}

/* Leaves those that live and do not lie at p. A handler that comes in between tells of fewer. */
static void forget_dead(const void *p)
{
	uint32_t count = rt_self.objects.count, left = 0, due = 0;

	rt_self.objects.count = rt_self.objects.due = 0;
	__asm__ volatile("" ::: "memory");
	for (uint32_t i = 0; i < count; i++) {
		struct rt_object object = rt_self.objects.of[i];

		if (!lives(&object) || object.p == p)
			continue;
		due += object.due;
		rt_self.objects.of[left++] = object;
	}
	__asm__ volatile("" ::: "memory");
	rt_self.objects.count = left;
	rt_self.objects.due = due;
}

bool entire_object(const void *p, uint64_t length, const struct atomsan_site *site) ATOMSAN_KEEPS_REGISTERS
{
	struct atomsan_frame *top = __atomsan_thread.top;

	if (!unmet_on || rt_self.handlers || rt_self.flushing || __atomsan_thread.low <= rt_self.call.level)
		return false;
	forget_dead(p);
	if (rt_self.objects.count == RT_OBJECTS)
		return false;
	rt_self.objects.of[rt_self.objects.count] =
		(struct rt_object){p, length, site, top, top[-1].function, true};
	__asm__ volatile("" ::: "memory");
	rt_self.objects.count++;
	rt_self.objects.due++;
	return true;
}

void entire_tell_objects(void) ATOMSAN_KEEPS_REGISTERS
{
	rt_self.objects.due = 0;
	for (uint32_t i = 0; i < rt_self.objects.count; i++) {
		struct rt_object *object = &rt_self.objects.of[i];

		if (!object->due || !lives(object))
			continue;
		object->due = false;
		access_write_plain(object->p, object->length, object->site);
	}
}

void entire_tell_anew(void) ATOMSAN_KEEPS_REGISTERS
{
	forget_dead(NULL);
	for (uint32_t i = 0; i < rt_self.objects.count; i++)
		rt_self.objects.of[i].due = true;
	rt_self.objects.due = rt_self.objects.count;
}

/* What is told of them is not told anew any more: it stays for as long as they live. */
static void keep_objects(void)
{
	for (uint32_t i = 0; i < rt_self.objects.count; i++)
		if (lives(&rt_self.objects.of[i]) && rt_self.objects.of[i].top < rt_self.call.object)
			rt_self.call.object = rt_self.objects.of[i].top;
}

void entire_look(void) ATOMSAN_KEEPS_REGISTERS
{
	bool entire = rt_self.frames && __atomsan_thread.low > rt_self.call.level && is_entire();

	if (entire == rt_self.call.entire)
		return;
	set(entire);
	if (!entire)
		keep_objects();
	__atomsan_thread.segment = __atomsan_thread.fresh;
}

void entire_end(void) ATOMSAN_KEEPS_REGISTERS
{
	rt_self.objects.count = rt_self.objects.due = 0;
	if (unlikely(rt_self.call.entire))
		set(false);
}
