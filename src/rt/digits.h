/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Numbers as text, for a runtime that does without stdio. */
#ifndef ATOMSAN_RT_DIGITS_H
#define ATOMSAN_RT_DIGITS_H

#include <stdint.h>

/* As many as 64 bits have in base 8, and the end. */
struct rt_digits {
	char bytes[24];
};

/* Where in the room the number begins; base is 10 or 16. */
static inline const char *rt_digits(struct rt_digits *room, uint64_t n, unsigned base)
{
	char *at = room->bytes + sizeof room->bytes;

	*--at = 0;
	do {
		*--at = "0123456789abcdef"[n % base];
		n /= base;
	} while (n);
	return at;
}

#endif
