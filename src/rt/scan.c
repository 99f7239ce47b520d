/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A hook has to leave the program's registers as they are, and the compiler is told
 * to use general ones only; what is used of the others is saved and restored here. SSE2
 * every x86-64 has, and its instructions leave the upper parts of the registers
 * alone, of which the program may have more than we know.
 */
#include "rt/scan.h"

uint64_t scan_blocks(const uint64_t *cells, uint64_t count, uint64_t value) ATOMSAN_KEEPS_REGISTERS
{
	const uint64_t *end = cells + count;
	uint64_t saved[10], differences;

	__asm__("movups %%xmm0, 0(%[saved])\n\t"
		"movups %%xmm1, 16(%[saved])\n\t"
		"movups %%xmm2, 32(%[saved])\n\t"
		"movups %%xmm3, 48(%[saved])\n\t"
		"movups %%xmm4, 64(%[saved])\n\t"
		"movq %[value], %%xmm0\n\t"
		"punpcklqdq %%xmm0, %%xmm0\n\t"
		"pxor %%xmm1, %%xmm1\n\t"
		"pxor %%xmm2, %%xmm2\n"
		"1:\n\t"
		"movdqu 0(%[cells]), %%xmm3\n\t"
		"movdqu 16(%[cells]), %%xmm4\n\t"
		"pxor %%xmm0, %%xmm3\n\t"
		"pxor %%xmm0, %%xmm4\n\t"
		"por %%xmm3, %%xmm1\n\t"
		"por %%xmm4, %%xmm2\n\t"
		"movdqu 32(%[cells]), %%xmm3\n\t"
		"movdqu 48(%[cells]), %%xmm4\n\t"
		"pxor %%xmm0, %%xmm3\n\t"
		"pxor %%xmm0, %%xmm4\n\t"
		"por %%xmm3, %%xmm1\n\t"
		"por %%xmm4, %%xmm2\n\t"
		"addq $64, %[cells]\n\t"
		"cmpq %[end], %[cells]\n\t"
		"jne 1b\n\t"
		"por %%xmm2, %%xmm1\n\t"
		"movdqa %%xmm1, %%xmm2\n\t"
		"psrldq $8, %%xmm2\n\t"
		"por %%xmm2, %%xmm1\n\t"
		"movq %%xmm1, %[differences]\n\t"
		"movups 0(%[saved]), %%xmm0\n\t"
		"movups 16(%[saved]), %%xmm1\n\t"
		"movups 32(%[saved]), %%xmm2\n\t"
		"movups 48(%[saved]), %%xmm3\n\t"
		"movups 64(%[saved]), %%xmm4\n\t"
		: [cells] "+r"(cells), [differences] "=&r"(differences)
		: [end] "r"(end), [value] "r"(value), [saved] "r"(saved)
		: "memory", "cc");
	return differences;
}
