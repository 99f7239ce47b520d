/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The code that is inlined into programs, compiled to bitcode when atomsan is
 * built, linked into every instrumented module, inlined there and dropped. One
 * function per width and kind, for nothing simplifies them afterwards.
 */
#include "abi/hooks.h"

#define INLINED __attribute__((used, nothrow))
#define self __atomsan_thread

/* The thread's cell of p's granule. */
#define CELL(p) ((const uint64_t *)(self.shadow_base + ((uint64_t)(p) & self.shadow_mask)))

/* Not recorded: another segment in the cell, or bytes missing (see abi/hooks.h). */
#define NEWS(cell, mask) __builtin_expect((((cell) ^ self.segment) & (ATOMSAN_SEGMENT_MASK | (mask))) != 0, 0)

#define ACCESS(kind, size, kinds, alignment)                                                    \
	INLINED void __atomsan_inl_##kind##size(const void *p, const struct atomsan_site *site) \
	{                                                                                       \
		uint64_t bytes = ((1u << size) - 1) << ((uint64_t)p & (7 & ~(alignment - 1)));  \
                                                                                                \
		if (NEWS(*CELL(p), bytes * (kinds)))                                            \
			__atomsan_##kind##size(p, site);                                        \
	}
enum { READS = 1 << ATOMSAN_READ_BITS, WRITES = 1 << ATOMSAN_WRITE_BITS };
ACCESS(read, 1, READS, 1)
ACCESS(read, 2, READS, 2)
ACCESS(read, 4, READS, 4)
ACCESS(read, 8, READS, 8)
ACCESS(write, 1, WRITES, 1)
ACCESS(write, 2, WRITES, 2)
ACCESS(write, 4, WRITES, 4)
ACCESS(write, 8, WRITES, 8)
ACCESS(update, 1, READS | WRITES, 1)
ACCESS(update, 2, READS | WRITES, 2)
ACCESS(update, 4, READS | WRITES, 4)
ACCESS(update, 8, READS | WRITES, 8)

/* Two granules: the cells lie side by side. */
#define ACCESS16(kind, shift)                                                                    \
	INLINED void __atomsan_inl_##kind##16(const void *p, const struct atomsan_site *site)    \
	{                                                                                        \
		const uint64_t *cell = CELL(p);                                                  \
		uint64_t off = (cell[0] ^ self.segment) | (cell[1] ^ self.segment);              \
                                                                                                 \
		if (__builtin_expect((off & (ATOMSAN_SEGMENT_MASK | 0xffull << shift)) != 0, 0)) \
			__atomsan_##kind##16(p, site);                                           \
	}
ACCESS16(read, ATOMSAN_READ_BITS)
ACCESS16(write, ATOMSAN_WRITE_BITS)

INLINED void __atomsan_inl_at(const struct atomsan_site *site)
{
	self.at = site;
}

/* The frame is claimed before it is filled: a signal handler pushes above it. */
INLINED void *__atomsan_inl_enter(const struct atomsan_function *function, const void *receiver)
{
	struct atomsan_frame *frame = self.top;

	self.top = frame + (frame < self.limit);
	__asm__ volatile("" ::: "memory");
	frame->function = function;
	frame->receiver = receiver;
	if (frame < self.shallow)
		self.segment = self.fresh;
	return frame;
}

INLINED void __atomsan_inl_exit(void *token)
{
	struct atomsan_frame *frame = token;

	self.top = frame;
	if (frame < self.low)
		self.low = frame;
	if (frame < self.shallow)
		self.segment = self.fresh;
}

/* Control came back to the frame's function from somewhere below. */
INLINED void __atomsan_inl_back(void *token)
{
	struct atomsan_frame *top = (struct atomsan_frame *)token + 1;

	if (top < self.top) {
		self.top = top;
		if (top < self.low)
			self.low = top;
		self.segment = self.fresh;
	}
}

/* Never called: declares the hooks that are called as they are. */
INLINED void __atomsan_inl_declare(void)
{
	__atomsan_read_range(0, 0, 0);
	__atomsan_write_range(0, 0, 0);
	__atomsan_read_lanes(0, 0, 0, 0);
	__atomsan_write_lanes(0, 0, 0, 0);
	__atomsan_atomic_begin(0);
	__atomsan_atomic_end(0, 0, 0);
	__atomsan_fence(0);
	__atomsan_object(0, 0, 0);
}
