/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* All that a function may come to from one of its instructions on, or from its beginning. */
#ifndef ATOMSAN_PASS_WAYS_H
#define ATOMSAN_PASS_WAYS_H

#include <llvm-c/Core.h>
#include <stdbool.h>

/* The function at hand; it must not change meanwhile. */
void ways_begin(LLVMValueRef function);
void ways_end(void);

enum ways_step {
	WAYS_GO_ON,
	WAYS_STOP, /* not beyond this instruction, on this way */
	WAYS_LOST, /* no need to look any further */
};

struct ways_visitor {
	enum ways_step (*visit)(LLVMValueRef instruction, void *with);
	/* Is this successor of a block's end gone to? NULL: all are. */
	bool (*is_open)(LLVMValueRef end, unsigned way, void *with);
	void *with;
};

/* From behind `start`; NULL: from the beginning. Each block is walked once, and the one of `start` once more
 * if it is come to again. False: a visit said that all is lost. */
bool ways_walk(LLVMValueRef function, LLVMValueRef start, const struct ways_visitor *visitor);
/* Did the last walk come to the block's beginning? */
bool ways_came_to(LLVMBasicBlockRef block);

#endif
