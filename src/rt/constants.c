/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "rt/constants.h"

struct constants constants;

/* Segments lie one behind the other, and those that can be written come last. */
void constants_find(const Elf64_Phdr *segments, uint64_t count)
{
	uint64_t bias = 0, low = UINT64_MAX, high = 0, writable = UINT64_MAX;

	if (!segments)
		return;
	for (uint64_t i = 0; i < count; i++) {
		if (segments[i].p_type == PT_PHDR)
			bias = (uint64_t)segments - segments[i].p_vaddr;
		if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_W &&
		    segments[i].p_vaddr < writable)
			writable = segments[i].p_vaddr;
	}
	for (uint64_t i = 0; i < count; i++) {
		uint64_t from = segments[i].p_vaddr, to = from + segments[i].p_memsz;

		if (segments[i].p_type != PT_LOAD || segments[i].p_flags & PF_W || from >= writable)
			continue;
		low = from < low ? from : low;
		high = to > high ? to : high;
	}
	/* Who calls another program's loader may have told of that. */
	if ((uint64_t)constants_find - bias < low || (uint64_t)constants_find - bias >= high)
		return;
	constants = (struct constants){.low = low + bias, .length = high - low};
}
