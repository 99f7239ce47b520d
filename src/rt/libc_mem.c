/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Blocks of memory, and sorting them. */
#include "rt/libc.h"

#include <stdlib.h>
#include <strings.h>

void *__memcpy_chk(void *to, const void *from, size_t length, size_t room);
void *__memmove_chk(void *to, const void *from, size_t length, size_t room);
void *__mempcpy_chk(void *to, const void *from, size_t length, size_t room);
void *__memset_chk(void *to, int byte, size_t length, size_t room);
void __explicit_bzero_chk(void *to, size_t length, size_t room);

static void copies(const void *to, const void *from, size_t length)
{
	const struct atomsan_site *site = rt_take_site();

	reads(from, length, site);
	writes(to, length, site);
}

WRAPPER(void *, memcpy, (void *to, const void *from, size_t length))
{
	copies(to, from, length);
	return memcpy(to, from, length);
}

WRAPPER(void *, __memcpy_chk, (void *to, const void *from, size_t length, size_t room))
{
	copies(to, from, length);
	return __memcpy_chk(to, from, length, room);
}

WRAPPER(void *, memmove, (void *to, const void *from, size_t length))
{
	copies(to, from, length);
	return memmove(to, from, length);
}

WRAPPER(void *, __memmove_chk, (void *to, const void *from, size_t length, size_t room))
{
	copies(to, from, length);
	return __memmove_chk(to, from, length, room);
}

WRAPPER(void *, mempcpy, (void *to, const void *from, size_t length))
{
	copies(to, from, length);
	return mempcpy(to, from, length);
}

WRAPPER(void *, __mempcpy_chk, (void *to, const void *from, size_t length, size_t room))
{
	copies(to, from, length);
	return __mempcpy_chk(to, from, length, room);
}

WRAPPER(void, bcopy, (const void *from, void *to, size_t length))
{
	copies(to, from, length);
	bcopy(from, to, length);
}

WRAPPER(void *, memset, (void *to, int byte, size_t length))
{
	writes(to, length, rt_take_site());
	return memset(to, byte, length);
}

WRAPPER(void *, __memset_chk, (void *to, int byte, size_t length, size_t room))
{
	writes(to, length, rt_take_site());
	return __memset_chk(to, byte, length, room);
}

WRAPPER(void, bzero, (void *to, size_t length))
{
	writes(to, length, rt_take_site());
	bzero(to, length);
}

WRAPPER(void, explicit_bzero, (void *to, size_t length))
{
	writes(to, length, rt_take_site());
	explicit_bzero(to, length);
}

WRAPPER(void, __explicit_bzero_chk, (void *to, size_t length, size_t room))
{
	writes(to, length, rt_take_site());
	__explicit_bzero_chk(to, length, room);
}

static uint64_t word_at(const unsigned char *p)
{
	uint64_t word;

	__builtin_memcpy(&word, p, sizeof word);
	return word;
}

/* How many bytes are the same, eight at a time: in x86's order the first one is the lowest. */
static size_t same_bytes(const unsigned char *a, const unsigned char *b, size_t length)
{
	size_t same = 0;

	for (; length - same >= 8; same += 8) {
		uint64_t differences = word_at(a + same) ^ word_at(b + same);

		if (differences)
			return same + (size_t)__builtin_ctzll(differences) / 8;
	}
	while (same < length && a[same] == b[same])
		same++;
	return same;
}

enum { SHORT = 64 };

/*
 * As memcmp(). It is told up to the first difference, which is all that the result depends
 * on. Where that is soon found, the result is known with it.
 */
static int compared(const unsigned char *a, const unsigned char *b, size_t length)
{
	const struct atomsan_site *site = rt_take_site();
	bool told = watch_or_record();
	int result = told && length <= SHORT ? 0 : memcmp(a, b, length);
	size_t same;

	if (!told)
		return result;
	same = length <= SHORT || result ? same_bytes(a, b, length) : length;
	if (same < length) {
		result = a[same] - b[same];
		length = same + 1;
	}
	reads(a, length, site);
	reads(b, length, site);
	return result;
}

WRAPPER(int, memcmp, (const void *a, const void *b, size_t length))
{
	return compared(a, b, length);
}

WRAPPER(int, bcmp, (const void *a, const void *b, size_t length))
{
	return compared(a, b, length);
}

WRAPPER(void *, memchr, (const void *block, int byte, size_t length))
{
	const char *hit = memchr(block, byte, length);

	reads(block, hit ? (size_t)(hit - (const char *)block) + 1 : length, rt_take_site());
	return (void *)hit;
}

WRAPPER(void *, memrchr, (const void *block, int byte, size_t length))
{
	const char *hit = memrchr(block, byte, length);
	const char *from = hit ? hit : block;

	reads(from, (size_t)((const char *)block + length - from), rt_take_site());
	return (void *)hit;
}

WRAPPER(void *, memmem, (const void *block, size_t length, const void *part, size_t part_length))
{
	const struct atomsan_site *site = rt_take_site();
	const char *hit = memmem(block, length, part, part_length);

	reads(block, hit ? (size_t)(hit - (const char *)block) + part_length : length, site);
	reads(part, part_length, site);
	return (void *)hit;
}

/*
 * The comparison is the program's code and records its own reads; moving the
 * elements is not. (bsearch moves nothing, so it is left to the program.)
 */
static void sorted(const void *block, size_t count, size_t size)
{
	const struct atomsan_site *site = rt_take_site();

	if (count < 2)
		return;
	reads(block, count * size, site);
	writes(block, count * size, site);
}

WRAPPER(void, qsort, (void *block, size_t count, size_t size, int (*compare)(const void *, const void *)))
{
	sorted(block, count, size);
	qsort(block, count, size, compare);
}

WRAPPER(void, qsort_r,
	(void *block, size_t count, size_t size, int (*compare)(const void *, const void *, void *),
	 void *argument))
{
	sorted(block, count, size);
	qsort_r(block, count, size, compare, argument);
}
