/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What an analysis took, for --stats and for the tests that hold growth down:
 * CPU time by part, and steps. Steps are counted in the innermost loops, and are
 * the same on every machine. Nothing that is found depends on any of this.
 */
#ifndef ATOMSAN_LINT_EFFORT_H
#define ATOMSAN_LINT_EFFORT_H

#include <stdint.h>
#include <stdio.h>

struct lint;
struct finding_list;

enum effort_part {
	EFFORT_READING, /* by LLVM, in the child */
	EFFORT_CFG,
	EFFORT_POINTERS,
	EFFORT_CALLS,
	EFFORT_THREADS,
	EFFORT_LOCKS,
	EFFORT_ACCESSES,
	EFFORT_CONTEXTS,
	EFFORT_VIEWS,
	EFFORT_FLOWS,
	EFFORT_STALE,
	EFFORT_RACE,
	EFFORT_METHOD,
	EFFORT_EXTRA,
	EFFORT_GROUPS,
	EFFORT_PARTS
};

struct effort {
	double seconds[EFFORT_PARTS];
	uint64_t steps[EFFORT_PARTS];
	enum effort_part now;
	double since; /* this process's CPU time when the part began */
};

/* The part before ends, this one begins. EFFORT_PARTS: none does. */
void effort_begin(struct effort *effort, enum effort_part part);

const char *effort_title(enum effort_part part); /* "pointers" */

/* As a table; as counts, seconds_pointers, steps_pointers and so on, with how much there was to look at. */
void effort_print(const struct lint *lint, FILE *out);
void effort_count(const struct lint *lint, struct finding_list *list);

#endif
