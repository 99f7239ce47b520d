/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Who may come in between? The judgements ask it of two places in a function,
 * and the answer depends on little: the function, the variables, the locks that
 * are held throughout, and the threads that run beside it at both places. On a
 * large program thousands of pairs of places share one answer, so it is looked
 * for once.
 */
#ifndef ATOMSAN_LINT_ANSWER_H
#define ATOMSAN_LINT_ANSWER_H

#include "lint/verdict.h"

struct answer {
	uint32_t function, x, y, kind;
	struct lockset held; /* throughout */
	uint64_t beside;     /* threads beside each that runs the function, at both places, mixed */
	uint32_t count;
	struct verdict_other others[VERDICT_OTHERS];
};

struct answers {
	struct map known; /* number + 1 */
	VEC(struct answer) at;
};

struct answer_question {
	uint32_t function;
	uint32_t first_via, second_via; /* places in it */
	bool left;                      /* locks are given back in between, see pair_held() */
	uint32_t x, y, kind;            /* variables, and what is asked of them: the caller's affair */
};

/* The answer, good until the next question; if *is_new is set it is for the caller to fill in. */
struct answer *answer_to(const struct lint *lint, struct answers *answers, struct answer_question question,
			 bool *is_new);
void answer_release(struct answers *answers);

#endif
