/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Where stored data was copied from. Optimisation turns a loop that copies into
 * one memcpy at the place of its store, and a copy of a copy into one from the
 * first source. So data is traced to where it was copied from (`fed`), and a
 * place that stores what may come straight from exposed memory is not private.
 */
#include "lint/escape.h"

#include <string.h>

/* Ways that a stored value is traced back; beyond, it may come from anywhere. */
enum { MOST_STEPS = 64 };

struct sources {
	struct escape *e;
	struct vec_u32 seen;   /* values */
	bool narrow;           /* loads of less than a pointer only */
	struct vec_u32 *nodes; /* loaded from */
	bool anywhere;
};

static bool is_handed_in(const struct program *p, uint32_t value)
{
	uint32_t maker = program_maker(p, value);

	return p->values[value].kind == VALUE_PARAMETER || (maker && p->insts[maker].op == PROGRAM_CALL);
}

static void find_sources(struct sources *s, uint32_t value);

/* Inlining may bring the caller's load before the store, or the callee's. */
static void find_arguments(struct sources *s, const struct program_value *parameter)
{
	const struct program *p = s->e->p;
	const struct callgraph *calls = &s->e->lint->calls;
	uint32_t f = parameter->function;

	if (p->functions[f].flags & FUNCTION_ADDRESS_TAKEN ||
	    (s->e->lint->threads.is_library && p->functions[f].flags & FUNCTION_EXTERNAL))
		s->anywhere = true;
	for (uint32_t i = calls->callers_first[f]; i < calls->callers_first[f + 1] && !s->anywhere; i++) {
		const struct program_inst *call = &p->insts[calls->edges[calls->callers[i]].inst];

		if (call->callee != f || parameter->index >= program_argument_count(call))
			s->anywhere = true;
		else
			find_sources(s, program_operand(p, call, parameter->index));
	}
}

static void find_results(struct sources *s, uint32_t function)
{
	const struct program *p = s->e->p;
	const struct program_function *f = &p->functions[function];

	for (uint32_t b = f->block; b < f->block + f->block_count; b++) {
		const struct program_inst *end = &p->insts[p->blocks[b].inst + p->blocks[b].inst_count - 1];

		if (end->op == PROGRAM_RETURN && end->operand_count)
			find_sources(s, program_operand(p, end, 0));
	}
}

/* Constants that are handed in may make arithmetic void. */
static void find_sources(struct sources *s, uint32_t value)
{
	const struct program *p = s->e->p;
	uint32_t maker = program_maker(p, value), count;
	const struct program_inst *inst = &p->insts[maker];
	bool follow = true;

	if (s->anywhere || p->values[value].kind == VALUE_NUMBER || !vec_add(&s->seen, value))
		return;
	if (s->seen.count > MOST_STEPS) {
		s->anywhere = true;
		return;
	}
	if (p->values[value].kind == VALUE_PARAMETER)
		find_arguments(s, &p->values[value]);
	if (!maker)
		return;
	count = inst->operand_count;
	switch ((enum program_op)inst->op) {
	case PROGRAM_LOAD:
		if (!s->narrow || inst->size < 8)
			vec_push(s->nodes, escape_node(s->e, program_operand(p, inst, 0)));
		return;
	case PROGRAM_CALL:
		if (!inst->callee)
			s->anywhere = true;
		else if (p->functions[inst->callee].flags & FUNCTION_DEFINED)
			find_results(s, inst->callee);
		return;
	case PROGRAM_PHI:
		count /= 2;
		break;
	case PROGRAM_COPY:
		break;
	case PROGRAM_COMPUTE:
		follow = count == 3;
		for (uint32_t i = 0; i < count; i++)
			follow |= is_handed_in(p, program_operand(p, inst, i));
		break;
	default:
		return;
	}
	for (uint32_t i = 0; follow && i < count; i++)
		find_sources(s, program_operand(p, inst, i));
}

/* Node 0 is memory of which nothing is known. */
bool escape_is_fed(struct escape *e, uint32_t value)
{
	struct vec_u32 nodes = {0};
	struct sources s = {.e = e, .nodes = &nodes};
	bool found;

	find_sources(&s, value);
	found = s.anywhere;
	for (uint32_t i = 0; i < nodes.count && !found; i++)
		found = !nodes.at[i] || e->fed[nodes.at[i]];
	vec_free(&nodes);
	vec_free(&s.seen);
	return found;
}

void escape_expose_pieces(struct escape *e, uint32_t value, uint32_t to)
{
	struct vec_u32 nodes = {0};
	struct sources s = {.e = e, .narrow = true, .nodes = &nodes};

	find_sources(&s, value);
	if (s.anywhere)
		escape_expose_contents(e, to);
	for (uint32_t i = 0; i < nodes.count; i++)
		if (escape_has_contents(e, nodes.at[i]) || (escape_has_contents(e, to) && !nodes.at[i])) {
			escape_expose_contents(e, nodes.at[i]);
			escape_expose_contents(e, to);
		}
	vec_free(&nodes);
	vec_free(&s.seen);
}

static void feed(struct escape *e, uint32_t to, bool fed)
{
	if (to && fed && !e->fed[to]) {
		e->fed[to] = true;
		e->changes++;
	}
}

void escape_find_fed(struct escape *e)
{
	const struct program *p = e->p;
	uint64_t before;

	memcpy(e->fed, e->exposed, e->nodes * sizeof(*e->fed));
	do {
		before = e->changes;
		for (uint32_t i = 1; i < p->insts_count; i++) {
			const struct program_inst *inst = &p->insts[i];
			uint32_t first = escape_node(e, program_operand(p, inst, 0));
			uint32_t second = escape_node(e, program_operand(p, inst, 1));
			const struct known *known = pointsto_known(&e->lint->pt, inst);

			if (inst->op == PROGRAM_STORE && second && !e->fed[second])
				feed(e, second, escape_is_fed(e, program_operand(p, inst, 0)));
			else if (inst->op == PROGRAM_MOVE ||
				 (known && (known->kind == KNOWN_MOVE || known->kind == KNOWN_SAME)))
				feed(e, first, !second || e->fed[second]);
		}
	} while (e->changes != before);
}
