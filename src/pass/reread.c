/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Not all that stands between the two need be known: a second load is told of as
 * such if the filter knows it, and that it is told of is no mistake anywhere. So
 * this only has to find pairs that are worth it. Others may come in between if
 * time passes, in a call, or if the first decided that there is a second: test and use.
 * Without either the two are instructions side by side that the optimiser could not join.
 *
 * No pair has its second load in a loop that the first is not in, lest one that
 * was recorded once be followed by thousands: ways are followed back to blocks that
 * all ways lead through, and never to a loop's header from inside.
 */
#include "pass/reread.h"

#include "pass/emit.h"
#include "pass/pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FAR = 128,  /* instructions between the two, on the way that is followed back */
	STEPS = 6,  /* of computing an address */
	CHAIN = 16, /* blocks from where ways part to where they meet */
	DEPTH = 2,  /* of such partings inside each other */
};

struct pair {
	LLVMValueRef first, second, recorded;
};

struct reread {
	struct pair *pairs; /* by second, as the function has them */
	size_t count, room;
	struct pair **by_first; /* sorted */
	struct pair **by_second;
};

/* ---- ways back ---- */

static LLVMBasicBlockRef block_above(LLVMBasicBlockRef block, unsigned depth);

/* Is it among the blocks above this one, on this side of where ways meet? */
static bool is_above(LLVMBasicBlockRef sought, LLVMBasicBlockRef block, LLVMBasicBlockRef meet,
		     unsigned depth)
{
	for (unsigned i = 0; block && block != meet && i < CHAIN; i++) {
		if (block == sought)
			return true;
		block = block_above(block, depth);
	}
	return false;
}

/* The next block that all ways to this one lead through, and none of them twice; NULL: not known. */
static LLVMBasicBlockRef block_above(LLVMBasicBlockRef block, unsigned depth)
{
	LLVMBasicBlockRef from[4], above;
	unsigned ways = 0;

	for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);

		if (!LLVMIsAInstruction(user) || !LLVMIsATerminatorInst(user) ||
		    ways == sizeof from / sizeof *from)
			return NULL;
		from[ways++] = LLVMGetInstructionParent(user);
	}
	if (ways == 1 && from[0] != block)
		return from[0];
	if (!ways || !depth)
		return NULL;
	above = from[0];
	for (unsigned steps = 0; above && above != block && steps < CHAIN; steps++) {
		unsigned way = 1;

		while (way < ways && is_above(above, from[way], block, depth - 1))
			way++;
		if (way == ways)
			return above;
		above = block_above(above, depth - 1);
	}
	return NULL;
}

/* ---- pairs ---- */

static bool is_plain_load(LLVMValueRef i)
{
	return LLVMIsALoadInst(i) && !LLVMIsAtomic(i);
}

static bool passes_time(LLVMValueRef i)
{
	return util_is_call(i) && !(util_callee(i) && LLVMGetIntrinsicID(util_callee(i)));
}

/* Behind it nothing is known to the filter: a call or an iteration begins or ends, or a lock is taken or
 * given back. */
static bool ends_segment(LLVMValueRef i)
{
	LLVMValueRef callee = util_is_call(i) ? util_callee(i) : NULL;
	size_t length;
	const char *name = callee ? LLVMGetValueName2(callee, &length) : "";

	return !strncmp(name, "__atomsan_", 10) || acquires_or_gives_back(name);
}

static const struct pair *pair_of_second(const struct reread *plan, LLVMValueRef load)
{
	/* Not sorted yet; what is looked for is near. */
	for (size_t i = plan->count; i && i + FAR > plan->count; i--)
		if (plan->pairs[i - 1].second == load)
			return &plan->pairs[i - 1];
	return NULL;
}

/* The first load of what this one loads, or NULL. */
static LLVMValueRef first_of(const struct reread *plan, LLVMValueRef load)
{
	LLVMBasicBlockRef block = LLVMGetInstructionParent(load);
	LLVMValueRef first = NULL, pointer = LLVMGetOperand(load, 0), i = LLVMGetPreviousInstruction(load);
	bool apart = false, time = false;

	for (unsigned steps = 0; steps < FAR; steps++) {
		while (!i && (block = block_above(block, DEPTH)))
			i = LLVMGetLastInstruction(block);
		if (!i)
			break;
		if (ends_segment(i) ||
		    (LLVMIsAStoreInst(i) && util_alike(LLVMGetOperand(i, 1), pointer, STEPS)))
			break;
		time |= passes_time(i);
		if (is_plain_load(i) && LLVMTypeOf(i) == LLVMTypeOf(load) &&
		    util_alike(LLVMGetOperand(i, 0), pointer, STEPS)) {
			/* One that comes again is enough. */
			if (pair_of_second(plan, i))
				return NULL;
			first = i;
			apart = time || (block != LLVMGetInstructionParent(load) && util_guards(i, STEPS));
		}
		i = LLVMGetPreviousInstruction(i);
	}
	return apart ? first : NULL;
}

static int by_first(const void *a, const void *b)
{
	const struct pair *const *one = a, *const *other = b;

	return ((*one)->first > (*other)->first) - ((*one)->first < (*other)->first);
}

static int by_second(const void *a, const void *b)
{
	const struct pair *const *one = a, *const *other = b;

	return ((*one)->second > (*other)->second) - ((*one)->second < (*other)->second);
}

struct reread *reread_plan(const LLVMValueRef *instructions, size_t count)
{
	struct reread *plan = calloc(1, sizeof *plan);

	for (size_t i = 0; i < count; i++) {
		LLVMValueRef first = is_plain_load(instructions[i]) ? first_of(plan, instructions[i]) : NULL;

		if (!first)
			continue;
		if (plan->count == plan->room) {
			plan->room = plan->room ? plan->room * 2 : 16;
			plan->pairs = realloc(plan->pairs, plan->room * sizeof *plan->pairs);
		}
		plan->pairs[plan->count++] = (struct pair){.first = first, .second = instructions[i]};
	}
	plan->by_first = malloc((plan->count + 1) * sizeof(*plan->by_first));
	plan->by_second = malloc((plan->count + 1) * sizeof(*plan->by_second));
	for (size_t i = 0; i < plan->count; i++)
		plan->by_first[i] = plan->by_second[i] = &plan->pairs[i];
	qsort(plan->by_first, plan->count, sizeof(*plan->by_first), by_first);
	qsort(plan->by_second, plan->count, sizeof(*plan->by_second), by_second);
	return plan;
}

void reread_free(struct reread *plan)
{
	free(plan->pairs);
	free(plan->by_first);
	free(plan->by_second);
	free(plan);
}

/* Where the pairs of this first load begin, among those sorted by it. */
static size_t first_at(const struct reread *plan, LLVMValueRef load)
{
	size_t low = 0, high = plan->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (plan->by_first[middle]->first < load)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Is there one that loads again what this one does? */
static bool is_first(const struct reread *plan, LLVMValueRef load)
{
	size_t at = first_at(plan, load);

	return at < plan->count && plan->by_first[at]->first == load;
}

/* What tells at run time whether the first of the two was recorded; NULL: this is not the second. */
static LLVMValueRef recorded_before(const struct reread *plan, LLVMValueRef load)
{
	struct pair like = {.second = load}, *sought = &like,
		    **found = bsearch(&sought, plan->by_second, plan->count, sizeof(*plan->by_second),
				      by_second);

	return found ? (*found)->recorded : NULL;
}

bool reread_emit(struct reread *plan, LLVMValueRef load, LLVMValueRef *arguments, uint64_t size)
{
	LLVMValueRef recorded = recorded_before(plan, load);
	char name[40];

	if (recorded) {
		arguments[2] = recorded;
		snprintf(name, sizeof name, "__atomsan_inl_again%u", (unsigned)size);
		emit_call(name, arguments, 3);
		return true;
	}
	if (!is_first(plan, load))
		return false;
	snprintf(name, sizeof name, "__atomsan_inl_first%u", (unsigned)size);
	recorded = emit_call(name, arguments, 2);
	for (size_t at = first_at(plan, load); at < plan->count && plan->by_first[at]->first == load; at++)
		plan->by_first[at]->recorded = recorded;
	return true;
}
