/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where the shadow lies. Addresses are folded to their low 44 bits; on Linux
 * x86-64 the executable (0x0..., 0x55..., 0x56...), the heap behind it and the
 * mappings below the stack (0x7d... to 0x7f...) stay apart then. Each slot has
 * a whole 16 TB region of cells, of which only what its threads touch is ever
 * backed by memory, so data that one thread uses costs one cell and data that
 * all slots use costs four.
 *
 *   0x100000000000  cells of slot 0 .. 3, 16 TB each
 *   0x500000000000  presence: one byte per granule, bit n: slot n has a cell
 *                   here, bit n + 4: and wrote since others last did
 */
#ifndef ATOMSAN_RT_SHADOW_H
#define ATOMSAN_RT_SHADOW_H

#include "abi/hooks.h"
#include "abi/trace.h"

#include <stdbool.h>

#define SHADOW_FOLD ((1ull << TRACE_ADDRESS_BITS) - 1)
#define SHADOW_CELLS 0x100000000000ull
#define SHADOW_SLOT (1ull << TRACE_ADDRESS_BITS)
#define SHADOW_PRESENCE (SHADOW_CELLS + ATOMSAN_SLOTS * SHADOW_SLOT)
#define SHADOW_END (SHADOW_PRESENCE + (SHADOW_SLOT >> 3))
#define SHADOW_PRESENT ((1u << ATOMSAN_SLOTS) - 1)
#define SHADOW_WROTE(bit) ((bit) << ATOMSAN_SLOTS)

static inline uint64_t shadow_granule(const void *p)
{
	return (uint64_t)p & SHADOW_FOLD & ~7ull;
}

static inline uint64_t *shadow_cell(unsigned slot, uint64_t granule)
{
	return (uint64_t *)(SHADOW_CELLS + slot * SHADOW_SLOT + granule);
}

static inline uint8_t *shadow_presence(uint64_t granule)
{
	return (uint8_t *)(SHADOW_PRESENCE + (granule >> 3));
}

/* Maps it all; false if the kernel will not. */
bool shadow_map(void);

#endif
