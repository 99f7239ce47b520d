/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Blocks of memory that are got and given back. What one thread has freed
 * another may have right away, so a free's key must be below that of the
 * allocation behind it. Of small blocks the cells tell: both take them over as
 * a write of the whole block would, and who finds a younger segment there
 * draws a stamp. A block that is split, or joined with its neighbours, lies
 * in the same cells. Of large ones, that would be many cells, both draw a stamp always; the
 * highest of such frees is noted, for a part of it may come back as a small block.
 *
 * Without a stamp the segment goes on: what was recorded in it speaks for other
 * memory as before, and of the block's bytes nothing is recorded any more.
 */
#include "rt/block.h"
#include "rt/access_inl.h"
#include "rt/order.h"
#include "rt/real.h"

/* What is asked how large a block is must be glibc, whose it is: a library that is preloaded for its
 * allocator has a function of that name, too. */
#define usable REAL(malloc_usable_size)

/* What stands in a block's cells. */
struct found {
	bool younger; /* somebody with a higher key */
	bool shared;
};

INLINE struct found find(uint64_t block, uint64_t end, uint64_t segment)
{
	const uint64_t *cell = shadow_cell(shadow_granule((void *)block));
	const uint64_t *past = cell + (end - block + 7) / 8;
	struct found found = {false, false};
	uint64_t highest = 0;

	for (; cell < past; cell++) {
		highest = *cell > highest ? *cell : highest;
		found.shared |= shadow_is_shared(*cell);
	}
	found.younger = highest > segment;
	if (likely(!found.shared))
		return found;
	for (; block < end && !found.younger; block += 8)
		found.younger =
			look(shadow_granule((void *)block), READS * 0xff | WRITES * 0xff, true, segment) &
			YOUNGER;
	return found;
}

static void take_over(uint64_t block, uint64_t end, uint64_t segment, bool shared)
{
	uint64_t *cell = shadow_cell(shadow_granule((void *)block)), *past = cell + (end - block + 7) / 8;

	/* Readers' cells are voided along with a shared one. */
	if (unlikely(shared || unmet_on))
		for (; block < end; block += 8) {
			uint64_t granule = shadow_granule((void *)block);

			if (shadow_is_shared(*shadow_cell(granule)) || unmet_on)
				remember(granule, 0, true, segment);
		}
	for (; cell < past; cell++)
		__atomic_store_n(cell, segment & ATOMSAN_SEGMENT_MASK, __ATOMIC_RELAXED);
}

/* As event_write(), where there is neither a stamp nor a number that does not fit. False: the long way must
 * be gone. */
INLINE bool write_usual(const struct event *event)
{
	uint64_t words = 2 + event->has_value, *p;

	if (unlikely(event->stamped || event->number >= TRACE_OP_SITE_MAX || event->number == TRACE_NO_SITE ||
		     event->value >> TRACE_ADDRESS_BITS))
		return false;
	p = event_take(words);
	if (unlikely(!p))
		return true;
	p[words - 1] = event->number;
	event_store(p + words - 2, event_word(TRACE_OP, event->op, event->address & SHADOW_FOLD));
	if (event->has_value)
		event_store(p, event_word(TRACE_PREFIX, TRACE_PREFIX_VALUE, event->value));
	return true;
}

/* `room` bytes are the block's, more than were asked for. */
static void small(struct event *event, uint64_t room)
{
	uint64_t block = event->address, segment, stamp = 0;
	struct found found;

	event_frames();
	segment = event_current_segment();
	found = find(block, block + room, segment);
	event->stamped = !segment || order_due_anyway() || found.younger ||
			 (event->op == TRACE_OP_ALLOC &&
			  __atomic_load_n(&order_freed, __ATOMIC_RELAXED) > rt_self.stamp);
	if (!write_usual(event))
		stamp = event_write(event);
	if (stamp) {
		event_new_floor(stamp);
		segment = __atomsan_thread.segment = event_segment(stamp, 0);
	} else if (event->stamped) {
		return; /* recording has ended */
	}
	take_over(block, block + room, segment, found.shared);
	__atomsan_thread.operations++;
	/* A handler came in between and drew one. */
	if (unlikely(order_key() > segment >> ATOMSAN_STAMP_SHIFT))
		order_raise(&order_freed, order_key());
}

/* Does the block lie in cells that may be taken over? Those of a region that the trace has no name for stay
 * untouched: by that its accesses are known. */
static bool in_cells(const void *block, uint64_t room)
{
	return room <= TRACE_SMALL_BLOCK && rt_on() && !rt_self.sched && !rt_watching && !rt_self.handlers &&
	       event_region_known((uint64_t)block);
}

void block_allocated(void *block, uint64_t size, const struct atomsan_site *site)
{
	uint64_t room = size <= TRACE_SMALL_BLOCK ? usable(block) : UINT64_MAX;
	struct event event = {.kind = TRACE_OP,
			      .op = TRACE_OP_ALLOC,
			      .number = site ? rt_module_site(site) : TRACE_NO_SITE,
			      .address = (uint64_t)block,
			      .has_value = true,
			      .value = size};

	if (in_cells(block, room))
		small(&event, room);
	else
		rt_op_value(TRACE_OP_ALLOC, 0, block, size, site);
}

void block_freed(void *block, const struct atomsan_site *site)
{
	uint64_t room = usable(block);
	struct event event = {.kind = TRACE_OP,
			      .op = TRACE_OP_FREE,
			      .number = site ? rt_module_site(site) : TRACE_NO_SITE,
			      .address = (uint64_t)block};

	if (in_cells(block, room)) {
		small(&event, room);
		return;
	}
	rt_op(TRACE_OP_FREE, 0, block, site);
	order_raise(&order_freed, order_key());
}
