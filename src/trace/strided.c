/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "trace/stream.h"
#include "trace/word_inl.h"

bool strided_begin(struct stream *s, uint64_t word, uint64_t count, uint64_t stride, const uint8_t *past)
{
	enum { UNUSED = 64 - TRACE_PREFIX_BITS };
	uint64_t address = word_address(word);

	if (!count || count > TRACE_STEPS_MAX || s->behind)
		return false;
	if (!s->steps)
		s->steps = mem_alloc(TRACE_STEPS_MAX * sizeof *s->steps);
	stride = (uint64_t)((int64_t)(stride << UNUSED) >> UNUSED);
	for (uint64_t i = 0; i < count; i++, address += stride)
		s->steps[i] = word_make(TRACE_ACCESS, word_id(word), address & WORD_ADDRESS_MASK);
	s->behind = past;
	s->behind_end = s->end;
	s->at = (const uint8_t *)s->steps;
	s->end = (const uint8_t *)(s->steps + count);
	return true;
}

bool strided_end(struct stream *s)
{
	if (!s->behind)
		return false;
	s->at = s->behind;
	s->end = s->behind_end;
	s->behind = NULL;
	return true;
}
