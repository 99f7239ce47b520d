/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Every way to get a block and to give it back. */
#include "seen.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <new>

/* Without it the compiler sees through malloc, and leaves it out. */
static void *volatile keep;

static void *named(const char *name, void *block)
{
	keep = block;
	MUST(block);
	NAME_AT(name, block);
	return keep;
}

struct alignas(64) wide {
	char bytes[64];
};

/* As an allocator's library has it, that does not know the blocks. */
extern "C" size_t malloc_usable_size(void *) noexcept
{
	abort();
}

int main()
{
	void *block, *moved;
	volatile size_t huge = SIZE_MAX / 2;

	free(named("malloc", malloc(10)));
	free(named("calloc", calloc(3, 7)));
	block = named("realloc", realloc(NULL, 20));
	moved = named("moved", realloc(block, 5000));
	errno = 0;
	MUST(!realloc(moved, huge) && errno == ENOMEM);
	MUST(!reallocarray(moved, huge, 4) && errno == ENOMEM);
	moved = named("array", reallocarray(moved, 1000, 8));
	free(moved);
	MUST(posix_memalign(&block, 3, 8) == EINVAL);
	MUST(posix_memalign(&block, 128, 30) == 0 && (uintptr_t)block % 128 == 0);
	free(named("posix_memalign", block));
	free(named("aligned_alloc", aligned_alloc(256, 512)));
	free(named("memalign", memalign(64, 33)));
	free(named("valloc", valloc(40)));
	free(named("pvalloc", pvalloc(41)));
	delete static_cast<int *>(named("new", new int));
	delete[] static_cast<char *>(named("new[]", new char[77]));
	delete static_cast<wide *>(named("wide", new wide));
	block = named("first", malloc(100));
	free(block);
	MUST(named("second", malloc(100)) == block); /* thread caches hand out the last one first */
	return 0;
}
