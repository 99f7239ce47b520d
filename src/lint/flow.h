/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Causal dependencies (MoTH, section 4), function by function, callees first.
 * In a function, values are traced to where they come from: its parameters, and
 * reads of shared variables, its own or those of functions that it calls. What a
 * read value is used for is noted where both meet, which is in the lowest
 * function that spans both: the one that should have been atomic.
 *
 * Locals are values already (static single assignment), so the paper's versions
 * are needed for memory alone: memory that no other thread reaches is followed
 * by object and place, shared memory is where dependencies begin and end.
 */
#ifndef ATOMSAN_LINT_FLOW_H
#define ATOMSAN_LINT_FLOW_H

#include "lint/lint.h"

/* A read of a shared variable whose value a function has. */
struct flow_source {
	uint32_t access;
	uint32_t via;    /* instruction of the function: the read itself, or the call that it came by */
	uint32_t region; /* in which it was read, if that is over when the call returns; else 0 */
};

enum flow_use_kind {
	USE_STORED,    /* the value decides what is written */
	USE_ADDRESSES, /* it decides where, or how much */
	USE_GUARDS,    /* it decides whether the access happens */
};

enum { FLOW_GUARDS = 4 };

/* An access in a region that depends on a value. */
struct flow_use {
	uint32_t access;
	uint32_t via;
	uint32_t region; /* as above */
	uint32_t kind;
	/* Variables read again in the same region, on whose value the access depends as well. */
	uint32_t guards[FLOW_GUARDS];
	uint32_t guard_count;
	bool compared;     /* with this value, and they were equal */
	bool acts;         /* something is read again, but whatever the outcome, something is written */
	uint32_t versions; /* bit i: guard i was compared with some other value from outside the region */
};

/* In one function, a value read in one region is used in another. */
struct flow_edge {
	uint32_t function;
	struct flow_source from;
	struct flow_use to;
	bool data;      /* else by control alone */
	bool carried;   /* only because an earlier iteration of a loop went so */
	bool in_rounds; /* because an earlier iteration went so, if not only */
	bool around;    /* both lie in one region, but the value left it and came back */
	bool again;     /* the use comes before the read: in the next iteration */
};

/* In one function, two values that some region writes together are read in two and used together. */
struct flow_joint {
	uint32_t function;
	struct flow_source a, b;
	uint32_t sink; /* instruction */
	bool data;
};

struct flows {
	VEC(struct flow_edge) edges;
	VEC(struct flow_joint) joints;
	uint32_t cut; /* functions in which not all values were followed, for there were too many */
};

void flow_build(struct lint *lint);
void flow_release(struct lint *lint);

/* The region around an instruction, as far as its function tells: the innermost, or 0. */
uint32_t flow_region(const struct lint *lint, uint32_t inst);
/* May two instructions of a function lie in the same region? */
bool flow_same_regions(const struct lint *lint, uint32_t a, uint32_t b);
/* The same, also if the region is one that all callers of the function are in. */
bool flow_same_or_callers(const struct lint *lint, uint32_t a, uint32_t b);

#endif
