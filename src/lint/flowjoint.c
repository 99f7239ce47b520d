/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Values that are used together (MoTH's common correlation): at returns, branches, stores, and calls of code
 * that we do not see. */
#include "lint/flowwork.h"

#include <string.h>

#include "lint/view.h"

static void add_joint(struct flow_work *w, const uint64_t *set, uint32_t sink, bool data)
{
	const struct lint *lint = w->lint;

	for (uint32_t s = w->params; s < flowset_symbols(w); s++) {
		if (!flowset_has(set, s))
			continue;
		for (uint32_t t = s + 1; t < flowset_symbols(w); t++) {
			const struct flow_source *a = &w->sources.at[s - w->params];
			const struct flow_source *b = &w->sources.at[t - w->params];

			if (!flowset_has(set, t) || lint->accesses.at.at[a->access].variable ==
							    lint->accesses.at.at[b->access].variable)
				continue;
			/* Both by one call: that function's own affair. */
			if (a->via == b->via ||
			    (!a->region && !b->region && flow_same_regions(lint, a->via, b->via)))
				continue;
			/* Only what somebody writes together is missed when it is read apart. */
			if (!view_together(w->lint, lint->accesses.at.at[a->access].variable,
					   lint->accesses.at.at[b->access].variable, true))
				continue;
			uint64_t key = ((uint64_t)s << 32 | t) * 0x9e3779b97f4a7c15ull ^ 1ull << 63;
			uint32_t known = map_get(&w->known, key);

			if (known) {
				struct flow_joint *j = &w->flows->joints.at[known - 1];

				if (data && !j->data) {
					j->data = true;
					j->sink = sink;
				}
				continue;
			}
			if (w->joints++ >= MOST_EDGES) {
				w->flows->dropped++;
				return;
			}
			vec_push(&w->flows->joints, (struct flow_joint){w->function, *a, *b, sink, data});
			map_set(&w->known, key, w->flows->joints.count);
		}
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
