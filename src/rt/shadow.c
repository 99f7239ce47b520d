/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/shadow.h"

#include "rt/sys.h"

#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static bool no_populate; /* a kernel that does not know of it */

bool shadow_map(void)
{
	const uint64_t length = SHADOW_END - SHADOW_BEGIN;
	long p = sys6(mmap, SHADOW_BEGIN, length, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (sys_failed(p))
		return false;
	if ((uint64_t)p != SHADOW_BEGIN) {
		/* A kernel that does not know MAP_FIXED_NOREPLACE took it for a hint. */
		sys2(munmap, p, length);
		return false;
	}
	/* A touched byte of the program must not cost two megabytes; nor was any program of bench clearly
	 * faster with large pages, and most were slower. */
	sys3(madvise, p, length, MADV_NOHUGEPAGE);
	sys3(madvise, p, length, MADV_DONTDUMP);
	return true;
}

void shadow_ahead(uint64_t granule) ATOMSAN_KEEPS_REGISTERS
{
	static uint64_t latest;
	uint64_t begin = granule & ~(SHADOW_AHEAD - 1ull);
	/* The page of the first cell is that of the last one before it, too. */
	uint64_t page = ((uint64_t)shadow_cell(begin) + SHADOW_PAGE - 1) & ~(SHADOW_PAGE - 1ull);

	if (no_populate || !begin || __atomic_exchange_n(&latest, begin, __ATOMIC_RELAXED) == begin ||
	    !*shadow_cell(begin - SHADOW_EDGE))
		return;
	if (sys_failed(sys3(madvise, (long)page, SHADOW_AHEAD, MADV_POPULATE_WRITE)))
		no_populate = true;
}
