/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The heap: a FREE is recorded before the block can be given to somebody else,
 * an ALLOC after it has been got. operator new and delete come here through
 * the C++ library.
 *
 * A program that brings its own allocator has it; then its blocks go
 * unrecorded. The work is glibc's, called by the names that need no lookup:
 * ld.so allocates before dlsym works, and dlsym allocates.
 */
#include "rt/block.h"
#include "rt/real.h"
#include "rt/rt.h"
#include "rt/watch.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

static bool recorded(void)
{
	return rt_recording ? rt_on() && rt_options.malloc : rt_watching & WATCH_SECTIONS;
}

static void *allocated(void *block, size_t size, const struct atomsan_site *site)
{
	if (block && recorded())
		block_allocated(block, size, site);
	return block;
}

INTERPOSER void *malloc(size_t size)
{
	const struct atomsan_site *site = rt_take_site();

	return allocated(__libc_malloc(size), size, site);
}

INTERPOSER void *calloc(size_t count, size_t size)
{
	const struct atomsan_site *site = rt_take_site();

	return allocated(__libc_calloc(count, size), count * size, site);
}

INTERPOSER void free(void *block)
{
	const struct atomsan_site *site = rt_take_site();

	if (block && recorded())
		block_freed(block, site);
	__libc_free(block);
}

/*
 * The old block may be somebody else's before libc returns, so its FREE comes
 * first. Where libc then cannot grow it, the block lives on, and an ALLOC says
 * so; what the program asked for at first is not known any more, what the
 * block holds is.
 */
static void *resize(void *block, size_t size, const struct atomsan_site *site)
{
	bool record = recorded();
	size_t before = block && record ? REAL(malloc_usable_size)(block) : 0;
	void *moved;

	if (block && record)
		block_freed(block, site);
	moved = __libc_realloc(block, size);
	if (!moved && block && size && record)
		block_allocated(block, before, site);
	return allocated(moved, size, site);
}

INTERPOSER void *realloc(void *block, size_t size)
{
	return resize(block, size, rt_take_site());
}

INTERPOSER void *reallocarray(void *block, size_t count, size_t size)
{
	const struct atomsan_site *site = rt_take_site();
	size_t length;

	if (__builtin_mul_overflow(count, size, &length)) {
		errno = ENOMEM;
		return NULL;
	}
	/* By name: the program may have a realloc of its own, and blocks that come from it. */
	__atomsan_thread.at = site;
	return realloc(block, length);
}

INTERPOSER void *memalign(size_t alignment, size_t size)
{
	const struct atomsan_site *site = rt_take_site();

	return allocated(__libc_memalign(alignment, size), size, site);
}

INTERPOSER void *aligned_alloc(size_t alignment, size_t size)
{
	const struct atomsan_site *site = rt_take_site();

	return allocated(__libc_memalign(alignment, size), size, site);
}

INTERPOSER int posix_memalign(void **result, size_t alignment, size_t size)
{
	const struct atomsan_site *site = rt_take_site();
	int saved = errno;
	void *block;

	if (alignment % sizeof(void *) || !alignment || (alignment & (alignment - 1)))
		return EINVAL;
	block = __libc_memalign(alignment, size);
	errno = saved; /* this one returns its error */
	if (!block)
		return ENOMEM;
	*result = allocated(block, size, site);
	return 0;
}

INTERPOSER void *valloc(size_t size)
{
	const struct atomsan_site *site = rt_take_site();

	return allocated(__libc_memalign(getpagesize(), size), size, site);
}

INTERPOSER void *pvalloc(size_t size)
{
	const struct atomsan_site *site = rt_take_site();
	size_t page = getpagesize();
	size_t rounded;

	if (__builtin_add_overflow(size, page - 1, &rounded)) {
		errno = ENOMEM;
		return NULL;
	}
	rounded &= ~(page - 1);
	return allocated(__libc_memalign(page, rounded), rounded, site);
}
