/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where values go: along operands, through memory of our own, by what decides
 * whether a block runs, through calls by the summaries of who is called. Blocks
 * are gone through in order until nothing changes.
 */
#include "lint/flowwork.h"

#include <string.h>

/* What lies at a place in memory of our own. */
static void with_place(struct flow_work *w, uint64_t to, uint32_t pointer)
{
	int64_t at;
	uint32_t base = flowset_base(&w->lint->program, pointer, &at);

	if (flowset_is_private(w, pointer)) {
		flowset_add(w, to, flowset_peek(w, flowset_memory(base, at)), DATA);
		flowset_add(w, to, flowset_peek(w, flowset_memory(base, SOMEWHERE)), DATA);
	}
}

/* A pointer into memory of our own carries what lies there. */
static void with_content(struct flow_work *w, uint64_t to, uint32_t pointer)
{
	int64_t at;

	if (flowset_is_private(w, pointer))
		flowset_add(
			w, to,
			flowset_peek(w, flowset_memory(flowset_base(&w->lint->program, pointer, &at), ALL)),
			DATA);
}

/* The object at `base` holds, at a place, what the slot with this key depends on. */
static void keep(struct flow_work *w, uint32_t base, int64_t at, uint64_t key)
{
	flowset_add(w, flowset_memory(base, at), flowset_peek(w, key), DATA);
	flowset_add(w, flowset_memory(base, ALL), flowset_peek(w, key), DATA);
}

static void keep_symbol(struct flow_work *w, uint32_t base, int64_t at, uint32_t symbol, int plane)
{
	flowset_add_symbol(w, flowset_memory(base, at), symbol, plane);
	flowset_add_symbol(w, flowset_memory(base, ALL), symbol, plane);
}

/* What comes behind a block happens because of the value. */
static void hold_behind(struct flow_work *w, uint32_t block, uint32_t symbol)
{
	uint64_t bit = 1ull << (symbol % 64);

	for (uint32_t n = w->cfg->number[block]; n < w->cfg->order_count; n++) {
		uint64_t *control = w->control + ((size_t)w->cfg->order[n] * PLANES + CONTROL) * w->words;

		if (control[symbol / 64] & bit || !cfg_dominates(w->cfg, block, w->cfg->order[n]))
			continue;
		control[symbol / 64] |= bit;
		w->changed = true;
	}
}

static void spread_call(struct flow_work *w, uint32_t i, uint32_t block)
{
	const struct program *p = &w->lint->program;
	const struct program_inst *inst = &p->insts[i];
	uint32_t count, symbol = map_get(&w->from_inst, i);
	const struct call_edge *edges = callgraph_at(&w->lint->calls, i, &count);
	const struct known *known = pointsto_known(&w->lint->pt, inst);
	uint32_t arguments = program_argument_count(inst);

	/* No number: there were too many. */
	bool numbered = symbol != 0;

	symbol -= numbered;
	for (uint32_t e = 0; e < count; e++) {
		const struct flow_summary *s = &w->summaries[edges[e].callee];

		for (uint32_t n = 0; numbered && n < s->results.count; n++, symbol++) {
			const struct flow_carried *c = &s->results.at[n];

			if (symbol >= flowset_symbols(w) || w->sources.at[symbol - w->params].via != i)
				break;
			if (c->out == WAITED_FOR) {
				hold_behind(w, block, symbol);
			} else if (c->out < 0) {
				if (inst->value)
					flowset_add_symbol(w, inst->value, symbol, c->plane);
			} else if (c->out < (int)arguments) {
				int64_t at;
				uint32_t pointer = program_operand(p, inst, (uint32_t)c->out);
				uint32_t base = flowset_base(p, pointer, &at);

				if (flowset_is_private(w, pointer))
					keep_symbol(w, base, c->at == SOMEWHERE ? SOMEWHERE : at + c->at,
						    symbol, c->plane);
			}
		}
		for (uint32_t n = 0; n < arguments && n < 64 && inst->value; n++) {
			uint32_t v = program_operand(p, inst, n);

			if (s->to_result_data >> n & 1)
				flowset_add(w, inst->value, flowset_of(w, v), DATA);
			else if (s->to_result_control >> n & 1)
				flowset_add(w, inst->value, flowset_of(w, v), CONTROL);
		}
	}
	if (count ||
	    (known && known->kind != KNOWN_SAME && known->kind != KNOWN_MOVE && known->kind != KNOWN_FILL))
		return;
	/* Code that we do not see: its result, and what it may write to, depend on all it gets. */
	for (uint32_t n = 0; n < arguments; n++) {
		uint32_t v = program_operand(p, inst, n);

		if (inst->value) {
			flowset_add(w, inst->value, flowset_of(w, v), DATA);
			with_content(w, inst->value, v);
		}
		for (uint32_t m = 0; m < arguments; m++) {
			uint32_t to = program_operand(p, inst, m);
			int64_t at;

			if (m != n && p->values[to].kind == VALUE_RESULT && flowset_is_private(w, to)) {
				uint32_t base = flowset_base(p, to, &at);

				keep(w, base, SOMEWHERE, v);
			}
		}
	}
}

static void control_of(struct flow_work *w, uint32_t block, uint64_t to)
{
	flowset_add(w, to, w->control + (size_t)block * w->words * PLANES, CONTROL);
}

static void spread_phi(struct flow_work *w, const struct program_inst *inst, uint32_t block)
{
	const struct program *p = &w->lint->program;
	uint32_t count = inst->operand_count / 2;

	for (uint32_t n = 0; n < count; n++) {
		uint32_t from = program_operand(p, inst, count + n) - w->block;

		flowset_add(w, inst->value, flowset_of(w, program_operand(p, inst, n)), DATA);
		if (from >= w->cfg->count || w->cfg->number[from] == CFG_NONE)
			continue;
		/* Which value it is depends on what decided the way here. */
		for (uint32_t c = w->cfg->control_first[from]; c < w->cfg->control_first[from + 1]; c++) {
			uint32_t by = w->cfg->controls[c].block;
			bool both = false;

			for (uint32_t d = w->cfg->control_first[block]; d < w->cfg->control_first[block + 1];
			     d++)
				both |= w->cfg->controls[d].block == by &&
					w->cfg->controls[d].edge == w->cfg->controls[c].edge;
			const struct program_block *pb = &p->blocks[w->block + by];
			const struct program_inst *end = &p->insts[pb->inst + pb->inst_count - 1];

			if (!both && end->operand_count)
				flowset_add(w, inst->value, flowset_of(w, program_operand(p, end, 0)),
					    CONTROL);
		}
		const struct program_block *pb = &p->blocks[w->block + from];
		const struct program_inst *end = &p->insts[pb->inst + pb->inst_count - 1];

		if ((end->op == PROGRAM_BRANCH || end->op == PROGRAM_SWITCH) &&
		    w->cfg->edge_first[from + 1] - w->cfg->edge_first[from] > 1)
			flowset_add(w, inst->value, flowset_of(w, program_operand(p, end, 0)), CONTROL);
	}
}

static void spread_inst(struct flow_work *w, uint32_t i, uint32_t block)
{
	const struct program *p = &w->lint->program;
	const struct program_inst *inst = &p->insts[i];
	uint32_t symbol = map_get(&w->from_inst, i), base;
	int64_t at;

	w->lint->effort->steps[EFFORT_FLOWS]++;
	switch ((enum program_op)inst->op) {
	case PROGRAM_LOAD:
	case PROGRAM_UPDATE:
		for (;
		     symbol && symbol <= flowset_symbols(w) && w->sources.at[symbol - 1 - w->params].via == i;
		     symbol++)
			flowset_add_symbol(w, inst->value, symbol - 1, DATA);
		flowset_add(w, inst->value, flowset_of(w, program_operand(p, inst, 0)), DATA);
		base = inst->op == PROGRAM_LOAD ? flowset_stored(p, i) : 0;
		if (base)
			flowset_add(w, inst->value, flowset_of(w, base), DATA);
		else
			with_place(w, inst->value, program_operand(p, inst, 0));
		break;
	case PROGRAM_STORE:
		if (!flowset_is_private(w, program_operand(p, inst, 1)))
			break;
		base = flowset_base(p, program_operand(p, inst, 1), &at);
		keep(w, base, at, program_operand(p, inst, 0));
		control_of(w, block, flowset_memory(base, at));
		control_of(w, block, flowset_memory(base, ALL));
		break;
	case PROGRAM_MOVE:
		if (!flowset_is_private(w, program_operand(p, inst, 0)))
			break;
		base = flowset_base(p, program_operand(p, inst, 0), &at);
		for (;
		     symbol && symbol <= flowset_symbols(w) && w->sources.at[symbol - 1 - w->params].via == i;
		     symbol++)
			keep_symbol(w, base, SOMEWHERE, symbol - 1, DATA);
		keep(w, base, SOMEWHERE, program_operand(p, inst, 2));
		with_content(w, flowset_memory(base, SOMEWHERE), program_operand(p, inst, 1));
		with_content(w, flowset_memory(base, ALL), program_operand(p, inst, 1));
		break;
	case PROGRAM_PHI:
		spread_phi(w, inst, block);
		break;
	case PROGRAM_COPY:
	case PROGRAM_COMPUTE:
	case PROGRAM_COMPARE:
	case PROGRAM_OFFSET:
		for (uint32_t n = 0; n < inst->operand_count && inst->value; n++)
			flowset_add(w, inst->value, flowset_of(w, program_operand(p, inst, n)), DATA);
		break;
	case PROGRAM_CALL:
		spread_call(w, i, block);
		break;
	default:
		break;
	}
}

/* The loop around both of which the condition is asked again and again, or CFG_NONE: one that it may leave,
 * or through which it decides about the next iteration. */
static uint32_t asked_in(const struct flow_work *w, uint32_t by, uint32_t block)
{
	uint32_t loop = w->cfg->loop[by];

	while (loop != CFG_NONE && !cfg_inside(w->cfg, block, loop))
		loop = w->cfg->loops[loop].parent;
	if (loop == CFG_NONE || w->cfg->number[by] >= w->cfg->number[block])
		return loop;
	for (uint32_t e = w->cfg->edge_first[by]; e < w->cfg->edge_first[by + 1]; e++)
		if (!cfg_inside(w->cfg, w->cfg->edges[e], loop))
			return loop;
	return CFG_NONE;
}

/* Does the block do nothing but end the program, because something is wrong? */
static bool gives_up(const struct flow_work *w, uint32_t block)
{
	static const char *const names[] = {"abort", "__assert_fail", "_ZSt9terminatev"};
	const struct program *p = &w->lint->program;
	const struct program_block *b = &p->blocks[w->block + block];

	if (p->insts[b->inst + b->inst_count - 1].op != PROGRAM_END)
		return false;
	for (uint32_t i = b->inst; i < b->inst + b->inst_count; i++)
		for (size_t n = 0; p->insts[i].op == PROGRAM_CALL && n < sizeof(names) / sizeof(*names); n++)
			if (!strcmp(program_text(p, p->functions[p->insts[i].callee].linkage), names[n]))
				return true;
	return false;
}

/* Who goes round once more because nothing was wrong does not go by what it looked at. */
static bool is_alarm(const struct flow_work *w, uint32_t by)
{
	for (uint32_t e = w->cfg->edge_first[by]; e < w->cfg->edge_first[by + 1]; e++)
		if (gives_up(w, w->cfg->edges[e]))
			return true;
	return false;
}

/* Of a loop's condition, what is read anew each time is one thing, a bound that was read before is another.
 */
bool flowspread_condition(struct flow_work *w, uint32_t block, uint32_t by, uint64_t *into)
{
	const struct program *p = &w->lint->program;
	uint32_t loop = asked_in(w, by, block);
	const struct program_block *pb = &p->blocks[w->block + by];
	const struct program_inst *end = &p->insts[pb->inst + pb->inst_count - 1];
	const uint64_t *set = end->operand_count ? flowset_of(w, program_operand(p, end, 0)) : NULL;
	const uint64_t *outer = by != block ? w->control + (size_t)by * w->words * PLANES : NULL;
	bool alarm = loop != CFG_NONE && w->cfg->number[by] >= w->cfg->number[block] && is_alarm(w, by);
	uint64_t news = 0;

	for (int plane = 0; plane < PLANES; plane++)
		for (uint32_t i = 0; i < w->words; i++) {
			uint64_t anew = loop == CFG_NONE ? 0 : w->in_loop[loop * w->words + i];
			uint64_t bits = (set ? set[plane * w->words + i] & ~(alarm ? anew : 0) : 0) |
					(outer ? outer[plane * w->words + i] : 0);
			uint64_t now = plane == CARRIED ? 0 : bits & ~anew;
			uint64_t *to = into + CONTROL * w->words + i;

			news |= now & ~*to;
			*to |= now;
			to = into + CARRIED * w->words + i;
			news |= bits & ~now & ~*to;
			*to |= bits & ~now;
		}
	return news != 0;
}

/* What decides whether a block runs: conditions, and what decides whether they are asked. */
static void spread_control(struct flow_work *w, uint32_t block)
{
	uint64_t *into = w->control + (size_t)block * w->words * PLANES;

	for (uint32_t c = w->cfg->control_first[block]; c < w->cfg->control_first[block + 1]; c++)
		w->changed |= flowspread_condition(w, block, w->cfg->controls[c].block, into);
}

/* Which values are read inside which loops. */
static void find_loops(struct flow_work *w)
{
	w->in_loop = mem_zalloc((size_t)w->cfg->loop_count * w->words + 1, sizeof(*w->in_loop));
	for (uint32_t s = w->params; s < flowset_symbols(w); s++) {
		uint32_t loop = w->cfg->loop[lint_block(w->lint, w->sources.at[s - w->params].via)];

		for (; loop != CFG_NONE; loop = w->cfg->loops[loop].parent)
			w->in_loop[loop * w->words + s / 64] |= 1ull << (s % 64);
	}
}

/* Values that a loop around a wait looks at: who gets out of it goes on because of them. */
static void find_waits(struct flow_work *w)
{
	const struct program *p = &w->lint->program;
	bool *waits = mem_zalloc(w->cfg->loop_count + 1, 1), any = false;

	for (uint32_t n = 0; n < w->cfg->order_count; n++) {
		uint32_t b = w->cfg->order[n], loop = w->cfg->loop[b];
		const struct program_block *block = &p->blocks[w->block + b];

		for (uint32_t i = block->inst; loop != CFG_NONE && i < block->inst + block->inst_count; i++) {
			const struct known *known = pointsto_known(&w->lint->pt, &p->insts[i]);

			if (known && (known->kind == KNOWN_WAIT || known->kind == KNOWN_WAIT_CXX))
				any = waits[loop] = true;
		}
	}
	for (uint32_t n = 0; any && n < w->cfg->order_count; n++) {
		uint32_t b = w->cfg->order[n], loop = w->cfg->loop[b];
		const struct program_block *block = &p->blocks[w->block + b];
		uint32_t end = block->inst + block->inst_count - 1;
		const uint64_t *set;

		if (loop == CFG_NONE || !waits[loop] || p->insts[end].op != PROGRAM_BRANCH ||
		    !(set = flowset_of(w, program_operand(p, &p->insts[end], 0))))
			continue;
		for (uint32_t e = w->cfg->edge_first[b]; e < w->cfg->edge_first[b + 1]; e++) {
			if (cfg_inside(w->cfg, w->cfg->edges[e], loop))
				continue;
			for (uint32_t s = w->params; s < flowset_symbols(w); s++)
				if (flowset_has_any(w, set, s)) {
					hold_behind(w, w->cfg->edges[e], s);
					w->waited[s / 64] |= 1ull << (s % 64);
				}
		}
	}
	free(waits);
}

void flowspread_all(struct flow_work *w)
{
	const struct program *p = &w->lint->program;

	find_loops(w);
	for (uint32_t n = 0; n < w->params; n++)
		flowset_add_symbol(w, p->functions[w->function].parameter + n, n, DATA);
	w->changed = true;
	for (int round = 0; w->changed && round < MOST_ROUNDS; round++) {
		w->changed = false;
		for (uint32_t n = 0; n < w->cfg->order_count; n++) {
			uint32_t b = w->cfg->order[n];
			const struct program_block *block = &p->blocks[w->block + b];

			spread_control(w, b);
			for (uint32_t i = 0; i < block->inst_count; i++)
				spread_inst(w, block->inst + i, b);
		}
		find_waits(w);
	}
}
