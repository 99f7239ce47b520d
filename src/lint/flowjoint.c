/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Values that are used together (MoTH's common correlation): at returns, branches, stores, and calls of code
 * that we do not see. */
#include "lint/flowwork.h"

#include <string.h>

#include "lint/view.h"

/* The paper's pair, if somebody writes both in one region and they are read in two. */
static bool is_joint(struct flow_work *w, const struct flow_source *a, const struct flow_source *b)
{
	const struct lint *lint = w->lint;
	uint32_t x = lint->accesses.at.at[a->access].variable, y = lint->accesses.at.at[b->access].variable;

	if (x == y || (!a->region && !b->region && flow_same_regions(lint, a->via, b->via)))
		return false;
	/* Only what somebody writes together is missed when it is read apart. */
	return view_together(w->lint, x, y, true);
}

/* False if there were too many. */
static bool add_pair(struct flow_work *w, uint32_t s, uint32_t t, uint32_t sink, bool data)
{
	const struct flow_source *a = &w->sources.at[s - w->params], *b = &w->sources.at[t - w->params];
	uint64_t key = ((uint64_t)s << 32 | t) * 0x9e3779b97f4a7c15ull ^ 1ull << 63;
	uint32_t known = map_get(&w->known, key);

	w->lint->effort->steps[EFFORT_FLOWS]++;
	if (known) {
		struct flow_joint *j = &w->flows->joints.at[known - 1];

		if (data && !j->data) {
			j->data = true;
			j->sink = sink;
		}
		return true;
	}
	if (!is_joint(w, a, b))
		return true;
	if (w->joints++ >= MOST_EDGES) {
		w->summaries[w->function].cut = true;
		return false;
	}
	vec_push(&w->flows->joints, (struct flow_joint){w->function, *a, *b, sink, data});
	map_set(&w->known, key, w->flows->joints.count);
	return true;
}

/* Were all pairs in it looked at, as closely? One sink after the other has much the same values. */
static bool is_known(const struct flow_work *w, const uint64_t *set, bool data)
{
	bool closely = true, loosely = !data;

	for (uint32_t i = 0; i < w->words; i++) {
		closely &= !(set[i] & w->may_joint[i] & ~w->joined[i]);
		loosely &= !(set[i] & w->may_joint[i] & ~w->joined[w->words + i]);
	}
	return closely || loosely;
}

static void add_joint(struct flow_work *w, const uint64_t *set, uint32_t sink, bool data)
{
	uint32_t members[MOST_SYMBOLS + 64], count = 0;

	if (is_known(w, set, data))
		return;
	memcpy(w->joined + (data ? 0 : w->words), set, w->words * sizeof(*set));
	for (uint32_t i = 0; i < w->words; i++)
		for (uint64_t bits = set[i] & w->may_joint[i]; bits; bits &= bits - 1)
			members[count++] = i * 64 + (uint32_t)__builtin_ctzll(bits);
	for (uint32_t s = 0, other = 0; s < count; s++) {
		uint32_t via = w->sources.at[members[s] - w->params].via;

		/* Both by one call: that function's own affair. They lie side by side. */
		if (other <= s)
			other = s + 1;
		while (other < count && w->sources.at[members[other] - w->params].via == via)
			other++;
		for (uint32_t t = other; t < count; t++)
			if (!add_pair(w, members[s], members[t], sink, data))
				return;
	}
}

static void joint_values(struct flow_work *w, uint32_t inst, const uint32_t *values, uint32_t count)
{
	uint64_t *both = w->temporary;

	memset(both, 0, w->words * PLANES * sizeof(*both));
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t *set = flowset_of(w, values[i]);

		if (set)
			flowset_join(both, set, w->words * PLANES);
	}
	add_joint(w, both, inst, true);
	flowset_join(both, both + CONTROL * w->words, w->words);
	add_joint(w, both, inst, false);
}

void flowjoint_at(struct flow_work *w, uint32_t i)
{
	const struct program *p = &w->lint->program;
	const struct program_inst *inst = &p->insts[i];
	const uint32_t *operands = program_operands(p, inst);
	uint32_t count;

	switch ((enum program_op)inst->op) {
	case PROGRAM_RETURN:
	case PROGRAM_BRANCH:
	case PROGRAM_SWITCH:
		joint_values(w, i, operands, inst->operand_count);
		break;
	case PROGRAM_STORE:
		joint_values(w, i, operands, 1);
		break;
	case PROGRAM_CALL:
		callgraph_at(&w->lint->calls, i, &count);
		if (!count && !pointsto_known(&w->lint->pt, inst))
			joint_values(w, i, operands, program_argument_count(inst));
		break;
	default:
		break;
	}
}
