/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loops that step through memory until they find something: where they end is
 * not known in front of them, but which bytes an access touched is known where
 * they end, all from the first to the last. There each is told once, as one range.
 *
 * Only while a thread is recorded and nothing else is done with it: who is
 * scheduled or watched is told of each access where it is. What it is to be is
 * looked up once, in front of the loop.
 */
#ifndef ATOMSAN_PASS_STEPS_H
#define ATOMSAN_PASS_STEPS_H

#include "pass/linear.h"

enum { STEPS_EXITS = 4, STEPS_RANGES = 4, STEPS_ACCESSES = 8, STEPS_AMONG = 8 };

struct steps_access {
	LLVMValueRef instruction;
	struct linear address;
	unsigned behind; /* a bit for each exit that lies behind it; the others lie before */
	unsigned before; /* a bit for each access among the steps that lies behind it; likewise */
};

struct steps {
	LLVMBasicBlockRef header, latch;
	LLVMValueRef at;   /* the end of the block in front of the loop */
	LLVMValueRef late; /* built there, on demand: are ranges told where the loop ends? */
	unsigned exits;
	struct {
		LLVMValueRef branch;
		unsigned way;      /* of the branch, that leaves the loop */
		LLVMValueRef at;   /* built on demand: the end of a block on this way alone */
		LLVMValueRef tell; /* built there, if there is a record */
	} exit[STEPS_EXITS];
	/* Accesses that some iterations do and others do not: what comes before them is told before them. */
	unsigned among;
	struct {
		LLVMValueRef instruction;
		LLVMValueRef at; /* its check, once it is built */
	} between[STEPS_AMONG];
	/* Steps have gaps, or there are accesses among them: what is to be told is kept in a struct
	 * atomsan_told, built on demand. */
	bool kept;
	LLVMValueRef record, count;
	unsigned filled;
};

/* Is the loop such? Nothing in it orders threads. Returns the number of accesses, in the order of the
 * loop's blocks; 0 if it is not. */
unsigned steps_plan(const struct linear_loop *loop, struct steps *steps,
		    struct steps_access accesses[STEPS_ACCESSES]);

/* The code for one of them: `first` is its address in the first iteration. */
void steps_emit(struct steps *steps, const struct steps_access *access, LLVMValueRef first, uint64_t size,
		bool write, LLVMValueRef site);

/* The record, for the check of an access among the steps, and where that check is. */
LLVMValueRef steps_record(struct steps *steps);
void steps_checked(struct steps *steps, LLVMValueRef access, LLVMValueRef check);

#endif
