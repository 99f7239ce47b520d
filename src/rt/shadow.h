/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The shadow. Addresses are folded to their low 44 bits; on Linux x86-64 the
 * executable (0x0..., 0x55..., 0x56...), the heap behind it and the mappings
 * below the stack (0x7d... to 0x7f...) stay apart then.
 *
 *   0x030000000000  cells, one per granule, 16 TB (see abi/hooks.h)
 *   0x130000000000  cells of readers, 16 TB for each of four slots
 *
 * each SHADOW_SKEW further up than the one before. What a program uses is its data and the
 * cells of these, in turn, and caches find lines by some of the lower bits of their addresses: the
 * first level of AMD's Zen by those up to 27 alone, where two lines that have these in common put each other
 * out. Data and cells had them all in common, and every access of one threw the other's line out, which cost
 * a third of all time. So cells lie in other sets than their data, at another offset in the page (a load is
 * held up by a store before it whose lower 12 bits are the same), and the same holds between cells and
 * readers' cells.
 *
 * A granule that several threads read and nobody writes must not go from hand
 * to hand. Its cell becomes *shared*: sub is SHADOW_SHARED, stamp is not older
 * than the last write, and the low bits say which slots (thread number modulo
 * ATOMSAN_SLOTS) read it; each remembers what it recorded in a cell of its own.
 * A write makes it exclusive again. Memory is touched where it is used, so
 * shared data costs more, and the rest one cell.
 */
#ifndef ATOMSAN_RT_SHADOW_H
#define ATOMSAN_RT_SHADOW_H

#include "abi/hooks.h"
#include "abi/trace.h"

#include <stdbool.h>

#define SHADOW_FOLD ((1ull << TRACE_ADDRESS_BITS) - 1)
_Static_assert(ATOMSAN_SHADOW_MASK == (SHADOW_FOLD & ~7ull), "inlined code folds addresses likewise");
#define SHADOW_REGION (1ull << TRACE_ADDRESS_BITS)
#define SHADOW_SKEW 0x15a40ull
#define SHADOW_BEGIN 0x030000000000ull
#define SHADOW_CELLS (SHADOW_BEGIN + SHADOW_SKEW)
#define SHADOW_READERS (SHADOW_CELLS + SHADOW_REGION + SHADOW_SKEW)
#define SHADOW_END                                                                        \
	((SHADOW_READERS + ATOMSAN_SLOTS * (SHADOW_REGION + SHADOW_SKEW) + SHADOW_PAGE) & \
	 ~(SHADOW_PAGE - 1ull))
enum { SHADOW_PAGE = 4096 };
_Static_assert(SHADOW_SKEW % 64 == 0, "what shares a line shares one of cells");
_Static_assert(SHADOW_SKEW % SHADOW_PAGE != 0 && SHADOW_SKEW / SHADOW_PAGE % 256 != 0,
	       "else cells are where their data is, for a cache");

#define SHADOW_SUB_MASK ((1ull << ATOMSAN_THREAD_SHIFT) - (1ull << ATOMSAN_SEGMENT_SHIFT))
#define SHADOW_SHARED ATOMSAN_SHARED
_Static_assert(SHADOW_SHARED == SHADOW_SUB_MASK, "all ones: no segment has this sub");
#define SHADOW_THREAD_MASK ((1ull << ATOMSAN_STAMP_SHIFT) - (1ull << ATOMSAN_THREAD_SHIFT))
#define SHADOW_STAMP_MASK (~0ull << ATOMSAN_STAMP_SHIFT)
#define SHADOW_WRITTEN (0xffull << ATOMSAN_WRITE_BITS)
enum { SHADOW_SUBS = (1 << (ATOMSAN_THREAD_SHIFT - ATOMSAN_SEGMENT_SHIFT)) - 1 };

static inline uint64_t shadow_granule(const void *p)
{
	return (uint64_t)p & SHADOW_FOLD & ~7ull;
}

static inline uint64_t *shadow_cell(uint64_t granule)
{
	return (uint64_t *)(SHADOW_CELLS + granule);
}

static inline uint64_t *shadow_reader(unsigned slot, uint64_t granule)
{
	return (uint64_t *)(SHADOW_READERS + slot * (SHADOW_REGION + SHADOW_SKEW) + granule);
}

/* Ask for what will be needed. Code that leaves vector registers alone has no builtin for it: that one
 * would be dropped without a word. */
static inline void shadow_fetch(const void *p)
{
	__asm__ volatile("prefetcht0 %0" : : "m"(*(const char *)p));
}

static inline bool shadow_is_shared(uint64_t cell)
{
	return (cell & SHADOW_SUB_MASK) == SHADOW_SHARED;
}

/* Maps it all; false if the kernel will not. */
bool shadow_map(void);

/*
 * Memory that is filled from the front to the back. A cell is looked at before it is
 * written to, so each page of cells would come twice: as the kernel's page of zeros, and
 * when that has to be replaced, which other processors are told of. So where the cells of SHADOW_AHEAD bytes
 * are touched for the first time, from its beginning on, and those before it have been, they are had in one
 * call.
 */
enum { SHADOW_AHEAD = 1 << 16, SHADOW_EDGE = 64 };
void shadow_ahead(uint64_t granule) ATOMSAN_KEEPS_REGISTERS __attribute__((cold));

/* The cell of a granule is 0. */
static inline void shadow_untouched(uint64_t granule)
{
	if (__builtin_expect((granule & (SHADOW_AHEAD - 1)) < SHADOW_EDGE, 0))
		shadow_ahead(granule);
}

#endif
