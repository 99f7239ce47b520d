/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "pass/ways.h"

#include <stdlib.h>
#include <string.h>

static struct {
	LLVMBasicBlockRef *sorted; /* the function's */
	unsigned count;
	bool *seen; /* of each: it was or is to be walked, from its beginning */
	unsigned *to_walk, left;
} blocks;

static int by_address(const void *a, const void *b)
{
	const LLVMBasicBlockRef *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

void ways_begin(LLVMValueRef function)
{
	blocks.count = LLVMCountBasicBlocks(function);
	blocks.sorted = realloc(blocks.sorted, blocks.count * sizeof *blocks.sorted);
	blocks.seen = realloc(blocks.seen, blocks.count * sizeof *blocks.seen);
	blocks.to_walk = realloc(blocks.to_walk, blocks.count * sizeof *blocks.to_walk);
	LLVMGetBasicBlocks(function, blocks.sorted);
	qsort(blocks.sorted, blocks.count, sizeof *blocks.sorted, by_address);
}

void ways_end(void)
{
	free(blocks.sorted);
	free(blocks.seen);
	free(blocks.to_walk);
	memset(&blocks, 0, sizeof blocks);
}

static unsigned number_of(LLVMBasicBlockRef block)
{
	const LLVMBasicBlockRef *at =
		bsearch(&block, blocks.sorted, blocks.count, sizeof *blocks.sorted, by_address);

	return (unsigned)(at - blocks.sorted);
}

bool ways_came_to(LLVMBasicBlockRef block)
{
	return blocks.seen[number_of(block)];
}

static void come_to(LLVMBasicBlockRef block)
{
	unsigned number = number_of(block);

	if (blocks.seen[number])
		return;
	blocks.seen[number] = true;
	blocks.to_walk[blocks.left++] = number;
}

static void leave(LLVMValueRef end, const struct ways_visitor *visitor)
{
	for (unsigned way = 0; way < LLVMGetNumSuccessors(end); way++)
		if (!visitor->is_open || visitor->is_open(end, way, visitor->with))
			come_to(LLVMGetSuccessor(end, way));
}

bool ways_walk(LLVMValueRef function, LLVMValueRef start, const struct ways_visitor *visitor)
{
	LLVMValueRef i = start ? LLVMGetNextInstruction(start) : NULL;

	memset(blocks.seen, 0, blocks.count * sizeof *blocks.seen);
	blocks.left = 0;
	if (!start)
		come_to(LLVMGetEntryBasicBlock(function));
	else if (!i)
		leave(start, visitor);
	for (;;) {
		enum ways_step step = WAYS_GO_ON;

		for (; i && step == WAYS_GO_ON; i = LLVMGetNextInstruction(i)) {
			step = visitor->visit(i, visitor->with);
			if (step == WAYS_LOST)
				return false;
			if (step == WAYS_GO_ON && LLVMIsATerminatorInst(i))
				leave(i, visitor);
		}
		if (!blocks.left)
			return true;
		i = LLVMGetFirstInstruction(blocks.sorted[blocks.to_walk[--blocks.left]]);
	}
}
