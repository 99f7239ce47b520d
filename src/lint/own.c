/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/own.h"

#include <string.h>

#include "base/map.h"
#include "lint/pair.h"

/* Names that one object goes by in a function; beyond, it is nobody's own. */
enum { MOST_NAMES = 48 };

/* What is known of the objects behind a base value. */
struct known_base {
	struct vec_u32 out; /* instructions that let them out */
	bool is_own;        /* before that */
};

struct own {
	struct lint *lint;
	uint32_t
		*taken; /* by instruction that loads the first of a list: the store that takes it out, or 0 */
	bool *returns;  /* by function: what it returns is its caller's own */
	uint64_t *out;  /* by function: parameters whose objects it lets out, or gives back */
	uint64_t *into; /* by function: those of them that only get into objects of other parameters */
	uint64_t *given; /* by function: parameters whose objects are always its caller's own, and so its */
	uint32_t function;
	struct map known; /* base value of the function -> place in bases + 1 */
	VEC(struct known_base) bases;
};

/* ---- lists ---- */

static uint32_t without_copies(const struct program *p, uint32_t value)
{
	uint32_t maker = program_maker(p, value);

	for (int depth = 0;
	     maker && depth < 8 && p->insts[maker].op == PROGRAM_COPY && p->insts[maker].operand_count == 1;
	     depth++) {
		value = program_operand(p, &p->insts[maker], 0);
		maker = program_maker(p, value);
	}
	return value;
}

static bool same_place(const struct program *p, uint32_t a, uint32_t b)
{
	a = without_copies(p, a);
	b = without_copies(p, b);
	const struct program_inst *x = &p->insts[program_maker(p, a)], *y = &p->insts[program_maker(p, b)];

	if (a == b)
		return true;
	if (p->values[a].kind == VALUE_PLACE && p->values[b].kind == VALUE_PLACE)
		return p->values[a].index == p->values[b].index && p->values[a].number == p->values[b].number;
	return x->op == PROGRAM_OFFSET && y->op == PROGRAM_OFFSET && x->offset == y->offset &&
	       x->operand_count == 1 && y->operand_count == 1 &&
	       without_copies(p, program_operand(p, x, 0)) == without_copies(p, program_operand(p, y, 0));
}

/* first = list; list = first->next, without giving a lock back in between. */
static void find_taken(struct own *own)
{
	const struct program *p = &own->lint->program;

	for (uint32_t i = 1; i < p->insts_count; i++) {
		const struct program_inst *store = &p->insts[i], *rest, *first;
		uint32_t maker;

		if (store->op != PROGRAM_STORE || !(store->flags & PROGRAM_POINTER))
			continue;
		rest = &p->insts[program_maker(p, without_copies(p, program_operand(p, store, 0)))];
		if (rest->op != PROGRAM_LOAD)
			continue;
		maker = program_maker(p, pair_base(p, program_operand(p, rest, 0)));
		first = &p->insts[maker];
		if (maker && first->op == PROGRAM_LOAD &&
		    own->lint->regions.state[maker] == own->lint->regions.state[i] &&
		    same_place(p, program_operand(p, first, 0), program_operand(p, store, 1)))
			own->taken[maker] = i;
	}
}

/* ---- one object in one function ---- */

static bool is_source(const struct own *own, uint32_t inst)
{
	const struct program_inst *i = &own->lint->program.insts[inst];
	const struct known *known = pointsto_known(&own->lint->pt, i);

	return (known && (known->kind == KNOWN_ALLOCATE || known->kind == KNOWN_CREATE_TASK)) ||
	       i->op == PROGRAM_ALLOCA || own->taken[inst] ||
	       (i->op == PROGRAM_CALL && i->callee && own->returns[i->callee]);
}

static bool may_be(const struct program_inst *inst)
{
	return inst->op == PROGRAM_PHI || inst->op == PROGRAM_COPY;
}

static uint32_t choices(const struct program_inst *inst)
{
	return inst->op == PROGRAM_PHI ? inst->operand_count / 2 : inst->operand_count;
}

/* Is it sure that the first came before the second? */
static bool surely_before(const struct lint *lint, uint32_t first, uint32_t second)
{
	uint32_t x = lint_block(lint, first), y = lint_block(lint, second);

	if (x == y)
		return first < second;
	return cfg_dominates(&lint->cfgs[program_function_of(&lint->program, first)], x, y);
}

/* Is there a first at all, is asked before the store; if not, there is nothing to be taken, nor to be had. */
static bool is_asked_for(const struct lint *lint, uint32_t value, uint32_t store, uint32_t inst)
{
	const struct program *p = &lint->program;
	uint32_t f = program_function_of(p, store), block = lint_block(lint, store);
	const struct cfg *c = &lint->cfgs[f];
	uint32_t first = c->control_first[block], by;

	if (c->control_first[block + 1] != first + 1)
		return false;
	by = p->functions[f].block + c->controls[first].block;
	uint32_t end = p->blocks[by].inst + p->blocks[by].inst_count - 1;

	return p->insts[end].op == PROGRAM_BRANCH && surely_before(lint, end, inst) &&
	       c->number[lint_block(lint, inst)] > c->number[block] &&
	       region_success_edge(p, program_operand(p, &p->insts[end], 0), value, true) ==
		       (int)c->controls[first].edge;
}

/* The first of a list is one's own when it is taken out, not when it is looked at. */
static bool is_taken_before(const struct own *own, uint32_t value, uint32_t inst)
{
	uint32_t store = own->taken[program_maker(&own->lint->program, value)];

	return !store || surely_before(own->lint, store, inst) || is_asked_for(own->lint, value, store, inst);
}

static bool is_given(const struct own *own, uint32_t value)
{
	const struct program_value *v = &own->lint->program.values[value];

	return v->kind == VALUE_PARAMETER && v->index < 64 && own->given[v->function] >> v->index & 1;
}

/* All that the value may be, back to where it comes from; false if that is not always a source. */
static bool find_origins(const struct own *own, uint32_t base, struct vec_u32 *names)
{
	const struct program *p = &own->lint->program;
	bool any = false;

	vec_add(names, base);
	for (uint32_t n = 0; n < names->count; n++) {
		uint32_t value = names->at[n], maker = program_maker(p, value);
		const struct program_inst *inst = &p->insts[maker];

		if (names->count > MOST_NAMES)
			return false;
		if (p->values[value].kind == VALUE_NUMBER)
			continue;
		if (!maker && !is_given(own, value))
			return false;
		if (!maker || is_source(own, maker)) {
			any = true;
			continue;
		}
		if (!may_be(inst))
			return false;
		for (uint32_t i = 0; i < choices(inst); i++) {
			uint32_t choice = pair_base(p, program_operand(p, inst, i));
			const struct program_block *from =
				inst->op == PROGRAM_PHI
					? &p->blocks[program_operand(p, inst, choices(inst) + i)]
					: NULL;

			if (!is_taken_before(own, choice, from ? from->inst + from->inst_count - 1 : maker))
				return false;
			vec_add(names, choice);
		}
	}
	return any;
}

/* What else may be the same object. */
static bool find_names(const struct program *p, const struct program_function *f, struct vec_u32 *names)
{
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t b = f->block; b < f->block + f->block_count; b++)
			for (uint32_t i = p->blocks[b].inst; i < p->blocks[b].inst + p->blocks[b].inst_count;
			     i++) {
				const struct program_inst *inst = &p->insts[i];

				if (!may_be(inst) || !inst->value || vec_has(names, inst->value))
					continue;
				for (uint32_t n = 0; n < choices(inst); n++) {
					uint32_t base = pair_base(p, program_operand(p, inst, n));

					if (p->values[base].kind == VALUE_NUMBER || !vec_has(names, base))
						continue;
					vec_push(names, inst->value);
					changed = true;
					break;
				}
				if (names->count > MOST_NAMES)
					return false;
			}
	}
	return true;
}

static bool has_name(const struct program *p, const struct vec_u32 *names, uint32_t value)
{
	value = pair_base(p, value);
	return p->values[value].kind != VALUE_NUMBER && vec_has(names, value);
}

/* Is every argument the object, or no pointer at all? */
static bool is_alone(const struct own *own, const struct program_inst *call, const struct vec_u32 *names)
{
	const struct program *p = &own->lint->program;

	for (uint32_t i = 0; i < program_argument_count(call); i++) {
		uint32_t argument = program_operand(p, call, i);

		if (p->values[argument].kind != VALUE_NUMBER && !has_name(p, names, argument))
			return false;
	}
	return true;
}

/* Does one of those that may be called let its argument out? Code that we do not see does. */
static bool callee_lets_out(const struct own *own, const struct program_inst *call, uint32_t argument,
			    const struct vec_u32 *names)
{
	bool alone = is_alone(own, call, names);
	uint32_t count;
	const struct call_edge *edges =
		callgraph_at(&own->lint->calls, (uint32_t)(call - own->lint->program.insts), &count);

	if (argument >= 64)
		return true;
	if (call->callee)
		return own->out[call->callee] >> argument & 1 &&
		       !(alone && own->into[call->callee] >> argument & 1);
	for (uint32_t e = 0; e < count; e++)
		if (own->out[edges[e].callee] >> argument & 1 &&
		    !(alone && own->into[edges[e].callee] >> argument & 1))
			return true;
	return !count;
}

/* Does the instruction make an object with these names reachable for others? */
static bool lets_out(const struct own *own, const struct program_inst *inst, const struct vec_u32 *names)
{
	const struct program *p = &own->lint->program;
	const struct known *known = pointsto_known(&own->lint->pt, inst);

	switch ((enum program_op)inst->op) {
	case PROGRAM_STORE:
		/* Into itself it stays where it is. */
		return has_name(p, names, program_operand(p, inst, 0)) &&
		       !has_name(p, names, program_operand(p, inst, 1));
	case PROGRAM_UPDATE:
		for (uint32_t i = 1; i < inst->operand_count; i++)
			if (has_name(p, names, program_operand(p, inst, i)))
				return true;
		return false;
	case PROGRAM_CALL:
		if (known && known->kind != KNOWN_NONE && !known_makes_thread(known))
			return false;
		for (uint32_t i = 0; i < program_argument_count(inst); i++)
			if (has_name(p, names, program_operand(p, inst, i)) &&
			    callee_lets_out(own, inst, i, names))
				return true;
		return false;
	default:
		return false;
	}
}

static void find_out(const struct own *own, const struct program_function *f, const struct vec_u32 *names,
		     struct vec_u32 *out)
{
	const struct program *p = &own->lint->program;

	for (uint32_t b = f->block; b < f->block + f->block_count; b++)
		for (uint32_t i = p->blocks[b].inst; i < p->blocks[b].inst + p->blocks[b].inst_count; i++)
			if (lets_out(own, &p->insts[i], names))
				vec_push(out, i);
}

/* ---- functions ---- */

static const struct known_base *base_of(struct own *own, uint32_t function, uint32_t base)
{
	const struct program *p = &own->lint->program;
	struct known_base new = {.is_own = false};
	struct vec_u32 names = {0};
	uint32_t known;

	if (own->function != function) {
		map_clear(&own->known);
		for (uint32_t i = 0; i < own->bases.count; i++)
			vec_free(&own->bases.at[i].out);
		own->bases.count = 0;
		own->function = function;
	}
	known = map_get(&own->known, base);
	if (known)
		return &own->bases.at[known - 1];
	new.is_own = find_origins(own, base, &names) && find_names(p, &p->functions[function], &names);
	if (new.is_own)
		find_out(own, &p->functions[function], &names, &new.out);
	vec_free(&names);
	vec_push(&own->bases, new);
	map_set(&own->known, base, own->bases.count);
	return &own->bases.at[own->bases.count - 1];
}

static bool returns_own(struct own *own, uint32_t function)
{
	const struct program *p = &own->lint->program;
	const struct program_function *f = &p->functions[function];
	bool any = false;

	if (!(f->flags & FUNCTION_RETURNS_POINTER))
		return false;
	for (uint32_t b = f->block; b < f->block + f->block_count; b++) {
		const struct program_inst *end = &p->insts[p->blocks[b].inst + p->blocks[b].inst_count - 1];
		const struct known_base *known;
		uint32_t base, maker;

		if (end->op != PROGRAM_RETURN || !end->operand_count)
			continue;
		base = pair_base(p, program_operand(p, end, 0));
		maker = program_maker(p, base);
		if (p->values[base].kind == VALUE_NUMBER)
			continue;
		/* A place on the stack is gone. */
		if (maker && p->insts[maker].op == PROGRAM_ALLOCA)
			return false;
		known = base_of(own, function, base);
		if (!known->is_own || known->out.count ||
		    !is_taken_before(own, base, p->blocks[b].inst + p->blocks[b].inst_count - 1))
			return false;
		any = true;
	}
	return any;
}

/* Into an object of a parameter. */
static bool is_into_parameter(const struct program *p, uint32_t inst)
{
	return p->insts[inst].op == PROGRAM_STORE &&
	       p->values[pair_base(p, program_operand(p, &p->insts[inst], 1))].kind == VALUE_PARAMETER;
}

/* Parameters that are let out, or come back as the result by another name. */
static void find_parameters_out(struct own *own, uint32_t function)
{
	const struct program *p = &own->lint->program;
	const struct program_function *f = &p->functions[function];
	uint64_t found = 0, only_into = 0;

	for (uint32_t n = 0; n < f->parameter_count && n < 64; n++) {
		struct vec_u32 names = {0}, out = {0};
		bool given_back = false, into = true;

		vec_push(&names, f->parameter + n);
		if (find_names(p, f, &names))
			find_out(own, f, &names, &out);
		else
			given_back = true;
		for (uint32_t b = f->block; b < f->block + f->block_count && !given_back; b++) {
			const struct program_inst *end =
				&p->insts[p->blocks[b].inst + p->blocks[b].inst_count - 1];

			given_back = end->op == PROGRAM_RETURN && end->operand_count &&
				     has_name(p, &names, program_operand(p, end, 0));
		}
		for (uint32_t i = 0; i < out.count; i++)
			into &= is_into_parameter(p, out.at[i]);
		if (given_back || out.count)
			found |= 1ull << n;
		if (!given_back && into)
			only_into |= 1ull << n;
		vec_free(&names);
		vec_free(&out);
	}
	own->out[function] = found;
	own->into[function] = only_into;
}

static bool before(const struct lint *lint, uint32_t a, uint32_t b)
{
	const struct program *p = &lint->program;
	const struct cfg *c = &lint->cfgs[program_function_of(p, a)];
	uint32_t x = lint_block(lint, a), y = lint_block(lint, b);

	if (x == y)
		return a < b || c->on_cycle[x];
	if (c->number[x] == CFG_NONE || c->number[y] == CFG_NONE)
		return false;
	return c->number[x] < c->number[y] || (c->on_cycle[x] && c->on_cycle[y]);
}

bool own_at(struct own *own, uint32_t inst, uint32_t pointer)
{
	const struct program *p = &own->lint->program;
	uint32_t f = program_function_of(p, inst), base = pair_base(p, pointer);
	const struct known_base *known;

	if (p->functions[f].flags & FUNCTION_CONSTRUCTOR && p->functions[f].parameter_count &&
	    base == p->functions[f].parameter)
		return true;
	if ((!program_maker(p, base) && !is_given(own, base)) || !is_taken_before(own, base, inst))
		return false;
	known = base_of(own, f, base);
	for (uint32_t i = 0; known->is_own && i < known->out.count; i++)
		if (before(own->lint, known->out.at[i], inst))
			return false;
	return known->is_own;
}

/* Callers first. What is handed on as long as it is one's own is the callee's own for the time of the call.
 */
static void find_given(struct own *own)
{
	const struct lint *lint = own->lint;
	const struct program *p = &lint->program;
	const struct callgraph *calls = &lint->calls;

	for (uint32_t f = 1; f < p->functions_count; f++)
		if (p->functions[f].flags & FUNCTION_DEFINED && !calls->recursive[f] &&
		    !(p->functions[f].flags & FUNCTION_ADDRESS_TAKEN) &&
		    !(lint->threads.is_library && p->functions[f].flags & FUNCTION_EXTERNAL) &&
		    calls->callers_first[f] < calls->callers_first[f + 1])
			own->given[f] = UINT64_MAX;
	for (uint32_t n = calls->order_count; n-- > 0;) {
		uint32_t f = calls->order[n];

		for (uint32_t e = calls->first[f]; e < calls->first[f + 1]; e++) {
			const struct program_inst *call = &p->insts[calls->edges[e].inst];
			uint32_t callee = calls->edges[e].callee;

			if (call->callee != callee) {
				own->given[callee] = 0;
				continue;
			}
			for (uint32_t i = 0; own->given[callee] && i < program_argument_count(call) && i < 64;
			     i++)
				if (own->given[callee] >> i & 1 &&
				    !own_at(own, calls->edges[e].inst, program_operand(p, call, i)))
					own->given[callee] &= ~(1ull << i);
		}
	}
}

struct own *own_new(struct lint *lint)
{
	const struct program *p = &lint->program;
	struct own *own = mem_zalloc(1, sizeof(*own));

	own->lint = lint;
	own->taken = mem_zalloc(p->insts_count, sizeof(*own->taken));
	own->returns = mem_zalloc(p->functions_count, sizeof(*own->returns));
	own->out = mem_alloc((p->functions_count + 1) * sizeof(*own->out));
	/* Code that we do not see lets out what it gets; so does who calls itself, until it is known better.
	 */
	memset(own->out, 0xff, (p->functions_count + 1) * sizeof(*own->out));
	own->into = mem_zalloc(p->functions_count + 1, sizeof(*own->into));
	own->given = mem_zalloc(p->functions_count + 1, sizeof(*own->given));
	find_taken(own);
	for (uint32_t i = 0; i < lint->calls.order_count; i++) {
		uint32_t f = lint->calls.order[i];

		find_parameters_out(own, f);
		own->returns[f] = returns_own(own, f);
	}
	find_given(own);
	return own;
}

void own_free(struct own *own)
{
	for (uint32_t i = 0; i < own->bases.count; i++)
		vec_free(&own->bases.at[i].out);
	vec_free(&own->bases);
	map_release(&own->known);
	free(own->taken);
	free(own->returns);
	free(own->out);
	free(own->into);
	free(own->given);
	free(own);
}
