/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Mappings: UNMAP before the pages can become somebody else's, MAP after they
 * have been got. A call that fails after its UNMAP was recorded gets a MAP of
 * the same pages, which were there all along.
 */
#include "rt/real.h"
#include "rt/rt.h"
#include "rt/scheduler.h"

#include <stdarg.h>
#include <unistd.h>

/* What the kernel refuses by looking at it, without touching a page. */
static bool plausible(const void *start, size_t length)
{
	return length && !((uintptr_t)start & (getpagesize() - 1));
}

static void *map(void *hint, size_t length, int protection, int flags, int file, off_t offset)
{
	const struct atomsan_site *site = rt_take_site();
	void *start = REAL(mmap)(hint, length, protection, flags, file, offset);

	if (start != MAP_FAILED)
		rt_op_value(TRACE_OP_MAP, 0, start, length, site);
	if (flags & MAP_SHARED && protection & PROT_WRITE && start != MAP_FAILED)
		sched.shares = true;
	return start;
}

INTERPOSER void *mmap(void *hint, size_t length, int protection, int flags, int file, off_t offset)
{
	return map(hint, length, protection, flags, file, offset);
}

INTERPOSER void *mmap64(void *hint, size_t length, int protection, int flags, int file, off64_t offset)
{
	return map(hint, length, protection, flags, file, offset);
}

INTERPOSER int munmap(void *start, size_t length)
{
	const struct atomsan_site *site = rt_take_site();
	bool record = plausible(start, length);
	int result;

	if (record)
		rt_op_value(TRACE_OP_UNMAP, 0, start, length, site);
	result = REAL(munmap)(start, length);
	if (record && result)
		rt_op_value(TRACE_OP_MAP, 0, start, length, site);
	return result;
}

INTERPOSER void *mremap(void *start, size_t length, size_t new_length, int flags, ...)
{
	const struct atomsan_site *site = rt_take_site();
	/* A length of 0 asks for a second mapping of shared pages: the first one stays. */
	bool record = plausible(start, length) && !(flags & MREMAP_DONTUNMAP);
	void *place = NULL;
	void *moved;

	if (flags & MREMAP_FIXED) {
		va_list list;

		va_start(list, flags);
		place = va_arg(list, void *);
		va_end(list);
	}
	if (record)
		rt_op_value(TRACE_OP_UNMAP, 0, start, length, site);
	moved = REAL(mremap)(start, length, new_length, flags, place);
	if (moved != MAP_FAILED)
		rt_op_value(TRACE_OP_MAP, 0, moved, new_length, site);
	else if (record)
		rt_op_value(TRACE_OP_MAP, 0, start, length, site);
	return moved;
}
