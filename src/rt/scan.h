/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Looking over many cells at once. */
#ifndef ATOMSAN_RT_SCAN_H
#define ATOMSAN_RT_SCAN_H

#include "abi/hooks.h"

#pragma GCC visibility push(hidden)

enum { SCAN_BLOCK = 8 /* cells */ };

/* All bits in which one of the cells differs from the value; count is a multiple of SCAN_BLOCK, not 0. */
uint64_t scan_blocks(const uint64_t *cells, uint64_t count, uint64_t value) ATOMSAN_KEEPS_REGISTERS;

/* All bits in which one of the cells differs from the value. */
__attribute__((always_inline)) static inline uint64_t scan_differences(const uint64_t *cells, uint64_t count,
								       uint64_t value)
{
	uint64_t differences = 0, blocks = count & ~(SCAN_BLOCK - 1ull);

	if (blocks) {
		differences = scan_blocks(cells, blocks, value);
		cells += blocks;
		count -= blocks;
	}
	while (count--)
		differences |= *cells++ ^ value;
	return differences;
}

#pragma GCC visibility pop

#endif
