/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Escape analysis on the shape graph. The graph is made for finding faults,
 * where a pointer that it loses track of costs a report. Here it would cost a
 * violation, so everything the graph does not follow to the end is exposed, with
 * all that can be reached from it: globals, what code outside the program gets
 * or gives (threads' arguments among it), parameters of functions whose address
 * is taken, arguments of computed calls, pointers that arithmetic on integers,
 * wide or narrow copies or variable indices take out of sight.
 *
 * What is not exposed is reached from the stacks and thread-local variables of
 * the thread that made it, and from nothing else. It still counts as shared if
 * it leads to something exposed: the checker learns from it what owns what.
 *
 * Optimisation turns a loop that copies into one memcpy at the place of its
 * store, and a copy of a copy into one from the first source. So data is traced
 * to where it was copied from (`fed`), and a place that stores what may come
 * straight from exposed memory is not private.
 */
#include "lint/private.h"

#include <string.h>

#include "base/map.h"

/* Ways that a stored value is traced back; beyond, it may come from anywhere. */
enum { MOST_STEPS = 64 };

struct escape {
	struct lint *lint;
	const struct program *p;
	struct shape *shape;
	uint32_t nodes;
	bool *exposed; /* by node */
	bool *fed;     /* exposed, or filled with copies of what is */
	bool *counted; /* reached by results of arithmetic on integers */
	bool *used;    /* something is accessed there: those that lead to it are pointers */
	struct vec_u32 waiting;
	uint64_t changes;
};

/* ---- nodes ---- */

static uint32_t node_of(struct escape *e, uint32_t value)
{
	return value ? pointsto_cell(&e->lint->pt, value).node : 0;
}

static bool has_objects(struct escape *e, uint32_t node)
{
	uint32_t cookie;

	return node && shape_first(e->shape, node, &cookie);
}

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
	expose_node(e, node_of(e, value));
}

/* What the pointers in an object lead to, not the object. */
static void expose_contents(struct escape *e, uint32_t node)
{
	struct shape_cell target;
	int64_t at;

	for (uint32_t i = 0; node && shape_field(e->shape, node, i, &at, &target); i++)
		expose_node(e, target.node);
}

/* Does it have pointers to something exposed? `used`: that anybody follows. */
static bool leads_out(struct escape *e, uint32_t node, bool used)
{
	struct shape_cell target;
	int64_t at;

	for (uint32_t i = 0; shape_field(e->shape, node, i, &at, &target); i++)
		if (e->exposed[target.node] && (!used || e->used[target.node]))
			return true;
	return false;
}

static bool has_contents(struct escape *e, uint32_t node)
{
	struct shape_cell target;
	int64_t at;

	return node && shape_field(e->shape, node, 0, &at, &target);
}

static bool has_local(struct escape *e, uint32_t node)
{
	uint32_t cookie;

	for (uint32_t o = shape_first(e->shape, node, &cookie); o; o = shape_next(e->shape, &cookie))
		if (e->lint->pt.objects.at[o].kind == OBJECT_LOCAL)
			return true;
	return false;
}

/* Is it, or was it made of, a pointer to something? */
static bool is_pointer(struct escape *e, uint32_t value)
{
	return has_objects(e, node_of(e, value));
}

/* A value of which the graph knows nothing, and which is no number either. */
static bool is_unknown(struct escape *e, uint32_t value)
{
	uint32_t kind = e->p->values[value].kind;

	return kind == VALUE_OTHER || kind == VALUE_NONE || (kind == VALUE_PLACE && !node_of(e, value));
}

/* ---- where stored values come from ---- */

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
			vec_push(s->nodes, node_of(s->e, program_operand(p, inst, 0)));
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

/* May what is stored be a plain copy of what lies in such a node? Node 0 is memory of which nothing is known.
 */
static bool is_fed(struct escape *e, uint32_t value)
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

/* Pointers that are copied byte by byte. */
static void expose_pieces(struct escape *e, uint32_t value, uint32_t to)
{
	struct vec_u32 nodes = {0};
	struct sources s = {.e = e, .narrow = true, .nodes = &nodes};

	find_sources(&s, value);
	if (s.anywhere)
		expose_contents(e, to);
	for (uint32_t i = 0; i < nodes.count; i++)
		if (has_contents(e, nodes.at[i]) || (has_contents(e, to) && !nodes.at[i])) {
			expose_contents(e, nodes.at[i]);
			expose_contents(e, to);
		}
	vec_free(&nodes);
	vec_free(&s.seen);
}

/* ---- instructions ---- */

/* An access through a pointer that comes from nowhere, or from arithmetic, may be to anything. */
static uint32_t visit_address(struct escape *e, uint32_t pointer)
{
	uint32_t node = node_of(e, pointer);

	if (node && !e->used[node]) {
		e->used[node] = true;
		e->changes++;
	}
	if (node && (!has_objects(e, node) || e->counted[node]))
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
		expose_contents(e, node);
	} else if (inst->size < 8) {
		if (has_contents(e, node) || inst->size == 1)
			expose_pieces(e, value, node);
	} else if (is_unknown(e, value)) {
		expose_contents(e, node);
	}
}

/* Only differences of pointers, and comparisons, tell nothing of where they point. */
static void visit_compute(struct escape *e, const struct program_inst *inst)
{
	const struct program *p = e->p;
	bool pointers = !inst->operand_count, difference = inst->sub == SUB_SUB && inst->operand_count == 2;
	uint32_t node = node_of(e, inst->value);

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
			expose_contents(e, node);
			expose(e, inst->value);
		}
		break;
	case PROGRAM_STORE:
		visit_store(e, inst);
		break;
	case PROGRAM_UPDATE:
		expose_contents(e, visit_address(e, program_operand(p, inst, 0)));
		for (uint32_t i = 1; i < count; i++)
			expose(e, program_operand(p, inst, i));
		expose(e, inst->value);
		break;
	case PROGRAM_OFFSET:
		/* Elements are one to the graph, but not to code that counts bytes. */
		if (inst->flags & PROGRAM_ARRAY)
			expose_contents(e, node_of(e, inst->value));
		if (is_unknown(e, program_operand(p, inst, 0)))
			expose(e, inst->value);
		break;
	case PROGRAM_COPY:
		node = node_of(e, inst->value);
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
		if (!node || !other || leads_out(e, node, false) || leads_out(e, other, false)) {
			expose_contents(e, node);
			expose_contents(e, other);
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
		uint32_t node = node_of(e, p->globals[g].value);

		if ((p->globals[g].flags & (GLOBAL_THREAD_LOCAL | GLOBAL_EXTERNAL)) == GLOBAL_THREAD_LOCAL)
			expose_contents(e, node);
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

static void feed(struct escape *e, uint32_t to, bool fed)
{
	if (to && fed && !e->fed[to]) {
		e->fed[to] = true;
		e->changes++;
	}
}

static void find_fed(struct escape *e)
{
	const struct program *p = e->p;
	uint64_t before;

	memcpy(e->fed, e->exposed, e->nodes * sizeof(*e->fed));
	do {
		before = e->changes;
		for (uint32_t i = 1; i < p->insts_count; i++) {
			const struct program_inst *inst = &p->insts[i];
			uint32_t first = node_of(e, program_operand(p, inst, 0));
			uint32_t second = node_of(e, program_operand(p, inst, 1));
			const struct known *known = pointsto_known(&e->lint->pt, inst);

			if (inst->op == PROGRAM_STORE && second && !e->fed[second])
				feed(e, second, is_fed(e, program_operand(p, inst, 0)));
			else if (inst->op == PROGRAM_MOVE ||
				 (known && (known->kind == KNOWN_MOVE || known->kind == KNOWN_SAME)))
				feed(e, first, !second || e->fed[second]);
		}
	} while (e->changes != before);
}

/* Threads of control that are no threads take their stacks from one thread to another. */
static bool changes_stacks(const struct program *p)
{
	static const char *const names[] = {"swapcontext", "setcontext", "makecontext", "jump_fcontext",
					    "ontop_fcontext"};

	for (uint32_t f = 1; f < p->functions_count; f++)
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (!strcmp(program_text(p, p->functions[f].linkage), names[i]))
				return true;
	return false;
}

/* ---- places ---- */

static bool is_private_node(struct escape *e, uint32_t node)
{
	return has_objects(e, node) && !e->exposed[node] && !leads_out(e, node, true);
}

static bool is_private(struct escape *e, const struct program_inst *inst)
{
	uint32_t first = node_of(e, program_operand(e->p, inst, 0));
	uint32_t second = node_of(e, program_operand(e->p, inst, 1));

	switch ((enum program_op)inst->op) {
	case PROGRAM_LOAD:
		/* A local that was copied may become what it is a copy of. */
		return is_private_node(e, first) && !(e->fed[first] && has_local(e, first));
	case PROGRAM_STORE:
		return is_private_node(e, second) && !is_fed(e, program_operand(e->p, inst, 0));
	case PROGRAM_UPDATE:
	case PROGRAM_FILL:
		return is_private_node(e, first);
	case PROGRAM_MOVE:
		return is_private_node(e, first) && is_private_node(e, second) && !e->fed[second];
	default: /* Calls: libc's accesses stand there, and what inlining moves there. */
		return false;
	}
}

struct listing {
	struct escape *e;
	struct map by_key;
	VEC(struct program_place) at;
	struct vec_u32 spoiled; /* parallel */
};

static void note_place(struct listing *l, uint32_t number, bool private)
{
	const struct program_place *place = &l->e->p->places[number];
	uint64_t key = ((uint64_t)place->file << 32 | place->line) * 0x9e3779b97f4a7c15ull ^
		       ((uint64_t)place->function << 16 | place->column);
	uint32_t found;

	if (!number)
		return;
	while ((found = map_get(&l->by_key, key)) && memcmp(&l->at.at[found - 1], place, sizeof(*place)))
		key++;
	if (!found) {
		vec_push(&l->at, *place);
		vec_push(&l->spoiled, 0);
		found = l->at.count;
		map_set(&l->by_key, key, found);
	}
	l->spoiled.at[found - 1] |= !private;
}

/* A word of the language, in quotes if need be. */
static void put_word(FILE *out, const char *before, const char *word, const char *after)
{
	bool quote = !*word || strpbrk(word, " \t\r\"#\\");

	fprintf(out, "%s", quote ? "\"" : "");
	for (const char *parts[] = {before, word, after}, **part = parts; part < parts + 3; part++)
		for (const char *c = *part; *c; c++) {
			if (quote && (*c == '"' || *c == '\\'))
				fputc('\\', out);
			fputc(*c, out);
		}
	fprintf(out, "%s", quote ? "\"" : "");
}

static void put_place(FILE *out, const struct program *p, const struct program_place *place)
{
	const char *file = program_text(p, place->file), *function = program_text(p, place->function);
	char position[32];

	if (!*file || !*function || strchr(file, '\n') || strchr(function, '\n'))
		return;
	snprintf(position, sizeof(position), ":%u:%u", place->line, place->column);
	fprintf(out, "private ");
	put_word(out, "", file, position);
	fprintf(out, " ");
	put_word(out, "", function, "");
	fprintf(out, "\n");
}

static void list_places(struct escape *e, FILE *out)
{
	const struct program *p = e->p;
	struct listing l = {.e = e};

	for (uint32_t i = 1; i < p->insts_count; i++)
		if (p->insts[i].place)
			note_place(&l, p->insts[i].place, is_private(e, &p->insts[i]));
	for (uint32_t i = 1; i < p->lost_count; i++)
		note_place(&l, p->lost[i], false);
	for (uint32_t i = 0; i < l.at.count; i++)
		if (!l.spoiled.at[i])
			put_place(out, p, &l.at.at[i]);
	map_release(&l.by_key);
	vec_free(&l.at);
	vec_free(&l.spoiled);
}

void private_write(FILE *out, struct lint *lint, const char *program)
{
	const struct program *p = &lint->program;
	struct escape e = {.lint = lint, .p = p, .shape = lint->pt.shape};

	fprintf(out, "# accesses of %.*s that only reach data of one thread\n", (int)strcspn(program, "\n"),
		program);
	if (p->blind_spots_count > 1 || lint->pt.unsettled || changes_stacks(p)) {
		fprintf(out, "# none: not all of the program can be followed\n");
		return;
	}
	/* Every value has its node from here on, and no more are made. */
	for (uint32_t v = 1; v < p->values_count; v++)
		pointsto_cell(&lint->pt, v);
	e.nodes = shape_count(e.shape);
	e.exposed = mem_zalloc(e.nodes, sizeof(*e.exposed));
	e.fed = mem_zalloc(e.nodes, sizeof(*e.fed));
	e.counted = mem_zalloc(e.nodes, sizeof(*e.counted));
	e.used = mem_zalloc(e.nodes, sizeof(*e.used));
	find_exposed(&e);
	find_fed(&e);
	list_places(&e, out);
	free(e.exposed);
	free(e.fed);
	free(e.counted);
	free(e.used);
	vec_free(&e.waiting);
}
