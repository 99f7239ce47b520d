/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The code that is inlined into programs, compiled to bitcode when atomsan is
 * built, linked into every instrumented module, inlined there and dropped. One
 * function per width and kind, for nothing simplifies them afterwards.
 */
#include "abi/hooks.h"

#define INLINED __attribute__((used, nothrow))
#define self __atomsan_thread

/* The cell of p's granule, and the one that the thread's slot has where many read. */
#define CELL(p) ((const uint64_t *)(self.shadow_base + ((uint64_t)(p) & self.shadow_mask)))
#define READER(p) ((const uint64_t *)(self.reader_base + ((uint64_t)(p) & self.shadow_mask)))

/* Not recorded: another segment in the cell, or bytes missing (see abi/hooks.h). */
#define NEWS(cell, mask) __builtin_expect((((cell) ^ self.segment) & (ATOMSAN_SEGMENT_MASK | (mask))) != 0, 0)

enum { READS = 1 << ATOMSAN_READ_BITS, WRITES = 1 << ATOMSAN_WRITE_BITS };

/* A cell that several threads share says nothing of bytes; then the reader's does. */
#define SHARED(cell) (((cell) & ATOMSAN_SHARED) == ATOMSAN_SHARED)

/*
 * What will be read is fetched beside its cell: if neither is in the caches, they
 * come together, and not one after the other with a guess between them whether
 * the access is news. A write does not wait for what it writes to.
 */
#define FETCH(p) __builtin_prefetch(p)
#define NO_FETCH(p) ((void)0)

/* The bits of a cell that an access needs which is aligned to its size. */
#define BITS(p, size, kinds) ((uint64_t)(((1u << (size)) - 1) << ((uint64_t)(p) & (8 - (size)))) * (kinds))
#define CHANGED(cell, segment, bits) \
	__builtin_expect((((cell) ^ (segment)) & (ATOMSAN_SEGMENT_MASK | (bits))) != 0, 0)

/* What a hook is given, and whether it is called. */
#define LOOK(p, size, kinds, fetch)                               \
	uint64_t bits = BITS(p, size, kinds), *at, cell, segment; \
                                                                  \
	fetch(p);                                                 \
	at = (uint64_t *)CELL(p);                                 \
	cell = *at;                                               \
	segment = self.segment
#define IS_NEWS(p, kinds)                \
	(CHANGED(cell, segment, bits) && \
	 ((kinds) != READS || !SHARED(cell) || CHANGED(*READER(p), segment, bits)))

#define ACCESS(kind, size, kinds, fetch)                                                        \
	INLINED void __atomsan_inl_##kind##size(const void *p, const struct atomsan_site *site) \
	{                                                                                       \
		LOOK(p, size, kinds, fetch);                                                    \
		if (IS_NEWS(p, kinds))                                                          \
			__atomsan_news_##kind##size(p, site, cell, segment, at, bits);          \
	}
ACCESS(read, 1, READS, FETCH)
ACCESS(read, 2, READS, FETCH)
ACCESS(read, 4, READS, FETCH)
ACCESS(read, 8, READS, FETCH)
ACCESS(write, 1, WRITES, NO_FETCH)
ACCESS(write, 2, WRITES, NO_FETCH)
ACCESS(write, 4, WRITES, NO_FETCH)
ACCESS(write, 8, WRITES, NO_FETCH)
ACCESS(update, 1, READS | WRITES, FETCH)
ACCESS(update, 2, READS | WRITES, FETCH)
ACCESS(update, 4, READS | WRITES, FETCH)
ACCESS(update, 8, READS | WRITES, FETCH)

/*
 * Reads of the same place in one call, with nothing in between that ends the
 * segment (pass/reread.h): the first says whether it was told of, and then the second
 * is told of, too, though the cell knows it.
 */
#define TWICE(size)                                                                                \
	INLINED uint64_t __atomsan_inl_first##size(const void *p, const struct atomsan_site *site) \
	{                                                                                          \
		LOOK(p, size, READS, FETCH);                                                       \
		if (IS_NEWS(p, READS)) {                                                           \
			__atomsan_news_read##size(p, site, cell, segment, at, bits);               \
			return 1;                                                                  \
		}                                                                                  \
		return 0;                                                                          \
	}                                                                                          \
                                                                                                   \
	INLINED void __atomsan_inl_again##size(const void *p, const struct atomsan_site *site,     \
					       uint64_t first)                                     \
	{                                                                                          \
		LOOK(p, size, READS, FETCH);                                                       \
		if (IS_NEWS(p, READS))                                                             \
			__atomsan_news_read##size(p, site, cell, segment, at, bits);               \
		else if (__builtin_expect(first != 0, 0))                                          \
			__atomsan_read_again(p, site);                                             \
	}
TWICE(1)
TWICE(2)
TWICE(4)
TWICE(8)

/*
 * Structs that are copied, of so many granules if they lie like them, as most do.
 * Few things are copied with other threads around that only read: of these the
 * first cell tells.
 */
#define APART(cell, i) ((cell)[i] ^ segment)
#define APART2(cell) (APART(cell, 0) | APART(cell, 1))
#define APART3(cell) (APART2(cell) | APART(cell, 2))
#define APART4(cell) (APART3(cell) | APART(cell, 3))
#define APART5(cell) (APART4(cell) | APART(cell, 4))
#define APART6(cell) (APART5(cell) | APART(cell, 5))
#define APART7(cell) (APART6(cell) | APART(cell, 6))
#define APART8(cell) (APART7(cell) | APART(cell, 7))
#define UNKNOWN(cell, count, kinds) \
	__builtin_expect((APART##count(cell) & (ATOMSAN_SEGMENT_MASK | 0xffull * (kinds))) != 0, 0)
#define STRUCT(kind, size, count, kinds)                                                                 \
	INLINED void __atomsan_inl_##kind##_struct##size(const void *p, const struct atomsan_site *site) \
	{                                                                                                \
		uint64_t *cell = (uint64_t *)CELL(p), segment = self.segment;                            \
                                                                                                         \
		if ((uint64_t)p & 7 ||                                                                   \
		    (UNKNOWN(cell, count, kinds) &&                                                      \
		     ((kinds) != READS || !SHARED(cell[0]) || UNKNOWN(READER(p), count, kinds))))        \
			__atomsan_##kind##_struct(p, size, site, segment, cell);                         \
	}
STRUCT(read, 16, 2, READS)
STRUCT(read, 24, 3, READS)
STRUCT(read, 32, 4, READS)
STRUCT(read, 40, 5, READS)
STRUCT(read, 48, 6, READS)
STRUCT(read, 56, 7, READS)
STRUCT(read, 64, 8, READS)
STRUCT(write, 16, 2, WRITES)
STRUCT(write, 24, 3, WRITES)
STRUCT(write, 32, 4, WRITES)
STRUCT(write, 40, 5, WRITES)
STRUCT(write, 48, 6, WRITES)
STRUCT(write, 56, 7, WRITES)
STRUCT(write, 64, 8, WRITES)

/* Two or four granules that lie like them: two pointers, a string of C++. */
INLINED void __atomsan_inl_read16(const void *p, const struct atomsan_site *site)
{
	uint64_t *cell = (uint64_t *)CELL(p), segment;

	FETCH(p);
	segment = self.segment;
	if (UNKNOWN(cell, 2, READS) && (!SHARED(cell[0]) || UNKNOWN(READER(p), 2, READS)))
		__atomsan_read_struct(p, 16, site, segment, cell);
}

INLINED void __atomsan_inl_write16(const void *p, const struct atomsan_site *site)
{
	uint64_t *cell = (uint64_t *)CELL(p), segment = self.segment;

	if (UNKNOWN(cell, 2, WRITES))
		__atomsan_write_struct(p, 16, site, segment, cell);
}

INLINED void __atomsan_inl_read32(const void *p, const struct atomsan_site *site)
{
	uint64_t *cell = (uint64_t *)CELL(p), segment = self.segment;

	if (UNKNOWN(cell, 4, READS) && (!SHARED(cell[0]) || UNKNOWN(READER(p), 4, READS)))
		__atomsan_read_struct(p, 32, site, segment, cell);
}

INLINED void __atomsan_inl_write32(const void *p, const struct atomsan_site *site)
{
	uint64_t *cell = (uint64_t *)CELL(p), segment = self.segment;

	if (UNKNOWN(cell, 4, WRITES))
		__atomsan_write_struct(p, 32, site, segment, cell);
}

/*
 * Not aligned to its size: in one granule or two. Mostly they are known as a whole,
 * which is soon seen. Where it is one granule, it is looked at twice, the second time
 * for no bytes.
 */
#define PARTLY(first, last, kinds)                                               \
	__builtin_expect(((((first) ^ self.segment) | ((last) ^ self.segment)) & \
			  (ATOMSAN_SEGMENT_MASK | 0xffull * (kinds))) != 0,      \
			 0)
#define SPLIT(first, last, bytes, kinds)                                                                     \
	__builtin_expect(((((first) ^ self.segment) & (ATOMSAN_SEGMENT_MASK | ((bytes) & 0xff) * (kinds))) | \
			  (((last) ^ self.segment) & (ATOMSAN_SEGMENT_MASK | ((bytes) >> 8) * (kinds)))) !=  \
				 0,                                                                          \
			 0)
#define UNALIGNED(kind, size, kinds, fetch)                                                                 \
	INLINED void __atomsan_inl_##kind##_unaligned##size(const void *p, const struct atomsan_site *site) \
	{                                                                                                   \
		const char *end = (const char *)p + (size) - 1;                                             \
		uint64_t cell, last;                                                                        \
                                                                                                            \
		fetch(p);                                                                                   \
		cell = *CELL(p);                                                                            \
		last = *CELL(end);                                                                          \
		if (PARTLY(cell, last, kinds)) {                                                            \
			uint64_t bytes = ((1ull << (size)) - 1) << ((uint64_t)p & 7);                       \
                                                                                                            \
			if (SPLIT(cell, last, bytes, kinds) &&                                              \
			    ((kinds) != READS || !SHARED(cell) ||                                           \
			     SPLIT(*READER(p), *READER(end), bytes, kinds)))                                \
				__atomsan_##kind##_range(p, size, site);                                    \
		}                                                                                           \
	}
UNALIGNED(read, 2, READS, FETCH)
UNALIGNED(read, 4, READS, FETCH)
UNALIGNED(read, 8, READS, FETCH)
UNALIGNED(write, 2, WRITES, NO_FETCH)
UNALIGNED(write, 4, WRITES, NO_FETCH)
UNALIGNED(write, 8, WRITES, NO_FETCH)

/*
 * Accesses of a loop that are told where it ends (pass/steps.h), if nobody looks
 * at each: the thread has cells of its own, and it is recorded and no more.
 */
INLINED uint64_t __atomsan_inl_late(void)
{
	return self.shadow_mask == ATOMSAN_SHADOW_MASK && !self.scheduled;
}

#define STEP(kind, size)                                                                             \
	INLINED void __atomsan_inl_step_##kind##size(const void *p, const struct atomsan_site *site, \
						     uint64_t late)                                  \
	{                                                                                            \
		if (__builtin_expect(!late, 0))                                                      \
			__atomsan_inl_##kind##size(p, site);                                         \
	}
STEP(read, 1)
STEP(read, 2)
STEP(read, 4)
STEP(read, 8)
STEP(write, 1)
STEP(write, 2)
STEP(write, 4)
STEP(write, 8)

/* The loop has ended, and may have done nothing. */
#define STEPS(kind)                                                                                   \
	INLINED void __atomsan_inl_##kind##_steps(const char *first, const char *past, uint64_t late, \
						  const struct atomsan_site *site)                    \
	{                                                                                             \
		if (late && first != past)                                                            \
			__atomsan_##kind##_steps(first, (uint64_t)(past - first), site);              \
	}
STEPS(read)
STEPS(write)

/* Where steps have gaps, or others stand between them, what is to be told is kept in memory. */
INLINED void __atomsan_inl_tell(struct atomsan_told *told)
{
	if (told->count)
		__atomsan_tell(told);
}

/* Stands between steps. If it is news they are told first, and may have made it none. */
#define AMONG(kind, size, kinds)                                                                      \
	INLINED void __atomsan_inl_among_##kind##size(const void *p, const struct atomsan_site *site, \
						      struct atomsan_told *told)                      \
	{                                                                                             \
		uint64_t bytes = ((1u << size) - 1) << ((uint64_t)p & (8 - size));                    \
                                                                                                      \
		if (NEWS(*CELL(p), bytes * (kinds))) {                                                \
			__atomsan_inl_tell(told);                                                     \
			__atomsan_inl_##kind##size(p, site);                                          \
		}                                                                                     \
	}
AMONG(read, 1, READS)
AMONG(read, 2, READS)
AMONG(read, 4, READS)
AMONG(read, 8, READS)
AMONG(write, 1, WRITES)
AMONG(write, 2, WRITES)
AMONG(write, 4, WRITES)
AMONG(write, 8, WRITES)
AMONG(update, 1, READS | WRITES)
AMONG(update, 2, READS | WRITES)
AMONG(update, 4, READS | WRITES)
AMONG(update, 8, READS | WRITES)

INLINED void __atomsan_inl_store(const void *p)
{
	if (__builtin_expect(self.scheduled != 0, 0))
		__atomsan_store(p);
}

INLINED void __atomsan_inl_at(const struct atomsan_site *site)
{
	self.at = site;
}

/* The frame is filled before it is claimed: whoever finds it finds it whole. A signal handler that comes
 * in between pushes its own there, and what was there is put back when it is done (rt/signal.c). */
INLINED void *__atomsan_inl_enter(const struct atomsan_function *function, const void *receiver)
{
	struct atomsan_frame *frame = self.top;

	frame->function = function;
	frame->receiver = receiver;
	__asm__ volatile("" ::: "memory");
	self.top = frame + (frame < self.limit);
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

/*
 * What is a part of the frame below it, if it works on the same object: nothing begins
 * with it then, and nothing ends. If the trace was told of it meanwhile, `low` says
 * that it was left, and hooks look at that. Not so where nothing is recorded, and nothing counted.
 */
#define BEGINS(frame) ((frame) < self.shallow && ((frame)[-1].receiver != (frame)->receiver || self.apart))

INLINED void *__atomsan_inl_part(const struct atomsan_function *function, const void *receiver)
{
	struct atomsan_frame *frame = self.top;

	frame->function = function;
	frame->receiver = receiver;
	__asm__ volatile("" ::: "memory");
	self.top = frame + (frame < self.limit);
	if (BEGINS(frame))
		self.segment = self.fresh;
	return frame;
}

INLINED void __atomsan_inl_part_exit(void *token)
{
	struct atomsan_frame *frame = token;

	self.top = frame;
	if (frame < self.low)
		self.low = frame;
	if (BEGINS(frame))
		self.segment = self.fresh;
}

/*
 * Iterations of a loop are frames, too. Those of main and of a thread's start
 * function are as transparent as these are themselves: what they call is still
 * outermost, so the shallow part of the stack grows by the loop's frame.
 */
INLINED void *__atomsan_inl_loop(const struct atomsan_function *function, const void *receiver)
{
	struct atomsan_frame *frame = self.top;

	frame->function = function;
	frame->receiver = receiver;
	__asm__ volatile("" ::: "memory");
	self.top = frame + (frame < self.limit);
	if (frame < self.shallow)
		self.segment = self.fresh;
	if (frame + 1 == self.shallow)
		self.shallow = frame + 2;
	return frame;
}

/* A walk over data is no unit in any case. */
INLINED void *__atomsan_inl_walk(const struct atomsan_function *function, const void *receiver)
{
	struct atomsan_frame *frame = self.top;

	frame->function = function;
	frame->receiver = receiver;
	__asm__ volatile("" ::: "memory");
	self.top = frame + (frame < self.limit);
	if (BEGINS(frame))
		self.segment = self.fresh;
	if (frame + 1 == self.shallow)
		self.shallow = frame + 2;
	return frame;
}

/*
 * An iteration that synchronised is worth a segment of its own, wherever its loop
 * is: `since` is the stamp of the segment that the one before ended with.
 * The frame is filled again, for longjmp may have brought control back to a loop
 * that was left.
 */
INLINED uint64_t __atomsan_inl_next(void *token, const struct atomsan_function *function,
				    const void *receiver, uint64_t since)
{
	uint64_t now = self.segment >> ATOMSAN_STAMP_SHIFT;
	struct atomsan_frame *frame = token;

	frame->function = function;
	frame->receiver = receiver;
	__asm__ volatile("" ::: "memory");
	self.top = frame + (frame < self.limit);
	if (frame < self.low)
		self.low = frame;
	if (frame < self.shallow || now != since)
		self.segment = self.fresh;
	return now;
}

/*
 * Where it cannot be told beforehand whether a loop synchronises: as long as it
 * does not, its iterations are one, in one frame and one segment. Here `since`
 * counts the thread's operations. The frame may have been left by longjmp, and
 * then `low` says so.
 */
INLINED uint64_t __atomsan_inl_since(void)
{
	return self.operations;
}

INLINED uint64_t __atomsan_inl_go_on(void *token, const struct atomsan_function *function,
				     const void *receiver, uint64_t since)
{
	struct atomsan_frame *frame = token, *top = frame + (frame < self.limit), *low = top;
	uint64_t now = self.operations;

	frame->function = function;
	frame->receiver = receiver;
	__asm__ volatile("" ::: "memory");
	self.top = top;
	if (__builtin_expect(now != since || self.apart, 0)) {
		self.segment = self.fresh;
		low = frame;
	}
	if (low < self.low)
		self.low = low;
	return now;
}

#define LEAVE(frame, ends)                          \
	do {                                        \
		self.top = (frame);                 \
		if ((frame) < self.low)             \
			self.low = (frame);         \
		if (ends)                           \
			self.segment = self.fresh;  \
		if ((frame) + 2 == self.shallow)    \
			self.shallow = (frame) + 1; \
	} while (0)
INLINED void __atomsan_inl_leave(void *token, uint64_t since)
{
	struct atomsan_frame *frame = token;
	uint64_t now = self.segment >> ATOMSAN_STAMP_SHIFT;

	LEAVE(frame, frame < self.shallow || now != since);
}

INLINED void __atomsan_inl_done(void *token, uint64_t since)
{
	struct atomsan_frame *frame = token;

	LEAVE(frame, frame < self.shallow || self.operations != since);
}

INLINED void __atomsan_inl_walked(void *token)
{
	struct atomsan_frame *frame = token;

	LEAVE(frame, BEGINS(frame));
}

/* The frame that is open. */
INLINED void *__atomsan_inl_here(void)
{
	return self.top - 1;
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
		/* Loops that were left, too; beyond the limit is where it stands if all is shallow. */
		if (top + 1 < self.shallow && self.shallow <= self.limit)
			self.shallow = top + 1;
	}
}

/* Nothing is recorded: not worth a call. */
#define OFF (self.segment == ~0ull)

INLINED void __atomsan_inl_read_range(const void *p, uint64_t length, const struct atomsan_site *site)
{
	if (!OFF)
		__atomsan_read_range(p, length, site);
}

INLINED void __atomsan_inl_write_range(const void *p, uint64_t length, const struct atomsan_site *site)
{
	if (!OFF)
		__atomsan_write_range(p, length, site);
}

INLINED void __atomsan_inl_read_lanes(const void *p, uint64_t lanes, uint64_t size,
				      const struct atomsan_site *site)
{
	if (!OFF)
		__atomsan_read_lanes(p, lanes, size, site);
}

INLINED void __atomsan_inl_write_lanes(const void *p, uint64_t lanes, uint64_t size,
				       const struct atomsan_site *site)
{
	if (!OFF)
		__atomsan_write_lanes(p, lanes, size, site);
}

INLINED void __atomsan_inl_atomic_begin(const void *p, const struct atomsan_site *site)
{
	if (!OFF)
		__atomsan_atomic_begin(p, site);
}

INLINED void __atomsan_inl_atomic_end(const void *p, uint64_t wrote, const struct atomsan_site *site)
{
	if (!OFF)
		__atomsan_atomic_end(p, wrote, site);
}

INLINED void __atomsan_inl_fence(const struct atomsan_site *site)
{
	if (!OFF)
		__atomsan_fence(site);
}

INLINED void __atomsan_inl_object(const void *p, uint64_t length, const struct atomsan_site *site)
{
	if (!OFF)
		__atomsan_object(p, length, site);
}
