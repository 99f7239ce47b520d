/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The fields of an event's first word, and words in memory that need not be
 * aligned. What the bits mean stands in abi/trace.h; only this file shifts them.
 */
#ifndef ATOMSAN_TRACE_WORD_INL_H
#define ATOMSAN_TRACE_WORD_INL_H

#include "abi/trace.h"

#include <string.h>

#define WORD_ADDRESS_MASK ((1ull << TRACE_ADDRESS_BITS) - 1)

static inline uint64_t word_load(const void *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof word);
	return word;
}

static inline unsigned word_kind(uint64_t word)
{
	return (unsigned)(word & 7);
}

static inline uint32_t word_id(uint64_t word)
{
	return (uint32_t)(word >> TRACE_ID_SHIFT) & TRACE_ID_MAX;
}

static inline uint64_t word_address(uint64_t word)
{
	return word >> TRACE_ADDRESS_SHIFT;
}

static inline uint64_t word_make(unsigned kind, uint32_t id, uint64_t address)
{
	return address << TRACE_ADDRESS_SHIFT | (uint64_t)id << TRACE_ID_SHIFT | kind;
}

/* A prefix's payload has its high bits above the two that say what it is. */
static inline uint64_t word_payload(uint64_t word)
{
	return word_address(word) | (uint64_t)(word_id(word) >> 2) << TRACE_ADDRESS_BITS;
}

static inline uint64_t word_prefix(unsigned prefix, uint64_t payload)
{
	uint32_t high = (uint32_t)(payload >> TRACE_ADDRESS_BITS) & (TRACE_ID_MAX >> 2);

	return word_make(TRACE_PREFIX, high << 2 | prefix, payload & WORD_ADDRESS_MASK);
}

/* Words of the event that begins with this word; 0 if there is no such event. */
static inline unsigned word_count(uint64_t word)
{
	return 0x11211210u >> 4 * word_kind(word) & 3;
}

_Static_assert(TRACE_ACCESS == 1 && TRACE_STAMPED == 2 && TRACE_ENTER == 3 && TRACE_EXIT == 4 &&
		       TRACE_OP == 5 && TRACE_PREFIX == 6 && TRACE_SWITCH == 7,
	       "word_count has one digit per kind");

/* A full address from its low 44 bits. */
static inline uint64_t word_expand(const uint64_t *regions, uint64_t low)
{
	return low | regions[low >> 40] << TRACE_ADDRESS_BITS;
}

#endif
