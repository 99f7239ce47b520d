/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Constraints of the instructions are unified at once. What depends on answers
 * (computed calls, copies of structs, new threads) is gone through again until
 * nothing becomes the same any more.
 */
#include "lint/pointsto.h"

#include <string.h>

#include "lint/threadstate.h"

/* Rounds over what depends on answers. Each makes something the same, and programs need few. */
enum { MOST_ROUNDS = 64, VIRTUAL_RUN = 16 };

static uint32_t new_object(struct pointsto *pt, enum object_kind kind, uint32_t index)
{
	uint32_t n = pt->objects.count;

	vec_push(&pt->objects, (struct object){kind, index, shape_node(pt->shape, n)});
	return pt->objects.at[n].node;
}

/* Made if need be. */
static struct shape_cell cell_of(struct pointsto *pt, uint32_t value)
{
	struct shape_cell *cell = &pt->cells[value];
	const struct program_value *v = &pt->program->values[value];

	if (cell->node)
		return *cell;
	switch ((enum program_value_kind)v->kind) {
	case VALUE_GLOBAL:
		cell->node = new_object(pt, OBJECT_GLOBAL, v->index);
		break;
	case VALUE_FUNCTION:
		cell->node = new_object(pt, OBJECT_FUNCTION, v->index);
		break;
	case VALUE_PLACE: {
		struct shape_cell base = cell_of(pt, v->index);

		if (base.node)
			*cell = (struct shape_cell){base.node, base.at + v->number};
		break;
	}
	case VALUE_RESULT:
	case VALUE_PARAMETER:
		cell->node = shape_node(pt->shape, 0);
		break;
	default: /* Numbers and what is not known point to nothing. */
		break;
	}
	return *cell;
}

struct shape_cell pointsto_cell(struct pointsto *pt, uint32_t value)
{
	cell_of(pt, value);
	return shape_find(pt->shape, pt->cells[value]);
}

bool pointsto_is_pointer(struct pointsto *pt, uint32_t value)
{
	struct shape_cell cell = pointsto_cell(pt, value);
	uint32_t cookie;

	return cell.node && shape_first(pt->shape, cell.node, &cookie);
}

static void same(struct pointsto *pt, uint32_t a, uint32_t b)
{
	if (a && b)
		shape_unify(pt->shape, cell_of(pt, a), cell_of(pt, b));
}

static struct shape_cell result_of(struct pointsto *pt, uint32_t function)
{
	if (!pt->results[function].node)
		pt->results[function].node = shape_node(pt->shape, 0);
	return pt->results[function];
}

/* ---- instructions ---- */

static void pass(struct pointsto *pt, uint32_t function, const uint32_t *arguments, uint32_t count,
		 uint32_t result)
{
	const struct program_function *f = &pt->program->functions[function];

	for (uint32_t i = 0; i < count && i < f->parameter_count; i++)
		same(pt, f->parameter + i, arguments[i]);
	if (result)
		shape_unify(pt->shape, result_of(pt, function), cell_of(pt, result));
}

/* A function that the program does not have. */
static void call_outside(struct pointsto *pt, const struct program_inst *inst, uint32_t number)
{
	const struct program *p = pt->program;
	const struct known *known = pointsto_known(pt, inst);
	const uint32_t *arguments = program_operands(p, inst);
	uint32_t count = program_argument_count(inst);

	switch (known ? (enum known_kind)known->kind : KNOWN_NONE) {
	case KNOWN_RESIZE:
		if (inst->value && count)
			same(pt, inst->value, arguments[0]);
		/* fall through */
	case KNOWN_ALLOCATE:
	case KNOWN_CREATE_TASK:
		if (inst->value)
			shape_unify(pt->shape, cell_of(pt, inst->value),
				    (struct shape_cell){new_object(pt, OBJECT_HEAP, number), 0});
		return;
	case KNOWN_SAME:
	case KNOWN_MOVE:
	case KNOWN_FILL:
		if (inst->value && count)
			same(pt, inst->value, arguments[0]);
		return;
	case KNOWN_NONE:
		if (inst->value && inst->flags & PROGRAM_POINTER && inst->callee) {
			if (!pt->results[inst->callee].node)
				pt->results[inst->callee].node = new_object(pt, OBJECT_OUTSIDE, inst->callee);
			shape_unify(pt->shape, cell_of(pt, inst->value), pt->results[inst->callee]);
		}
		return;
	default:
		return;
	}
}

static bool may_hold_pointer(const struct program_inst *inst)
{
	return inst->flags & PROGRAM_POINTER || inst->size == 8 || inst->size == 16;
}

static void constrain(struct pointsto *pt, uint32_t number)
{
	const struct program *p = pt->program;
	const struct program_inst *inst = &p->insts[number];
	const uint32_t *operands = program_operands(p, inst);

	switch ((enum program_op)inst->op) {
	case PROGRAM_ALLOCA:
		shape_unify(pt->shape, cell_of(pt, inst->value),
			    (struct shape_cell){new_object(pt, OBJECT_LOCAL, number), 0});
		break;
	case PROGRAM_LOAD:
		if (may_hold_pointer(inst) && inst->value)
			shape_unify(pt->shape, cell_of(pt, inst->value),
				    shape_target(pt->shape, cell_of(pt, operands[0])));
		break;
	case PROGRAM_STORE:
		if (may_hold_pointer(inst) && cell_of(pt, operands[0]).node)
			shape_unify(pt->shape, shape_target(pt->shape, cell_of(pt, operands[1])),
				    cell_of(pt, operands[0]));
		break;
	case PROGRAM_UPDATE:
		if (inst->size != 8)
			break;
		for (uint32_t i = 1; i < inst->operand_count; i++)
			if (cell_of(pt, operands[i]).node)
				shape_unify(pt->shape, shape_target(pt->shape, cell_of(pt, operands[0])),
					    cell_of(pt, operands[i]));
		if (inst->value)
			shape_unify(pt->shape, cell_of(pt, inst->value),
				    shape_target(pt->shape, cell_of(pt, operands[0])));
		break;
	case PROGRAM_OFFSET: {
		struct shape_cell base = cell_of(pt, operands[0]);

		if (base.node)
			shape_unify(pt->shape, cell_of(pt, inst->value),
				    (struct shape_cell){base.node, base.at + inst->offset});
		break;
	}
	case PROGRAM_COPY:
		for (uint32_t i = 0; i < inst->operand_count; i++)
			same(pt, inst->value, operands[i]);
		break;
	case PROGRAM_PHI:
		for (uint32_t i = 0; i < inst->operand_count / 2; i++)
			same(pt, inst->value, operands[i]);
		break;
	case PROGRAM_COMPUTE:
		if (inst->flags & PROGRAM_POINTER)
			for (uint32_t i = 0; i < inst->operand_count; i++)
				same(pt, inst->value, operands[i]);
		break;
	case PROGRAM_RETURN:
		if (inst->operand_count && cell_of(pt, operands[0]).node)
			shape_unify(pt->shape, result_of(pt, program_function_of(p, number)),
				    cell_of(pt, operands[0]));
		break;
	case PROGRAM_CALL:
		if (!inst->callee)
			break;
		/* What the user has a word for does not make all that it is called with one. */
		if (p->functions[inst->callee].flags & FUNCTION_DEFINED && !pt->known[inst->callee])
			pass(pt, inst->callee, operands, inst->operand_count, inst->value);
		else
			call_outside(pt, inst, number);
		break;
	default:
		break;
	}
}

static void globals(struct pointsto *pt)
{
	const struct program *p = pt->program;

	for (uint32_t g = 1; g < p->globals_count; g++) {
		struct shape_cell cell = cell_of(pt, p->globals[g].value);

		for (uint32_t i = 0; i < p->globals[g].field_count; i++) {
			const struct program_field *f = &p->fields[p->globals[g].field + i];
			struct shape_cell to = cell_of(pt, f->value);

			if (!to.node)
				continue;
			shape_unify(pt->shape,
				    shape_target(pt->shape, (struct shape_cell){cell.node, f->offset}), to);
			/* Tables of virtual functions are never indexed by a variable. */
			if (f->folded != f->offset && strncmp(program_text(p, p->globals[g].name), "_ZTV", 4))
				shape_unify(
					pt->shape,
					shape_target(pt->shape, (struct shape_cell){cell.node, f->folded}),
					to);
		}
	}
}

/* ---- what depends on answers ---- */

static void copy_bytes(struct pointsto *pt, struct shape_cell to, struct shape_cell from, uint32_t size)
{
	struct shape_cell target;
	int64_t at;

	to = shape_find(pt->shape, to);
	from = shape_find(pt->shape, from);
	if (!to.node || !from.node || (to.node == from.node && to.at == from.at))
		return;
	if (to.node == from.node) {
		shape_unify(pt->shape, to, from);
		return;
	}
	for (int direction = 0; direction < 2; direction++) {
		struct shape_cell a = direction ? to : from, b = direction ? from : to;

		for (uint32_t i = 0; shape_field(pt->shape, a.node, i, &at, &target); i++)
			if (at >= a.at && (!size || at < a.at + size)) {
				struct shape_cell other = {b.node, b.at + at - a.at};

				shape_unify(pt->shape, shape_target(pt->shape, other), target);
				a = shape_find(pt->shape, a);
				b = shape_find(pt->shape, b);
				/* Within one object each place would lead to the next one, without end. */
				if (a.node == b.node) {
					shape_unify(pt->shape, a, b);
					return;
				}
			}
	}
}

/* Made if need be. */
static struct vec_u32 *targets_of(struct pointsto *pt, uint32_t inst)
{
	if (!pt->slots[inst]) {
		pt->slots[inst] = pt->targets.count;
		vec_push(&pt->targets, (struct vec_u32){0});
	}
	return &pt->targets.at[pt->slots[inst]];
}

/* It must be new. */
static void push_target(struct pointsto *pt, uint32_t inst, uint32_t function)
{
	struct vec_u32 *targets = targets_of(pt, inst);

	vec_push(targets, function);
}

/* What was found when it was asked last; made if need be, with nothing. */
static uint32_t functions_asked(struct pointsto *pt, uint32_t node, uint32_t signature, uint32_t arguments)
{
	uint64_t key = map_hash((uint64_t)node << 32 | signature) + arguments;
	uint32_t found;

	for (; (found = map_get(&pt->asked, key)); key++) {
		const struct pointsto_functions *f = &pt->functions.at[found - 1];

		if (f->node == node && f->signature == signature && f->arguments == arguments)
			return found - 1;
	}
	vec_push(&pt->functions,
		 (struct pointsto_functions){.node = node, .signature = signature, .arguments = arguments});
	map_set(&pt->asked, key, pt->functions.count);
	return pt->functions.count - 1;
}

static uint32_t functions_in(struct pointsto *pt, uint32_t node)
{
	uint32_t objects = shape_objects(pt->shape, node), cookie, number = functions_asked(pt, node, 0, 0);
	struct pointsto_functions *f = &pt->functions.at[number];

	if (f->objects == objects)
		return number;
	f->objects = objects;
	f->at.count = 0;
	*pt->steps += objects;
	for (uint32_t o = shape_first(pt->shape, node, &cookie); o; o = shape_next(pt->shape, &cookie))
		if (pt->objects.at[o].kind == OBJECT_FUNCTION)
			vec_push(&f->at, pt->objects.at[o].index);
	return number;
}

/* Of these, the ones that a call reaches. Many calls have the same type and go through the same tables, so
 * that is found once. */
static uint32_t functions_fitting(struct pointsto *pt, uint32_t node, uint32_t signature, uint32_t arguments)
{
	const struct program *p = pt->program;
	uint32_t all = functions_in(pt, node), number;
	struct pointsto_functions *fit;

	if (!signature)
		return all;
	number = functions_asked(pt, node, signature, arguments);
	fit = &pt->functions.at[number];
	if (fit->objects == pt->functions.at[all].objects)
		return number;
	fit->objects = pt->functions.at[all].objects;
	fit->at.count = 0;
	/* A prototype of another type is still called, but not with other counts. */
	for (int strict = 1; strict >= 0 && !fit->at.count; strict--)
		for (uint32_t i = 0; i < pt->functions.at[all].at.count; i++) {
			uint32_t function = pt->functions.at[all].at.at[i];
			const struct program_function *f = &p->functions[function];

			++*pt->steps;
			if (strict ? f->signature == signature : f->parameter_count == arguments)
				vec_push(&fit->at, function);
		}
	return number;
}

/* Functions that lie in a node, as far as the call's type fits (0: any), and the name has a part (NULL: any).
 */
static bool targets_in(struct pointsto *pt, struct pointsto_open *open, struct shape_cell cell,
		       uint32_t signature, const char *only)
{
	const struct program *p = pt->program;
	const struct vec_u32 *all;
	uint32_t inst = open->inst, number;

	if (!cell.node)
		return false;
	if (open->node == cell.node && open->objects == shape_objects(pt->shape, cell.node))
		return open->found;
	open->node = cell.node;
	open->objects = shape_objects(pt->shape, cell.node);
	open->found = false;
	for (uint32_t i = 0; pt->slots[inst] && i < pt->targets.at[pt->slots[inst]].count; i++)
		pt->mark[pt->targets.at[pt->slots[inst]].at[i]] = inst;
	number = functions_fitting(pt, cell.node, signature, program_argument_count(&p->insts[inst]));
	all = &pt->functions.at[number].at;
	for (uint32_t i = 0; i < all->count; i++) {
		++*pt->steps;
		if (only ? !strstr(program_text(p, p->functions[all->at[i]].linkage), only)
			 : threadstate_is_run(p, all->at[i]))
			continue;
		open->found = true;
		if (pt->mark[all->at[i]] != inst)
			push_target(pt, inst, all->at[i]);
		pt->mark[all->at[i]] = inst;
	}
	return open->found;
}

/* To those that have not got theirs yet: what was made the same stays so. */
static void pass_targets(struct pointsto *pt, struct pointsto_open *open, uint32_t first, uint32_t result)
{
	const struct program *p = pt->program;
	uint32_t inst = open->inst, count = program_argument_count(&p->insts[inst]);

	if (!pt->slots[inst])
		return;
	for (; open->passed < pt->targets.at[pt->slots[inst]].count; open->passed++) {
		uint32_t f = pt->targets.at[pt->slots[inst]].at[open->passed];

		++*pt->steps;
		if (first <= count)
			pass(pt, f, program_operands(p, &p->insts[inst]) + first, count - first, result);
	}
}

static void resolve_call(struct pointsto *pt, struct pointsto_open *open, bool guess)
{
	uint32_t number = open->inst;
	const struct program *p = pt->program;
	const struct program_inst *inst = &p->insts[number];
	struct shape_cell callee = pointsto_cell(pt, program_operand(p, inst, inst->operand_count - 1));

	if (!inst->operand_count)
		return;
	if (!targets_in(pt, open, callee, inst->size, NULL) && guess && callee.node && !pt->slots[number]) {
		for (uint32_t f = 1; f < p->functions_count; f++)
			if (p->functions[f].flags & FUNCTION_ADDRESS_TAKEN &&
			    p->functions[f].flags & FUNCTION_DEFINED &&
			    p->functions[f].signature == inst->size && !threadstate_is_run(p, f))
				push_target(pt, number, f);
		pt->guessed++;
	}
	pass_targets(pt, open, 0, inst->value);
}

static void resolve_create(struct pointsto *pt, struct pointsto_open *open, const struct known *known)
{
	uint32_t number = open->inst;
	const struct program *p = pt->program;
	const struct program_inst *inst = &p->insts[number];
	uint32_t count = program_argument_count(inst);

	if (known->a >= (int)count)
		return;
	struct shape_cell cell = pointsto_cell(pt, program_operand(p, inst, (uint32_t)known->a));

	if (known->kind == KNOWN_CREATE_CXX) {
		/* A unique_ptr to a state, whose virtual table has run() behind two destructors. */
		struct shape_cell state = shape_peek(pt->shape, cell), table, run;

		uint32_t runs = pt->slots[number] ? 0 : threadstate_run(p, number, (uint32_t)known->a);

		if (runs) {
			push_target(pt, number, runs);
			map_set(&pt->settled, number, 1);
		}
		if (!map_get(&pt->settled, number)) {
			table = shape_peek(pt->shape, state);
			if (!table.node)
				return;
			table.at += VIRTUAL_RUN;
			run = shape_peek(pt->shape, table);
			/* Tables of several classes may have become one. */
			targets_in(pt, open, run, 0, THREADSTATE_RUN);
		}
		for (uint32_t i = 0; pt->slots[number] && i < pt->targets.at[pt->slots[number]].count; i++) {
			const struct program_function *f =
				&p->functions[pt->targets.at[pt->slots[number]].at[i]];

			if (f->parameter_count)
				shape_unify(pt->shape, cell_of(pt, f->parameter), state);
		}
		return;
	}
	targets_in(pt, open, cell, 0, NULL);
	if (known->kind == KNOWN_CREATE_TASK) {
		for (uint32_t i = 0; pt->slots[number] && i < pt->targets.at[pt->slots[number]].count; i++) {
			const struct program_function *f =
				&p->functions[pt->targets.at[pt->slots[number]].at[i]];

			if (f->parameter_count > 1)
				same(pt, f->parameter + 1, inst->value);
		}
		return;
	}
	if (known->kind == KNOWN_CREATE_TEAM) {
		if (!pt->slots[number])
			return;
		for (uint32_t i = 0; i < pt->targets.at[pt->slots[number]].count; i++) {
			const struct program_function *f =
				&p->functions[pt->targets.at[pt->slots[number]].at[i]];

			for (uint32_t n = 3; n < count && n - 1 < f->parameter_count; n++)
				same(pt, f->parameter + n - 1, program_operand(p, inst, n));
		}
		return;
	}
	if (known->b >= 0)
		pass_targets(pt, open, (uint32_t)known->b, 0);
}

/* Functions given to code that we do not see are called by it; what follows is mostly their argument. */
static void resolve_callbacks(struct pointsto *pt, uint32_t number)
{
	const struct program *p = pt->program;
	const struct program_inst *inst = &p->insts[number];

	for (uint32_t i = 0; i < program_argument_count(inst); i++) {
		const struct program_value *v = &p->values[program_operand(p, inst, i)];
		const struct program_function *f;

		if (v->kind != VALUE_FUNCTION)
			continue;
		f = &p->functions[v->index];
		if (!(f->flags & FUNCTION_DEFINED))
			continue;
		vec_add(targets_of(pt, number), v->index);
		for (uint32_t n = 0; n < f->parameter_count; n++)
			same(pt, f->parameter + n,
			     i + 1 < program_argument_count(inst) ? program_operand(p, inst, i + 1)
								  : program_operand(p, inst, 0));
	}
}

/* Callbacks are named, so these are settled at once; the rest is gone through again and again. */
static void find_open(struct pointsto *pt)
{
	const struct program *p = pt->program;

	for (uint32_t i = 1; i < p->insts_count; i++) {
		const struct program_inst *inst = &p->insts[i];
		const struct known *known = pointsto_known(pt, inst);

		if (inst->op == PROGRAM_MOVE || (inst->op == PROGRAM_CALL && !inst->callee) ||
		    known_makes_thread(known) ||
		    (known && known->kind == KNOWN_MOVE && program_argument_count(inst) > 1))
			vec_push(&pt->open, (struct pointsto_open){.inst = i});
		else if (inst->op == PROGRAM_CALL && !(p->functions[inst->callee].flags & FUNCTION_DEFINED))
			resolve_callbacks(pt, i);
	}
}

static void resolve(struct pointsto *pt, bool guess)
{
	const struct program *p = pt->program;

	for (uint32_t n = 0; n < pt->open.count; n++) {
		struct pointsto_open *open = &pt->open.at[n];
		const struct program_inst *inst = &p->insts[open->inst];

		if (inst->op == PROGRAM_MOVE)
			copy_bytes(pt, pointsto_cell(pt, program_operand(p, inst, 0)),
				   pointsto_cell(pt, program_operand(p, inst, 1)), inst->size);
		else if (!inst->callee)
			resolve_call(pt, open, guess);
		else if (known_makes_thread(pointsto_known(pt, inst)))
			resolve_create(pt, open, pointsto_known(pt, inst));
		else
			copy_bytes(pt, pointsto_cell(pt, program_operand(p, inst, 0)),
				   pointsto_cell(pt, program_operand(p, inst, 1)), 0);
	}
}

void pointsto_build(struct pointsto *pt, const struct program *p, pointsto_said *said, void *user,
		    uint64_t *steps)
{
	uint64_t before;
	int round = 0;

	memset(pt, 0, sizeof(*pt));
	pt->program = p;
	pt->steps = steps;
	pt->mark = mem_zalloc(p->functions_count, sizeof(*pt->mark));
	pt->shape = shape_new();
	pt->cells = mem_zalloc(p->values_count, sizeof(*pt->cells));
	pt->results = mem_zalloc(p->functions_count, sizeof(*pt->results));
	pt->known = mem_zalloc(p->functions_count, sizeof(*pt->known));
	pt->slots = mem_zalloc(p->insts_count, sizeof(*pt->slots));
	vec_push(&pt->objects, (struct object){0});
	vec_push(&pt->targets, (struct vec_u32){0});
	for (uint32_t f = 1; f < p->functions_count; f++) {
		const char *linkage = program_text(p, p->functions[f].linkage);

		pt->known[f] = said ? said(user, program_text(p, p->functions[f].name), linkage) : NULL;
		if (!pt->known[f] && !(p->functions[f].flags & FUNCTION_DEFINED))
			pt->known[f] = known_find(linkage);
	}
	globals(pt);
	for (uint32_t i = 1; i < p->insts_count; i++)
		constrain(pt, i);
	find_open(pt);
	do {
		before = shape_changes(pt->shape);
		resolve(pt, false);
	} while (shape_changes(pt->shape) != before && ++round < MOST_ROUNDS);
	/* Only now: what looks unresolved early may have its answer by then. */
	do {
		before = shape_changes(pt->shape);
		resolve(pt, true);
	} while (shape_changes(pt->shape) != before && ++round < 2 * MOST_ROUNDS);
	pt->unsettled = shape_changes(pt->shape) != before;
}

void pointsto_release(struct pointsto *pt)
{
	for (uint32_t i = 0; i < pt->targets.count; i++)
		vec_free(&pt->targets.at[i]);
	vec_free(&pt->targets);
	map_release(&pt->settled);
	vec_free(&pt->open);
	for (uint32_t i = 0; i < pt->functions.count; i++)
		vec_free(&pt->functions.at[i].at);
	vec_free(&pt->functions);
	map_release(&pt->asked);
	free(pt->mark);
	vec_free(&pt->objects);
	shape_free(pt->shape);
	free(pt->cells);
	free(pt->results);
	free(pt->known);
	free(pt->slots);
	memset(pt, 0, sizeof(*pt));
}

const struct vec_u32 *pointsto_targets(const struct pointsto *pt, uint32_t inst)
{
	return &pt->targets.at[pt->slots[inst]];
}

const struct known *pointsto_known(const struct pointsto *pt, const struct program_inst *call)
{
	return call->op == PROGRAM_CALL && call->callee ? pt->known[call->callee] : NULL;
}
