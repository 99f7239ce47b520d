/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A function's blocks in reverse postorder, their dominators and the natural
 * loops, none of which the LLVM-C API offers. Blocks and loops go by number;
 * a loop inside another has the smaller one. Valid as long as no block is
 * added or removed.
 */
#ifndef ATOMSAN_PASS_FLOW_H
#define ATOMSAN_PASS_FLOW_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#define FLOW_NONE (~0u)

struct flow_loop {
	unsigned header;
	unsigned latch;     /* where the only way back comes from; FLOW_NONE if there are several */
	unsigned preheader; /* the only way in, and it leads nowhere else; or FLOW_NONE */
	unsigned exits;     /* edges out of it, also out of loops inside it */
	unsigned exiting;   /* where the last of them starts */
	unsigned parent;    /* the next loop around it, or FLOW_NONE */
	unsigned first;     /* of the blocks in it that are in no inner loop, see flow.next */
};

struct flow {
	LLVMBasicBlockRef *blocks;
	unsigned count;
	unsigned *dominator; /* immediate; the entry's is itself */
	unsigned *inner;     /* the innermost loop around a block, or FLOW_NONE */
	unsigned *next;      /* the next block with the same innermost loop, or FLOW_NONE */
	struct flow_loop *loops;
	unsigned loop_count;
	struct {
		LLVMBasicBlockRef block;
		unsigned number;
	} *numbers; /* by hash */
	unsigned number_room;
	unsigned *before, *before_start; /* predecessors of block n: before[before_start[n]...] */
};

/* False if there is no loop, or one with several entries; then nothing is kept. */
bool flow_init(struct flow *flow, LLVMValueRef function);
void flow_release(struct flow *flow);

unsigned flow_number(const struct flow *flow, LLVMBasicBlockRef block); /* FLOW_NONE if unreachable */
bool flow_inside(const struct flow *flow, unsigned loop, unsigned block);

#endif
