/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the judgements say: a function spans two regions that should have been
 * one, because of what another thread may do in between. A verdict is the word
 * of one rule on one pair of regions; findings are made of all of them.
 */
#ifndef ATOMSAN_LINT_VERDICT_H
#define ATOMSAN_LINT_VERDICT_H

#include "lint/lint.h"

enum verdict_rule {
	VERDICT_STALE,        /* MoTH, Definition 11: a value is used in a later region */
	VERDICT_READS,        /* MoTH, Definition 9: variables that belong together are read one by one */
	VERDICT_WRITES,       /* the same for writes */
	VERDICT_METHOD,       /* von Praun & Gross: lock views do not form a chain */
	VERDICT_SPLIT,        /* one variable is written in two regions, an intermediate value shows */
	VERDICT_WHOLE,        /* a lock around two regions of another does not make them one */
	VERDICT_PRIVATE_LOCK, /* the lock excludes nobody */
	VERDICT_RULES
};

struct verdict {
	enum verdict_rule rule;
	uint32_t function;              /* that should be atomic */
	uint32_t first, second;         /* its accesses */
	uint32_t first_via, second_via; /* instructions of the function that lead to them */
	uint32_t first_region, second_region;
	uint32_t other;        /* the access in between */
	uint32_t other_second; /* a second one in the same region, or 0 */
	uint32_t thread, other_thread;
	uint32_t outer; /* lock, of VERDICT_WHOLE */
	double confidence;
	bool data; /* a value flows from first to second; else it decides */
	bool checked_again;
	bool taken;    /* what was read was taken away, so it is the reader's own */
	bool again;    /* second comes in a later iteration */
	bool searches; /* second is about another thing, which a search came to because of first */
};

struct verdicts {
	VEC(struct verdict) at;
	uint32_t count[VERDICT_RULES]; /* pairs of regions, by rule */
};

/* Who comes in between: at most so many, one per function. A finding tells of one. */
enum { VERDICT_OTHERS = 1 };

struct verdict_other {
	uint32_t access, second; /* second: in the same region, or 0 */
	uint32_t thread, by;
	int rank;
};

/* Keeps the best; returns how many there are then. */
uint32_t verdict_add_other(const struct lint *lint, struct verdict_other *others, uint32_t count,
			   struct verdict_other other);
/* One verdict for each of them. */
void verdict_add(struct verdicts *verdicts, const struct verdict *verdict, const struct verdict_other *others,
		 uint32_t count);

void stale_judge(struct lint *lint, struct verdicts *verdicts);
void race_judge(struct lint *lint, struct verdicts *verdicts);
void method_judge(struct lint *lint, struct verdicts *verdicts);
void extra_judge(struct lint *lint, struct verdicts *verdicts);
/* All of these. */
void verdict_all(struct lint *lint, struct verdicts *verdicts);

#endif
