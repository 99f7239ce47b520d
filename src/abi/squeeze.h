/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Words of events, squeezed to about a third: what the runtime appends to a
 * trace, and the tools read. Writer and reader keep the same table of what they
 * saw in this block and guess the next word from it; the file holds in what the
 * guess was wrong. The writer runs inside the program, whose time it takes, so
 * it does little more than look up, compare and store, and takes no branch that
 * depends on the data.
 *
 * A word's low 20 bits, its tag, are kind and id of an event, or the site of an
 * operation's second word; the 44 above are an address, or a stamp. A program
 * does the same over and over, so a word is guessed to be the one that came
 * last after the same tags: mostly the tag is right then, and the address is
 * near. What a guess is wrong in is its exclusive or with the word, turned so
 * that the tag's bits are the highest: a right tag leaves few bytes.
 *
 * Sixteen words are a group; only the last one of a block may have fewer.
 *
 *   8 bytes   a digit of four bits per word, the first word in the highest one:
 *             how many bytes it has, 0 to 8
 *   per word  so many bytes, the lowest first
 */
#ifndef ATOMSAN_ABI_SQUEEZE_H
#define ATOMSAN_ABI_SQUEEZE_H

#include <cpuid.h>
#include <stddef.h>
#include <stdint.h>

#define SQUEEZE_INLINE static inline __attribute__((always_inline))

enum {
	SQUEEZE_TAG_BITS = 20,
	SQUEEZE_GROUP = 16, /* words */
	SQUEEZE_DIGITS = 8, /* bytes of a group's digits */
	SQUEEZE_MOST = 8,   /* bytes of a word */
	/* What a group has at most, and what a store of 8 bytes at its end reaches beyond. */
	SQUEEZE_GROUP_ROOM = SQUEEZE_DIGITS + SQUEEZE_GROUP * SQUEEZE_MOST + 8,
	SQUEEZE_TABLE_BITS = 12,
};

/* What was seen in the block so far; all zero where it begins. */
struct squeeze {
	uint64_t guesses[1 << SQUEEZE_TABLE_BITS];
	uint32_t path; /* hash of the tags before */
};

typedef uint64_t __attribute__((aligned(1), may_alias)) squeeze_any64;

/* Five tags before count, the last ones the most: older ones are shifted out. */
SQUEEZE_INLINE uint32_t squeeze_path(uint32_t path, uint64_t word)
{
	uint32_t tag = (uint32_t)word << (32 - SQUEEZE_TAG_BITS);

	return path << 6 ^ tag * 0x9e3779b1u;
}

/* Does this processor have LZCNT? */
SQUEEZE_INLINE int squeeze_lzcnt(void)
{
	uint32_t a, b, c, d;

	return __get_cpuid(0x80000001, &a, &b, &c, &d) && c & bit_LZCNT;
}

/*
 * Bytes of what a guess was wrong in. It is asked for each word, so a table has the
 * answers; with LZCNT, which not every x86-64 has, it is soon computed, and the instruction that all
 * have takes longer than anything else here.
 */
SQUEEZE_INLINE uint64_t squeeze_bytes(uint64_t wrong, int lzcnt)
{
	static const uint8_t bytes[64] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3,
					  3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6,
					  6, 6, 6, 6, 6, 7, 7, 7, 7, 7, 7, 7, 7, 8, 8, 8, 8, 8, 8, 8};

	if (lzcnt) {
		uint64_t zeros; /* 64 of 0 */

		__asm__("lzcnt %1, %0" : "=r"(zeros) : "r"(wrong) : "cc");
		return (71 - zeros) >> 3;
	}
	/* The highest bit's number, from 1; 62 and 63 both have 8 bytes. */
	return bytes[63 - __builtin_clzll((wrong << 1 | 1) | wrong)];
}

/* One group of `count` words; returns where it ends. */
SQUEEZE_INLINE uint8_t *squeeze_group(struct squeeze *s, const uint64_t *words, uint64_t count, uint8_t *head,
				      int lzcnt)
{
	uint8_t *to = head + SQUEEZE_DIGITS;
	uint64_t digits = 0;
	uint32_t path = s->path;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t word = words[i];
		uint64_t *guess = &s->guesses[path >> (32 - SQUEEZE_TABLE_BITS)];
		uint64_t wrong = word ^ *guess, bytes;

		*guess = word;
		path = squeeze_path(path, word);
		wrong = wrong >> SQUEEZE_TAG_BITS | wrong << (64 - SQUEEZE_TAG_BITS);
		bytes = squeeze_bytes(wrong, lzcnt);
		/* All of it, whatever is needed: the next word overwrites the rest. */
		*(squeeze_any64 *)to = wrong;
		to += bytes;
		digits = digits << 4 | bytes;
	}
	*(squeeze_any64 *)head = count == SQUEEZE_GROUP ? digits : digits << 4 * (SQUEEZE_GROUP - count);
	s->path = path;
	return to;
}

/*
 * A whole group, with LZCNT. The bytes that words do not need are counted, in whole ones the zeros in front:
 * what they would have taken at most is known beforehand, which leaves an instruction for each word less
 * to do, and another for each digit.
 */
SQUEEZE_INLINE uint8_t *squeeze_whole_group(struct squeeze *s, const uint64_t *words, uint8_t *head)
{
	uint64_t spared = 0,
		 at = SQUEEZE_DIGITS; /* less what was spared so far: below 0, but for what is added */
	uint32_t path = s->path;

#pragma GCC unroll 16
	for (unsigned i = 0; i < SQUEEZE_GROUP; i++) {
		uint64_t word = words[i], zeros;
		uint64_t *guess = &s->guesses[path >> (32 - SQUEEZE_TABLE_BITS)];
		uint64_t wrong = word ^ *guess;

		*guess = word;
		path = squeeze_path(path, word);
		wrong = wrong >> SQUEEZE_TAG_BITS | wrong << (64 - SQUEEZE_TAG_BITS);
		__asm__("lzcnt %1, %0" : "=r"(zeros) : "r"(wrong) : "cc");
		zeros >>= 3;
		*(squeeze_any64 *)(head + (at + (uint64_t)i * SQUEEZE_MOST)) = wrong;
		at -= zeros;
		spared = (spared << 4) + zeros;
	}
	/* A digit of 8 for each, less those: no digit borrows from another. */
	*(squeeze_any64 *)head = 0x8888888888888888 - spared;
	s->path = path;
	return head + (at + (uint64_t)SQUEEZE_GROUP * SQUEEZE_MOST);
}

/* Squeezes `count` words to `to`, which has room for SQUEEZE_GROUP_ROOM bytes for each group that is begun,
 * with a table that is all zero. Returns how many bytes it took. */
SQUEEZE_INLINE uint64_t squeeze(struct squeeze *s, const uint64_t *words, uint64_t count, uint8_t *to,
				int lzcnt)
{
	const uint64_t *end = words + count;
	uint8_t *begin = to;

	for (; end - words >= SQUEEZE_GROUP; words += SQUEEZE_GROUP)
		to = lzcnt ? squeeze_whole_group(s, words, to)
			   : squeeze_group(s, words, SQUEEZE_GROUP, to, 0);
	if (words < end)
		to = squeeze_group(s, words, (uint64_t)(end - words), to, lzcnt);
	return (uint64_t)(to - begin);
}

/*
 * One group of `count` words from `from`, where SQUEEZE_GROUP_ROOM bytes can be
 * read. Returns where it ends, or NULL if no writer makes such digits.
 */
SQUEEZE_INLINE const uint8_t *squeeze_back(struct squeeze *s, const uint8_t *from, uint64_t *words,
					   unsigned count)
{
	static const uint64_t masks[] = {
		0, 0xff, 0xffff, 0xffffff, 0xffffffff, 0xffffffffff, 0xffffffffffff, 0xffffffffffffff, ~0ull};
	uint64_t digits = *(const squeeze_any64 *)from;
	uint32_t path = s->path;

	/* Above 8: the highest bit and any other one. */
	if ((digits >> 3 & (digits >> 2 | digits >> 1 | digits)) & 0x1111111111111111ull)
		return NULL;
	from += SQUEEZE_DIGITS;
	for (unsigned i = 0; i < count; i++, digits <<= 4) {
		uint64_t *guess = &s->guesses[path >> (32 - SQUEEZE_TABLE_BITS)];
		uint64_t wrong = *(const squeeze_any64 *)from & masks[digits >> 60], word;

		from += digits >> 60;
		word = *guess ^ (wrong << SQUEEZE_TAG_BITS | wrong >> (64 - SQUEEZE_TAG_BITS));
		*guess = word;
		path = squeeze_path(path, word);
		words[i] = word;
	}
	s->path = path;
	return from;
}

#endif
