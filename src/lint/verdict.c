/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/verdict.h"

uint32_t verdict_add_other(const struct lint *lint, struct verdict_other *others, uint32_t count,
			   struct verdict_other other)
{
	const struct program *p = &lint->program;
	uint32_t function = program_function_of(p, lint->accesses.at.at[other.access].inst), at;

	for (at = 0; at < count; at++)
		if (program_function_of(p, lint->accesses.at.at[others[at].access].inst) == function)
			break;
	if (at == count && count == VERDICT_OTHERS) {
		at = count - 1;
		if (others[at].rank >= other.rank)
			return count;
	} else if (at == count) {
		count++;
	} else if (others[at].rank >= other.rank) {
		return count;
	}
	for (; at && others[at - 1].rank < other.rank; at--)
		others[at] = others[at - 1];
	others[at] = other;
	return count;
}

void verdict_add(struct verdicts *verdicts, const struct verdict *verdict, const struct verdict_other *others,
		 uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		struct verdict v = *verdict;

		v.other = others[i].access;
		v.other_second = others[i].second;
		v.thread = others[i].thread;
		v.other_thread = others[i].by;
		vec_push(&verdicts->at, v);
	}
}

void verdict_all(struct lint *lint, struct verdicts *verdicts)
{
	lint_part(lint, EFFORT_STALE);
	stale_judge(lint, verdicts);
	lint_part(lint, EFFORT_RACE);
	race_judge(lint, verdicts);
	lint_part(lint, EFFORT_METHOD);
	method_judge(lint, verdicts);
	lint_part(lint, EFFORT_EXTRA);
	extra_judge(lint, verdicts);
	lint_part(lint, EFFORT_PARTS);
}
