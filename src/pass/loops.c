/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A loop counts if it has one way in, one way back and one way out, tested at
 * its end (so it runs at least once), if the number of its iterations can be
 * computed in front of it, and if nothing in it can order threads. The accesses
 * that every iteration does are then told apart by kind, name and address up to
 * a constant; those of one sort whose bytes lie side by side make a span, and a
 * span that is at least as long as the stride leaves no gap from one iteration
 * to the next. So an unrolled loop's accesses become one range.
 */
#include "pass/loops.h"

#include "pass/linear.h"
#include "pass/pass.h"
#include "pass/steps.h"

#include <stdlib.h>
#include <string.h>

struct access {
	LLVMValueRef instruction;
	struct linear address;
	struct note note;
	uint64_t size;
	unsigned order; /* as the loop has them */
	bool write;
};

struct range {
	struct linear low; /* the lowest byte of the first iteration */
	uint64_t span;     /* bytes of one iteration; 0 for a check that is done once */
	LLVMValueRef teller;
	unsigned trips; /* number in loops.trips, or in loops.steps if stepped */
	bool stepped;
	struct steps_access step; /* without an instruction: an access among steps */
};

struct loops {
	struct flow flow;
	struct range *ranges;
	unsigned range_count, range_room;
	struct counted {
		struct linear_trips trips;
		LLVMValueRef at, built;
	} *trips; /* of loops that count */
	unsigned trip_count;
	struct steps *steps; /* of loops that are told of when they end */
	unsigned steps_count;
	struct entry {
		LLVMValueRef instruction;
		unsigned range;
	} *entries; /* by hash */
	unsigned entry_count, entry_room;
};

/* ---- access to range ---- */

static unsigned slot(const struct loops *loops, LLVMValueRef instruction)
{
	unsigned at = (unsigned)(((size_t)instruction >> 4) * 0x9e3779b97f4a7c15ull >> 32) &
		      (loops->entry_room - 1);

	while (loops->entries[at].instruction && loops->entries[at].instruction != instruction)
		at = (at + 1) & (loops->entry_room - 1);
	return at;
}

static void enter(struct loops *loops, LLVMValueRef instruction, unsigned range)
{
	if (loops->entry_count * 2 >= loops->entry_room) {
		struct entry *old = loops->entries;
		unsigned old_room = loops->entry_room;

		loops->entry_room = old_room ? old_room * 2 : 64;
		loops->entries = calloc(loops->entry_room, sizeof *loops->entries);
		for (unsigned i = 0; i < old_room; i++)
			if (old[i].instruction)
				loops->entries[slot(loops, old[i].instruction)] = old[i];
		free(old);
	}
	loops->entries[slot(loops, instruction)] = (struct entry){instruction, range};
	loops->entry_count++;
}

static unsigned new_range(struct loops *loops, const struct range *range)
{
	if (loops->range_count == loops->range_room) {
		loops->range_room = loops->range_room ? loops->range_room * 2 : 16;
		loops->ranges = realloc(loops->ranges, loops->range_room * sizeof *loops->ranges);
	}
	loops->ranges[loops->range_count] = *range;
	return loops->range_count++;
}

/* ---- spans ---- */

/* By sort, within a sort by address. */
static int compare(const void *left, const void *right)
{
	const struct access *a = left, *b = right;
	const char *const texts[][2] = {
		{a->note.type, b->note.type}, {a->note.member, b->note.member}, {a->note.base, b->note.base}};
	int order = a->write - b->write;

	if (!order)
		order = linear_compare(&a->address, &b->address);
	for (unsigned i = 0; i < 3 && !order; i++)
		order = strcmp(texts[i][0], texts[i][1]);
	return order;
}

static int compare_all(const void *left, const void *right)
{
	const struct access *a = left, *b = right;
	int order = compare(a, b);

	if (!order)
		order = (a->address.constant > b->address.constant) -
			(a->address.constant < b->address.constant);
	return order ? order : (a->order > b->order) - (a->order < b->order);
}

static uint64_t magnitude(int64_t n)
{
	return n < 0 ? -(uint64_t)n : (uint64_t)n;
}

/* Accesses side by side, sorted, of `span` bytes in all: one range, if that leaves no gaps. */
static void add_span(struct loops *loops, const struct access *accesses, unsigned count, uint64_t span,
		     unsigned trips)
{
	const struct access *first = accesses;
	struct range range = {.low = accesses->address, .span = span, .trips = trips};
	unsigned number;

	if (!range.low.stride) {
		/* The same bytes in every iteration: each checked once, as it would be there. */
		for (unsigned i = 0; i < count; i++) {
			struct range once = {.low = accesses[i].address,
					     .teller = accesses[i].instruction,
					     .trips = trips};

			enter(loops, accesses[i].instruction, new_range(loops, &once));
		}
		return;
	}
	if (span < magnitude(range.low.stride))
		return;
	for (unsigned i = 1; i < count; i++)
		if (accesses[i].order < first->order)
			first = &accesses[i];
	range.teller = first->instruction;
	number = new_range(loops, &range);
	for (unsigned i = 0; i < count; i++)
		enter(loops, accesses[i].instruction, number);
}

static void find_spans(struct loops *loops, struct access *accesses, unsigned count, unsigned trips)
{
	unsigned start = 0;
	uint64_t span = 0;

	if (count)
		qsort(accesses, count, sizeof *accesses, compare_all);
	for (unsigned i = 0; i < count; i++) {
		const struct access *access = &accesses[i];
		uint64_t from =
			(uint64_t)access->address.constant - (uint64_t)accesses[start].address.constant;

		if (i > start && (compare(access, &accesses[start]) || from > span)) {
			add_span(loops, &accesses[start], i - start, span, trips);
			start = i;
		}
		if (i == start)
			span = from = 0;
		if (from + access->size > span)
			span = from + access->size;
	}
	if (count)
		add_span(loops, &accesses[start], count - start, span, trips);
}

/* ---- loops that count ---- */

/* Nothing that can order threads, nor anything of which that is not known. */
static bool harmless(LLVMValueRef i)
{
	static const char *const prefixes[] = {"llvm.dbg.",    "llvm.lifetime.", "llvm.assume",
					       "llvm.mem",     "llvm.masked.",   "llvm.experimental.noalias.",
					       "llvm.prefetch"};
	LLVMAttributeRef memory;

	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
	case LLVMStore:
		return !LLVMGetVolatile(i) && !LLVMIsAtomic(i);
	case LLVMFence:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
	case LLVMInvoke:
	case LLVMCallBr:
		return false;
	case LLVMCall:
		if (!util_is_intrinsic(i, "llvm."))
			return false;
		memory = LLVMGetEnumAttributeAtIndex(util_callee(i), LLVMAttributeFunctionIndex,
						     LLVMGetEnumAttributeKindForName("memory", 6));
		if (memory && !LLVMGetEnumAttributeValue(memory))
			return true;
		for (size_t n = 0; n < sizeof prefixes / sizeof *prefixes; n++)
			if (util_is_intrinsic(i, prefixes[n]))
				return true;
		return false;
	default:
		return true;
	}
}

static bool harmless_block(LLVMBasicBlockRef block)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
		if (!harmless(i))
			return false;
	return true;
}

/* Is it a load or store whose address goes on in even steps? Then it is told. */
static bool take_access(const struct linear_loop *loop, LLVMValueRef i, struct access *access)
{
	bool write = LLVMIsAStoreInst(i);
	uint64_t used;
	LLVMTypeRef type;
	LLVMValueRef pointer;

	if ((!write && !LLVMIsALoadInst(i)) || lanes_partly_used(i, &used))
		return false;
	pointer = LLVMGetOperand(i, write);
	type = LLVMTypeOf(write ? LLVMGetOperand(i, 0) : i);
	if (LLVMGetTypeKind(type) == LLVMScalableVectorTypeKind || private_pointer(pointer) ||
	    !linear_address(loop, pointer, &access->address))
		return false;
	access->instruction = i;
	access->write = write;
	access->size = LLVMStoreSizeOfType(loop->layout, type);
	note_find(i, write, &access->note);
	return true;
}

static void plan_loop(struct loops *loops, const struct linear_loop *loop, unsigned trips)
{
	const struct flow *flow = &loops->flow;
	unsigned count = 0, room = 0;
	struct access *accesses = NULL;
	unsigned b = flow->loops[loop->number].latch;

	/* The blocks that all iterations pass, from the end; inner loops' are not this one's. */
	for (;; b = flow->dominator[b]) {
		if (flow->inner[b] == loop->number) {
			for (LLVMValueRef i = LLVMGetLastInstruction(flow->blocks[b]); i;
			     i = LLVMGetPreviousInstruction(i)) {
				if (count == room) {
					room = room ? room * 2 : 32;
					accesses = realloc(accesses, room * sizeof *accesses);
				}
				if (!take_access(loop, i, &accesses[count]))
					continue;
				accesses[count].order = ~count;
				count++;
			}
		}
		if (b == flow->loops[loop->number].header)
			break;
	}
	find_spans(loops, accesses, count, trips);
	free(accesses);
}

/* A loop of which it is not known in front how often it runs, or whose steps leave gaps. */
static void plan_steps(struct loops *loops, const struct linear_loop *loop)
{
	struct steps_access accesses[STEPS_ACCESSES];
	struct steps *steps = &loops->steps[loops->steps_count];
	unsigned count = steps_plan(loop, steps, accesses);

	if (!count)
		return;
	for (unsigned i = 0; i < count; i++) {
		struct range range = {.low = accesses[i].address,
				      .teller = accesses[i].instruction,
				      .trips = loops->steps_count,
				      .stepped = true,
				      .step = accesses[i]};

		enter(loops, accesses[i].instruction, new_range(loops, &range));
	}
	for (unsigned i = 0; i < steps->among; i++) {
		struct range range = {.teller = steps->between[i].instruction,
				      .trips = loops->steps_count,
				      .stepped = true};

		enter(loops, range.teller, new_range(loops, &range));
	}
	loops->steps_count++;
}

struct loops *loops_plan(LLVMValueRef function, LLVMTargetDataRef layout)
{
	struct loops *loops = calloc(1, sizeof *loops);
	const struct flow *flow = &loops->flow;
	unsigned before;
	bool *harmful;

	if (!flow_init(&loops->flow, function)) {
		free(loops);
		return NULL;
	}
	harmful = calloc(flow->loop_count, sizeof *harmful);
	loops->trips = malloc(flow->loop_count * sizeof *loops->trips);
	loops->steps = malloc(flow->loop_count * sizeof *loops->steps);
	for (unsigned n = 0; n < flow->loop_count; n++) {
		const struct flow_loop *loop = &flow->loops[n];
		struct linear_loop linear = {.flow = flow, .number = n, .layout = layout};
		struct counted *counted = &loops->trips[loops->trip_count];

		for (unsigned b = loop->first; b != FLOW_NONE && !harmful[n]; b = flow->next[b])
			harmful[n] = !harmless_block(flow->blocks[b]);
		if (harmful[n] && loop->parent != FLOW_NONE)
			harmful[loop->parent] = true;
		if (harmful[n] || loop->latch == FLOW_NONE || loop->preheader == FLOW_NONE)
			continue;
		linear.header = flow->blocks[loop->header];
		linear.latch = flow->blocks[loop->latch];
		linear.preheader = flow->blocks[loop->preheader];
		if (loop->exits != 1 || loop->exiting != loop->latch ||
		    !linear_trips(&linear, &counted->trips)) {
			plan_steps(loops, &linear);
			continue;
		}
		counted->at = LLVMGetBasicBlockTerminator(linear.preheader);
		counted->built = NULL;
		before = loops->range_count;
		plan_loop(loops, &linear, loops->trip_count++);
		/* Nothing but gaps. */
		if (loops->range_count == before)
			plan_steps(loops, &linear);
	}
	free(harmful);
	if (!loops->range_count) {
		loops_free(loops);
		return NULL;
	}
	return loops;
}

void loops_free(struct loops *loops)
{
	if (!loops)
		return;
	flow_release(&loops->flow);
	free(loops->ranges);
	free(loops->trips);
	free(loops->steps);
	free(loops->entries);
	free(loops);
}

/* ---- code ---- */

enum loops_check loops_access(struct loops *loops, LLVMBuilderRef builder, LLVMValueRef access,
			      struct loops_place *place)
{
	const struct entry *entry = loops && loops->entry_room ? &loops->entries[slot(loops, access)] : NULL;
	const struct range *range;
	struct counted *counted;
	LLVMValueRef ways, stride;

	if (!entry || !entry->instruction)
		return LOOPS_IN_PLACE;
	range = &loops->ranges[entry->range];
	if (range->teller != access)
		return LOOPS_NONE;
	if (range->stepped) {
		place->steps = &loops->steps[range->trips];
		place->step = &range->step;
		if (!range->step.instruction)
			return LOOPS_AMONG;
		LLVMPositionBuilderBefore(builder, place->steps->at);
		LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(access));
		place->pointer = linear_build(builder, &range->low);
		return LOOPS_STEPS;
	}
	counted = &loops->trips[range->trips];
	place->at = counted->at;
	LLVMPositionBuilderBefore(builder, counted->at);
	LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(access));
	place->pointer = linear_build(builder, &range->low);
	if (!range->span)
		return LOOPS_ONCE;
	if (!counted->built)
		counted->built = linear_build_trips(builder, &counted->trips);
	stride = LLVMConstInt(LLVMTypeOf(counted->built), magnitude(range->low.stride), false);
	ways = LLVMBuildMul(builder, counted->built, stride, "");
	place->length = LLVMBuildAdd(builder, ways, LLVMConstInt(LLVMTypeOf(ways), range->span, false), "");
	if (range->low.stride < 0) {
		LLVMTypeRef byte = LLVMInt8TypeInContext(LLVMGetTypeContext(LLVMTypeOf(ways)));

		ways = LLVMBuildNeg(builder, ways, "");
		place->pointer = LLVMBuildGEP2(builder, byte, place->pointer, &ways, 1, "");
	}
	return LOOPS_RANGE;
}
