/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The executable's constants: bytes of its segments that nobody can write, texts
 * above all. The pass leaves out reads of those that it sees; libc functions get them by
 * a pointer. Reading them is in nobody's way, and is not told.
 */
#ifndef ATOMSAN_RT_CONSTANTS_H
#define ATOMSAN_RT_CONSTANTS_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

extern struct constants {
	uint64_t low, length;
} constants;

/* When the program begins; the program headers of its executable. */
void constants_find(const Elf64_Phdr *segments, uint64_t count);

static inline bool constants_have(const void *p)
{
	return (uint64_t)p - constants.low < constants.length;
}

#pragma GCC visibility pop

#endif
