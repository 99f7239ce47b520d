/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/escape.h"

#include <string.h>

/* ---- nodes ---- */

static void expose_node(struct escape *e, uint32_t node)
{
	struct shape_cell target;
	int64_t at;

	if (!node || e->exposed[node])
		return;
	e->exposed[node] = true;
	e->changes++;
	vec_push(&e->waiting, node);
	while (e->waiting.count) {
		node = e->waiting.at[--e->waiting.count];
		for (uint32_t i = 0; shape_field(e->shape, node, i, &at, &target); i++)
			if (target.node && !e->exposed[target.node]) {
				e->exposed[target.node] = true;
				e->changes++;
				vec_push(&e->waiting, target.node);
			}
	}
}

static void expose(struct escape *e, uint32_t value)
{
	expose_node(e, escape_node(e, value));
}

void escape_expose_contents(struct escape *e, uint32_t node)
{
	struct shape_cell target;
	int64_t at;

	for (uint32_t i = 0; node && shape_field(e->shape, node, i, &at, &target); i++)
		expose_node(e, target.node);
}

bool escape_leads_out(struct escape *e, uint32_t node, bool used)
{
	struct shape_cell target;
	int64_t at;

	for (uint32_t i = 0; shape_field(e->shape, node, i, &at, &target); i++)
		if (e->exposed[target.node] && (!used || e->used[target.node]))
			return true;
	return false;
}

bool escape_has_contents(struct escape *e, uint32_t node)
{
	struct shape_cell target;
	int64_t at;

	return node && shape_field(e->shape, node, 0, &at, &target);
}

/* Is it, or was it made of, a pointer to something? */
static bool is_pointer(struct escape *e, uint32_t value)
{
	return escape_has_objects(e, escape_node(e, value));
}

/* A value of which the graph knows nothing, and which is no number either. */
static bool is_unknown(struct escape *e, uint32_t value)
{
	uint32_t kind = e->p->values[value].kind;

	return kind == VALUE_OTHER || kind == VALUE_NONE || (kind == VALUE_PLACE && !escape_node(e, value));
}

/* ---- instructions ---- */

/* An access through a pointer that comes from nowhere, or from arithmetic, may be to anything. */
static uint32_t visit_address(struct escape *e, uint32_t pointer)
{
	uint32_t node = escape_node(e, pointer);

	if (node && !e->used[node]) {
		e->used[node] = true;
		e->changes++;
	}
	if (node && (!escape_has_objects(e, node) || e->counted[node]))
		expose_node(e, node);
	return node;
}

static void visit_store(struct escape *e, const struct program_inst *inst)
{
	uint32_t value = program_operand(e->p, inst, 0);
	uint32_t node = visit_address(e, program_operand(e->p, inst, 1));

	if (!node) {
		expose(e, value);
		return;
	}
	if (inst->size > 8 || (inst->size < 8 && is_pointer(e, value))) {
		expose(e, value);
		escape_expose_contents(e, node);
	} else if (inst->size < 8) {
		if (escape_has_contents(e, node) || inst->size == 1)
			escape_expose_pieces(e, value, node);
	} else if (is_unknown(e, value)) {
		escape_expose_contents(e, node);
	}
}

/* Only differences of pointers, and comparisons, tell nothing of where they point. */
static void visit_compute(struct escape *e, const struct program_inst *inst)
{
	const struct program *p = e->p;
	bool pointers = !inst->operand_count, difference = inst->sub == SUB_SUB && inst->operand_count == 2;
	uint32_t node = escape_node(e, inst->value);

	for (uint32_t i = 0; i < inst->operand_count; i++) {
		uint32_t operand = program_operand(p, inst, i), maker = program_maker(p, operand);

		pointers |= is_pointer(e, operand) || is_unknown(e, operand);
		difference = difference && maker && p->insts[maker].op == PROGRAM_COPY &&
			     p->insts[maker].flags & PROGRAM_POINTER;
	}
	/* Of a pointer: select, whose result the graph has. */
	if (inst->flags & PROGRAM_POINTER && inst->operand_count == 3) {
		for (uint32_t i = 0; i < 3; i++)
			if (is_unknown(e, program_operand(p, inst, i)))
				expose_node(e, node);
		return;
	}
	if (node && !e->counted[node]) {
		e->counted[node] = true;
		e->changes++;
	}
	if (!pointers || difference)
		return;
	for (uint32_t i = 0; i < inst->operand_count; i++)
		expose(e, program_operand(p, inst, i));
	expose_node(e, node);
}

/* Functions outside the program that keep none of the pointers they get, and store none. */
static bool keeps_nothing(const struct known *known, const char *name)
{
	static const char *const names[] = {
		"__errno_location", "abs",        "atof",    "atoi",    "atol",   "bcmp",        "bzero",
		"clock_gettime",    "fprintf",    "fputc",   "fputs",   "fwrite", "memcmp",      "perror",
		"printf",           "putc",       "putchar", "puts",    "rand_r", "read",        "snprintf",
		"sprintf",          "strcasecmp", "strcmp",  "strcspn", "strlen", "strncasecmp", "strncmp",
		"strnlen",          "strspn",     "time",    "write"};

	if (known)
		switch ((enum known_kind)known->kind) {
		case KNOWN_ALLOCATE:
		case KNOWN_RESIZE:
		case KNOWN_FREE:
		case KNOWN_MOVE:
		case KNOWN_FILL:
		case KNOWN_LOCK:
		case KNOWN_LOCK_SHARED:
		case KNOWN_TRY:
		case KNOWN_TRY_SHARED:
		case KNOWN_UNLOCK:
		case KNOWN_WAIT:
			return true;
		case KNOWN_SAME:
			return strcmp(name, "strtok") != 0;
		default:
			return false;
		}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static void visit_call(struct escape *e, const struct program_inst *inst)
{
	const struct program *p = e->p;
	const struct program_function *f = &p->functions[inst->callee];
	uint32_t count = program_argument_count(inst);
	bool all = false;

	if (inst->callee && f->flags & FUNCTION_DEFINED) {
		for (uint32_t i = 0; i < count; i++)
			if (i >= f->parameter_count)
				expose(e, program_operand(p, inst, i));
			else if (is_unknown(e, program_operand(p, inst, i)))
				expose(e, f->parameter + i);
		for (uint32_t i = count; i < f->parameter_count; i++)
			expose(e, f->parameter + i);
		return;
	}
	if (inst->callee && keeps_nothing(pointsto_known(&e->lint->pt, inst), program_text(p, f->linkage)))
		for (uint32_t i = 0; i < count; i++)
			all |= is_unknown(e, program_operand(p, inst, i));
	else
		all = true;
	if (!all)
		return;
	for (uint32_t i = 0; i < inst->operand_count; i++)
		expose(e, program_operand(p, inst, i));
	expose(e, inst->value);
}

static void visit(struct escape *e, uint32_t number)
{
	const struct program *p = e->p;
	const struct program_inst *inst = &p->insts[number];
	uint32_t count = inst->op == PROGRAM_PHI ? inst->operand_count / 2 : inst->operand_count;
	uint32_t node, other;

	switch ((enum program_op)inst->op) {
	case PROGRAM_LOAD:
		node = visit_address(e, program_operand(p, inst, 0));
		if (!node)
			expose(e, inst->value);
		if (inst->size > 8) {
			escape_expose_contents(e, node);
			expose(e, inst->value);
		}
		break;
	case PROGRAM_STORE:
		visit_store(e, inst);
		break;
	case PROGRAM_UPDATE:
		escape_expose_contents(e, visit_address(e, program_operand(p, inst, 0)));
		for (uint32_t i = 1; i < count; i++)
			expose(e, program_operand(p, inst, i));
		expose(e, inst->value);
		break;
	case PROGRAM_OFFSET:
		/* Elements are one to the graph, but not to code that counts bytes. */
		if (inst->flags & PROGRAM_ARRAY)
			escape_expose_contents(e, escape_node(e, inst->value));
		if (is_unknown(e, program_operand(p, inst, 0)))
			expose(e, inst->value);
		break;
	case PROGRAM_COPY:
		node = escape_node(e, inst->value);
		if (inst->flags & PROGRAM_POINTER && node && e->counted[node])
			expose_node(e, node);
		/* fall through */
	case PROGRAM_PHI:
		for (uint32_t i = 0; i < count; i++)
			if (is_unknown(e, program_operand(p, inst, i)))
				expose(e, inst->value);
		break;
	case PROGRAM_COMPUTE:
		visit_compute(e, inst);
		break;
	case PROGRAM_CALL:
		visit_call(e, inst);
		break;
	case PROGRAM_MOVE:
		node = visit_address(e, program_operand(p, inst, 0));
		other = visit_address(e, program_operand(p, inst, 1));
		if (!node || !other || escape_leads_out(e, node, false) ||
		    escape_leads_out(e, other, false)) {
			escape_expose_contents(e, node);
			escape_expose_contents(e, other);
		}
		break;
	case PROGRAM_FILL:
		visit_address(e, program_operand(p, inst, 0));
		break;
	case PROGRAM_RETURN:
		if (count && is_unknown(e, program_operand(p, inst, 0)))
			expose_node(e,
				    shape_find(e->shape, e->lint->pt.results[program_function_of(p, number)])
					    .node);
		break;
	case PROGRAM_NONE:
	case PROGRAM_ALLOCA:
	case PROGRAM_COMPARE:
	case PROGRAM_JUMP:
	case PROGRAM_BRANCH:
	case PROGRAM_SWITCH:
	case PROGRAM_END:
	case PROGRAM_OP_COUNT:
		break;
	}
}

/* ---- the whole program ---- */

static void expose_function(struct escape *e, uint32_t number)
{
	const struct program_function *f = &e->p->functions[number];

	for (uint32_t i = 0; i < f->parameter_count; i++)
		expose(e, f->parameter + i);
	expose_node(e, shape_find(e->shape, e->lint->pt.results[number]).node);
}

static void find_exposed(struct escape *e)
{
	const struct program *p = e->p;
	uint64_t before;

	for (uint32_t g = 1; g < p->globals_count; g++) {
		uint32_t node = escape_node(e, p->globals[g].value);

		if ((p->globals[g].flags & (GLOBAL_THREAD_LOCAL | GLOBAL_EXTERNAL)) == GLOBAL_THREAD_LOCAL)
			escape_expose_contents(e, node);
		else
			expose_node(e, node);
	}
	for (uint32_t f = 1; f < p->functions_count; f++)
		if (p->functions[f].flags & FUNCTION_ADDRESS_TAKEN ||
		    !strcmp(program_text(p, p->functions[f].linkage), "main") ||
		    (e->lint->threads.is_library && p->functions[f].flags & FUNCTION_EXTERNAL))
			expose_function(e, f);
	do {
		before = e->changes;
		for (uint32_t i = 1; i < p->insts_count; i++)
			visit(e, i);
	} while (e->changes != before);
}

void escape_begin(struct escape *e, struct lint *lint)
{
	*e = (struct escape){.lint = lint, .p = &lint->program, .shape = lint->pt.shape};
	for (uint32_t v = 1; v < e->p->values_count; v++)
		pointsto_cell(&lint->pt, v);
	e->nodes = shape_count(e->shape);
	e->exposed = mem_zalloc(e->nodes, sizeof(*e->exposed));
	e->fed = mem_zalloc(e->nodes, sizeof(*e->fed));
	e->counted = mem_zalloc(e->nodes, sizeof(*e->counted));
	e->used = mem_zalloc(e->nodes, sizeof(*e->used));
	find_exposed(e);
	escape_find_fed(e);
}

void escape_end(struct escape *e)
{
	free(e->exposed);
	free(e->fed);
	free(e->counted);
	free(e->used);
	vec_free(&e->waiting);
}
