/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Dominators by Cooper, Harvey and Kennedy ("A Simple, Fast Dominance
 * Algorithm"); loops from the innermost out, each block looked at once, as a
 * loop that is already known is walked over by way of its header.
 */
#include "pass/flow.h"

#include <stdlib.h>
#include <string.h>

static unsigned slot(const struct flow *flow, LLVMBasicBlockRef block)
{
	unsigned at =
		(unsigned)(((size_t)block >> 4) * 0x9e3779b97f4a7c15ull >> 32) & (flow->number_room - 1);

	while (flow->numbers[at].block && flow->numbers[at].block != block)
		at = (at + 1) & (flow->number_room - 1);
	return at;
}

unsigned flow_number(const struct flow *flow, LLVMBasicBlockRef block)
{
	unsigned at = slot(flow, block);

	return flow->numbers[at].block ? flow->numbers[at].number : FLOW_NONE;
}

bool flow_inside(const struct flow *flow, unsigned loop, unsigned block)
{
	unsigned at = block == FLOW_NONE ? FLOW_NONE : flow->inner[block];

	/* Outer loops have larger numbers, and FLOW_NONE is the largest. */
	while (at < loop)
		at = flow->loops[at].parent;
	return at == loop && loop != FLOW_NONE;
}

/* Numbers the blocks that can be reached. False if no edge leads back, or one has no fixed target. */
static bool number_blocks(struct flow *flow, LLVMValueRef function, unsigned total)
{
	struct step {
		LLVMBasicBlockRef block;
		unsigned edge;
	} *stack = malloc(total * sizeof *stack);
	LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);
	unsigned depth = 1, left = total;
	const unsigned OPEN = FLOW_NONE - 1;
	bool back = false, fixed = true;

	stack[0] = (struct step){entry, 0};
	flow->numbers[slot(flow, entry)].number = OPEN;
	flow->numbers[slot(flow, entry)].block = entry;
	while (depth && fixed) {
		struct step *top = &stack[depth - 1];
		LLVMValueRef end = LLVMGetBasicBlockTerminator(top->block);
		LLVMBasicBlockRef to;
		unsigned at;

		if (LLVMIsAIndirectBrInst(end) || LLVMGetInstructionOpcode(end) == LLVMCallBr)
			fixed = false;
		if (top->edge == LLVMGetNumSuccessors(end)) {
			flow->numbers[slot(flow, top->block)].number = --left;
			flow->blocks[left] = top->block;
			depth--;
			continue;
		}
		to = LLVMGetSuccessor(end, top->edge++);
		at = slot(flow, to);
		if (!flow->numbers[at].block) {
			flow->numbers[at].block = to;
			flow->numbers[at].number = OPEN;
			stack[depth++] = (struct step){to, 0};
		} else if (flow->numbers[at].number == OPEN) {
			back = true;
		}
	}
	free(stack);
	if (!back || !fixed)
		return false;
	/* Unreachable blocks left a gap at the front. */
	flow->count = total - left;
	memmove(flow->blocks, flow->blocks + left, flow->count * sizeof *flow->blocks);
	for (unsigned i = 0; i < flow->count; i++)
		flow->numbers[slot(flow, flow->blocks[i])].number = i;
	return true;
}

static void find_predecessors(struct flow *flow)
{
	unsigned *start = calloc(flow->count + 2, sizeof *start), edges = 0;

	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned b = 0; b < flow->count; b++) {
			LLVMValueRef end = LLVMGetBasicBlockTerminator(flow->blocks[b]);
			unsigned count = LLVMGetNumSuccessors(end);

			for (unsigned i = 0; i < count; i++) {
				unsigned to = flow_number(flow, LLVMGetSuccessor(end, i));

				/* First counted two further on, then filled in one further on. */
				if (!pass)
					start[to + 2]++;
				else
					flow->before[start[to + 1]++] = b;
			}
			edges += pass ? 0 : count;
		}
		if (!pass) {
			for (unsigned b = 0; b < flow->count; b++)
				start[b + 2] += start[b + 1];
			flow->before = malloc((edges + 1) * sizeof *flow->before);
		}
	}
	flow->before_start = start;
}

static unsigned meet(const struct flow *flow, unsigned a, unsigned b)
{
	while (a != b) {
		while (a > b)
			a = flow->dominator[a];
		while (b > a)
			b = flow->dominator[b];
	}
	return a;
}

static bool dominates(const struct flow *flow, unsigned a, unsigned b)
{
	while (b > a)
		b = flow->dominator[b];
	return a == b;
}

static void find_dominators(struct flow *flow)
{
	bool changed = true;

	for (unsigned b = 1; b < flow->count; b++)
		flow->dominator[b] = FLOW_NONE;
	flow->dominator[0] = 0;
	while (changed) {
		changed = false;
		for (unsigned b = 1; b < flow->count; b++) {
			unsigned new = FLOW_NONE;

			for (unsigned i = flow->before_start[b]; i < flow->before_start[b + 1]; i++) {
				unsigned from = flow->before[i];

				if (flow->dominator[from] != FLOW_NONE)
					new = new == FLOW_NONE ? from : meet(flow, new, from);
			}
			if (flow->dominator[b] != new) {
				flow->dominator[b] = new;
				changed = true;
			}
		}
	}
}

/* Give everything that reaches a latch without passing the header to the loop. */
static void fill_loop(struct flow *flow, unsigned loop, unsigned *work, unsigned depth)
{
	unsigned header = flow->loops[loop].header;

	while (depth) {
		unsigned b = work[--depth], known = flow->inner[b];

		if (known == FLOW_NONE) {
			flow->inner[b] = loop;
		} else {
			while (known != loop && flow->loops[known].parent != FLOW_NONE)
				known = flow->loops[known].parent;
			if (known == loop)
				continue;
			flow->loops[known].parent = loop;
			b = flow->loops[known].header;
		}
		if (b == header)
			continue;
		for (unsigned i = flow->before_start[b]; i < flow->before_start[b + 1]; i++)
			work[depth++] = flow->before[i];
	}
}

/* False if an edge leads back to a block that does not dominate its start. */
static bool find_loops(struct flow *flow)
{
	unsigned edges = flow->before_start[flow->count];
	unsigned *work = malloc((edges + 1) * sizeof *work);
	bool reducible = true;

	for (unsigned header = flow->count; header-- > 0 && reducible;) {
		struct flow_loop loop = {.header = header, .latch = FLOW_NONE, .parent = FLOW_NONE};
		unsigned ways = 0;

		for (unsigned i = flow->before_start[header]; i < flow->before_start[header + 1]; i++) {
			unsigned from = flow->before[i];

			if (from < header)
				continue;
			if (!dominates(flow, header, from))
				reducible = false;
			work[ways++] = from;
		}
		if (!ways || !reducible)
			continue;
		if (ways == 1)
			loop.latch = work[0];
		flow->loops[flow->loop_count] = loop;
		fill_loop(flow, flow->loop_count, work, ways);
		flow->loop_count++;
	}
	free(work);
	return reducible;
}

static void find_edges(struct flow *flow)
{
	for (unsigned n = 0; n < flow->loop_count; n++) {
		struct flow_loop *loop = &flow->loops[n];
		unsigned entries = 0, from = FLOW_NONE;

		loop->first = loop->preheader = FLOW_NONE;
		for (unsigned i = flow->before_start[loop->header]; i < flow->before_start[loop->header + 1];
		     i++) {
			if (flow_inside(flow, n, flow->before[i]))
				continue;
			from = flow->before[i];
			entries++;
		}
		if (entries == 1 &&
		    LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(flow->blocks[from])) == 1 &&
		    LLVMIsABranchInst(LLVMGetBasicBlockTerminator(flow->blocks[from])))
			loop->preheader = from;
	}
	for (unsigned b = flow->count; b-- > 0;) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(flow->blocks[b]);
		unsigned count = LLVMGetNumSuccessors(end);

		flow->next[b] = FLOW_NONE;
		if (flow->inner[b] == FLOW_NONE)
			continue;
		flow->next[b] = flow->loops[flow->inner[b]].first;
		flow->loops[flow->inner[b]].first = b;
		for (unsigned i = 0; i < count; i++) {
			unsigned to = flow_number(flow, LLVMGetSuccessor(end, i));

			for (unsigned n = flow->inner[b]; n != FLOW_NONE && !flow_inside(flow, n, to);
			     n = flow->loops[n].parent) {
				flow->loops[n].exits++;
				flow->loops[n].exiting = b;
			}
		}
	}
}

bool flow_init(struct flow *flow, LLVMValueRef function)
{
	unsigned total = LLVMCountBasicBlocks(function), room = 16;

	*flow = (struct flow){0};
	while (room < total * 2)
		room *= 2;
	flow->number_room = room;
	flow->numbers = calloc(room, sizeof *flow->numbers);
	flow->blocks = malloc(total * sizeof *flow->blocks);
	flow->dominator = malloc(total * sizeof *flow->dominator);
	flow->inner = malloc(total * sizeof *flow->inner);
	flow->next = malloc(total * sizeof *flow->next);
	flow->loops = malloc(total * sizeof *flow->loops);
	memset(flow->inner, 0xff, total * sizeof *flow->inner);
	if (number_blocks(flow, function, total)) {
		find_predecessors(flow);
		find_dominators(flow);
		if (find_loops(flow)) {
			find_edges(flow);
			return true;
		}
	}
	flow_release(flow);
	return false;
}

void flow_release(struct flow *flow)
{
	free(flow->numbers);
	free(flow->blocks);
	free(flow->dominator);
	free(flow->inner);
	free(flow->next);
	free(flow->loops);
	free(flow->before);
	free(flow->before_start);
	*flow = (struct flow){0};
}
