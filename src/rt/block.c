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

/* Is there somebody in its cells with a higher key? */
static bool younger(uint64_t p, uint64_t end, uint64_t segment)
{
	for (; p < end; p += 8)
		if (look(shadow_granule((void *)p), READS * 0xff | WRITES * 0xff, true, segment) & YOUNGER)
			return true;
	return false;
}

static void take_over(uint64_t p, uint64_t end, uint64_t segment)
{
	for (; p < end; p += 8) {
		uint64_t granule = shadow_granule((void *)p);

		/* Readers' cells are voided along with a shared one. */
		if (unlikely(shadow_is_shared(*shadow_cell(granule)) || unmet_on))
			remember(granule, 0, true, segment);
		__atomic_store_n(shadow_cell(granule), segment & ATOMSAN_SEGMENT_MASK, __ATOMIC_RELAXED);
	}
}

/* `room` bytes are the block's, more than were asked for. */
static void small(struct event *event, uint64_t room)
{
	uint64_t block = event->address, segment, stamp;

	event_frames();
	segment = event_current_segment();
	event->stamped = !segment || order_due_anyway() ||
			 (event->op == TRACE_OP_ALLOC &&
			  __atomic_load_n(&order_freed, __ATOMIC_RELAXED) > rt_self.stamp) ||
			 younger(block, block + room, segment);
	stamp = event_write(event);
	if (stamp) {
		event_new_floor(stamp);
		segment = __atomsan_thread.segment = event_segment(stamp, 0);
	} else if (event->stamped) {
		return; /* recording has ended */
	}
	take_over(block, block + room, segment);
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
