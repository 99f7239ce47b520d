/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accesses to memory that several threads can reach, and the variables that
 * they name. A variable is a member of a struct type, or a global, in one node
 * of the shape graph: finer than the papers' (class, field), which keeps apart
 * objects that nothing in the program brings together.
 *
 * Left out is what cannot interfere: memory that never leaves its thread,
 * constants, primitives, objects that are still being made, and accesses that
 * happen while no other thread runs.
 */
#include <string.h>

#include "abi/hooks.h"
#include "base/cxxlib.h"
#include "base/map.h"
#include "lint/ignore.h"
#include "lint/lint.h"
#include "lint/own.h"

/* ---- what threads share ---- */

static bool is_plain_global(const struct program *p, uint32_t global)
{
	return !(p->globals[global].flags & (GLOBAL_CONSTANT | GLOBAL_THREAD_LOCAL));
}

static void reach_from(struct lint *lint, struct shape_cell cell, struct vec_u32 *waiting)
{
	struct accesses *a = &lint->accesses;
	uint32_t node = shape_find(lint->pt.shape, cell).node;

	if (!node || node >= a->nodes || a->node_shared[node])
		return;
	a->node_shared[node] = true;
	vec_push(waiting, node);
}

static void reach_all(struct lint *lint, struct vec_u32 *waiting)
{
	struct shape_cell target;
	int64_t at;

	while (waiting->count) {
		uint32_t node = waiting->at[--waiting->count];

		for (uint32_t i = 0; shape_field(lint->pt.shape, node, i, &at, &target); i++)
			reach_from(lint, target, waiting);
	}
}

void access_reach(struct lint *lint)
{
	const struct program *p = &lint->program;
	struct accesses *a = &lint->accesses;
	struct vec_u32 waiting = {0};

	for (uint32_t v = 1; v < p->values_count; v++)
		pointsto_cell(&lint->pt, v);
	a->nodes = shape_count(lint->pt.shape);
	a->node_shared = mem_zalloc(a->nodes, sizeof(*a->node_shared));
	a->node_own = mem_zalloc(a->nodes, sizeof(*a->node_own));
	for (uint32_t g = 1; g < p->globals_count; g++)
		if (is_plain_global(p, g))
			reach_from(lint, pointsto_cell(&lint->pt, p->globals[g].value), &waiting);
	/* Whoever calls a library may share what it hands in. */
	for (uint32_t r = 0; lint->threads.is_library && r < lint->threads.at[0].roots.count; r++) {
		const struct program_function *f = &p->functions[lint->threads.at[0].roots.at[r]];

		for (uint32_t i = 0; i < f->parameter_count; i++)
			reach_from(lint, pointsto_cell(&lint->pt, f->parameter + i), &waiting);
	}
	for (uint32_t t = 1; t < lint->threads.count; t++)
		if (!lint->threads.at[t].owns_argument && lint->threads.at[t].argument)
			reach_from(lint, pointsto_cell(&lint->pt, lint->threads.at[t].argument), &waiting);
	reach_all(lint, &waiting);
	/* What only a thread's own argument leads to: the argument is its own, what it points to is not. */
	for (uint32_t t = 1; t < lint->threads.count; t++) {
		uint32_t node = pointsto_cell(&lint->pt, lint->threads.at[t].argument).node;

		if (!lint->threads.at[t].owns_argument || !node || node >= a->nodes)
			continue;
		if (!a->node_shared[node])
			a->node_own[node] = true;
		reach_from(lint, pointsto_cell(&lint->pt, lint->threads.at[t].argument), &waiting);
	}
	/* std::thread keeps the argument in its state, which the start function gets. */
	for (uint32_t t = 1; t < lint->threads.count; t++)
		for (uint32_t r = 0; r < lint->threads.at[t].roots.count; r++) {
			const struct program_function *f = &p->functions[lint->threads.at[t].roots.at[r]];

			for (uint32_t i = 0; i < f->parameter_count; i++)
				reach_from(lint, pointsto_cell(&lint->pt, f->parameter + i), &waiting);
		}
	reach_all(lint, &waiting);
	vec_free(&waiting);
}

bool access_node_shared(const struct lint *lint, uint32_t node)
{
	return node < lint->accesses.nodes && lint->accesses.node_shared[node];
}

/* ---- names ---- */

/* An object that tells what a node is. */
struct telling {
	uint32_t object; /* 0: there is none */
	bool sure;       /* there is no other */
};

struct naming {
	struct map by_key; /* node and text -> variable */
	struct map by_node;
	struct map told;    /* node -> its place in telling + 1 */
	struct map globals; /* node and a global's name -> object */
	VEC(struct telling) telling;
};

static uint64_t key_of(uint32_t node, const char *name)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ node;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 0x100000001b3ull;
	return hash ? hash : 1;
}

static const char *global_name(const struct lint *lint, uint32_t object)
{
	const struct program *p = &lint->program;

	return program_text(p, p->globals[lint->pt.objects.at[object].index].name);
}

/* All objects of a node are looked at once, however many accesses ask: there may be thousands of both. */
static uint32_t tell(struct lint *lint, struct naming *naming, uint32_t node)
{
	struct telling found = {0};
	uint32_t cookie, count = 0;
	int best = 0;

	for (uint32_t o = shape_first(lint->pt.shape, node, &cookie); o;
	     o = shape_next(lint->pt.shape, &cookie)) {
		const struct object *object = &lint->pt.objects.at[o];
		bool global = object->kind == OBJECT_GLOBAL;
		int worth = 1 + global + (global && is_plain_global(&lint->program, object->index));

		count++;
		if (worth > best) {
			found.object = o;
			best = worth;
		}
		if (!global)
			continue;
		uint64_t key = key_of(node, global_name(lint, o));

		while (map_get(&naming->globals, key))
			key++;
		map_set(&naming->globals, key, o);
	}
	found.sure = count == 1;
	vec_push(&naming->telling, found);
	map_set(&naming->told, node, naming->telling.count);
	return naming->telling.count;
}

/* An object of the node that tells what it is; not sure if there are others, and none has the name. */
static const struct object *telling_object(struct lint *lint, struct naming *naming, uint32_t node,
					   const char *name, bool *sure)
{
	uint32_t told = map_get(&naming->told, node), o;

	if (!told)
		told = tell(lint, naming, node);
	for (uint64_t key = key_of(node, name); *name && (o = map_get(&naming->globals, key)); key++)
		if (shape_find(lint->pt.shape, (struct shape_cell){lint->pt.objects.at[o].node, 0}).node ==
			    node &&
		    !strcmp(global_name(lint, o), name)) {
			*sure = true;
			return &lint->pt.objects.at[o];
		}
	*sure = naming->telling.at[told - 1].sure;
	o = naming->telling.at[told - 1].object;
	return o ? &lint->pt.objects.at[o] : NULL;
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_primitive(const char *type)
{
	static const char *const types[] = {
		"pthread_",         "__pthread",         "mtx_t",         "cnd_t",
		"std::mutex",       "std::__mutex",      "std::thread",   "std::recursive",
		"std::condition",   "std::shared_mutex", "_IO_FILE",      "sem_t",
		"std::unique_lock", "std::lock_guard",   "std::__condvar"};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (starts(type, types[i]))
			return true;
	return false;
}

/* False if it is nothing that could be inconsistent. */
static bool name_variable(struct lint *lint, struct naming *naming, uint32_t node, uint32_t note,
			  struct variable *v, bool *whole)
{
	const struct program *p = &lint->program;
	const struct program_note *n = &p->notes[note];
	const char *type = program_text(p, n->type), *member = program_text(p, n->member);
	const char *base = n->base_kind == ATOMSAN_BASE_GLOBAL ? program_text(p, n->base) : "";
	const struct object *object;
	bool sure;

	*whole = false;
	if (*type) {
		if (is_primitive(type) || strstr(member, "(vptr)"))
			return false;
		v->set = type;
		*whole = !*member;
		v->name = *member ? lint_text(lint, mem_textf("%s.%s", type, member)) : type;
		return true;
	}
	object = telling_object(lint, naming, node, base, &sure);
	if (!object)
		return false;
	v->vague = !sure;
	switch ((enum object_kind)object->kind) {
	case OBJECT_GLOBAL: {
		const struct program_global *g = &p->globals[object->index];

		if (!is_plain_global(p, object->index))
			return false;
		v->name = *base ? base : program_text(p, g->name);
		v->set = lint_text(lint, mem_textf("globals of %s", program_text(p, g->file)));
		return true;
	}
	case OBJECT_HEAP:
	case OBJECT_LOCAL:
		v->name = v->set = lint_text(
			lint,
			mem_textf("block of %s",
				  program_text(p, p->functions[program_function_of(p, object->index)].name)));
		return true;
	default:
		return false;
	}
}

static uint32_t find_variable(struct lint *lint, struct naming *naming, uint32_t node, const char *name,
			      uint64_t *key)
{
	struct accesses *a = &lint->accesses;
	uint32_t number;

	*key = key_of(node, name);
	for (; (number = map_get(&naming->by_key, *key)); ++*key)
		if (a->variables.at[number].node == node &&
		    (!strcmp(a->variables.at[number].name, name) ||
		     (a->variables.at[number].inner && !strcmp(a->variables.at[number].inner, name))))
			return number;
	return 0;
}

static unsigned dots(const char *name)
{
	unsigned n = 0;

	for (; *name; name++)
		n += *name == '.';
	return n;
}

/* Are both of the same struct, or is one of the two names the other with more of the way to it:
 * database.results.count, table.count? */
static bool same_way(const char *a, const char *b)
{
	const char *x = strchr(a, '.'), *y = strchr(b, '.');
	size_t m = x ? strlen(x) : 0, n = y ? strlen(y) : 0;

	if (x && y && x - a == y - b && !strncmp(a, b, (size_t)(x - a)))
		return true;
	if (m == n)
		return !strcmp(a, b);
	return m > n ? !strcmp(x + (m - n), y ? y : "") : !strcmp(y + (n - m), x ? x : "");
}

/*
 * A member is known by the struct that declares it; what that lies in differs
 * with the way to it (database.results.count, table.count), and the longest way
 * gives the name and the set. Accesses that lost the former go by the latter.
 */
static uint32_t variable_of(struct lint *lint, struct naming *naming, uint32_t node, uint32_t note,
			    bool *whole)
{
	struct accesses *a = &lint->accesses;
	const char *inner = program_text(&lint->program, lint->program.notes[note].inner);
	struct variable v = {.node = node};
	uint64_t inner_key = 0, name_key = 0;
	uint32_t number = 0;

	if (!name_variable(lint, naming, node, note, &v, whole))
		return 0;
	if (*inner && !*whole) {
		v.inner = inner;
		number = find_variable(lint, naming, node, inner, &inner_key);
	}
	uint32_t named = find_variable(lint, naming, node, v.name, &name_key);

	if (!number)
		number = named;
	if (!number) {
		number = a->variables.count;
		v.next = map_get(&naming->by_node, (uint64_t)node);
		vec_push(&a->variables, v);
		map_set(&naming->by_node, (uint64_t)node, number);
		named = 0;
	} else {
		/* What lies in different things, and goes by the same pointers, is many things. */
		a->variables.at[number].vague |= !same_way(v.name, a->variables.at[number].name);
		if (dots(v.name) > dots(a->variables.at[number].name)) {
			a->variables.at[number].name = v.name;
			a->variables.at[number].set = v.set;
		}
	}
	if (inner_key && !map_get(&naming->by_key, inner_key)) {
		a->variables.at[number].inner = inner;
		map_set(&naming->by_key, inner_key, number);
	}
	if (!named && !map_get(&naming->by_key, name_key))
		map_set(&naming->by_key, name_key, number);
	return number;
}

/* ---- accesses ---- */

static bool is_quiet(const struct lint *lint, uint32_t inst)
{
	uint64_t by = lint->threads.reach[program_function_of(&lint->program, inst)];

	for (uint32_t t = 0; t < lint->threads.count; t++)
		if (by >> t & 1 && thread_beside(lint, t, inst))
			return false;
	return true;
}

struct collect {
	struct lint *lint;
	struct naming naming;
	struct own *own;
};

static void add_access(struct collect *c, uint32_t inst, uint32_t pointer, uint32_t note, bool write)
{
	struct lint *lint = c->lint;
	struct accesses *a = &lint->accesses;
	uint32_t node = pointsto_cell(&lint->pt, pointer).node;
	const struct program_place *place = &lint->program.places[lint->program.insts[inst].place];
	struct access access = {.inst = inst, .write = write};

	if (!node || !access_node_shared(lint, node) ||
	    lint->program.notes[note].flags & PROGRAM_NOTE_IGNORED ||
	    cxxlib_synchronises(program_text(&lint->program, place->file)))
		return;
	access.variable = variable_of(lint, &c->naming, node, note, &access.whole);
	if (!access.variable)
		return;
	access.fresh = own_at(c->own, inst, pointer);
	access.quiet = is_quiet(lint, inst);
	if (!a->first[inst])
		a->first[inst] = a->at.count;
	vec_push(&a->at, access);
	if (lint->program.insts[inst].flags & PROGRAM_ATOMIC)
		a->variables.at[access.variable].atomic = true;
}

/* To the whole of a struct: to each of its members that anybody names. */
static void spread(struct collect *c)
{
	struct accesses *a = &c->lint->accesses;
	VEC(struct access) all = {0};

	memset(a->first, 0, c->lint->program.insts_count * sizeof(*a->first));
	vec_push(&all, (struct access){0});
	for (uint32_t i = 1; i < a->at.count; i++) {
		struct access access = a->at.at[i];
		const struct variable *v = &a->variables.at[access.variable];

		if (!a->first[access.inst])
			a->first[access.inst] = all.count;
		vec_push(&all, access);
		if (!access.whole)
			continue;
		for (uint32_t n = map_get(&c->naming.by_node, v->node); n; n = a->variables.at[n].next)
			if (n != access.variable && !strcmp(a->variables.at[n].set, v->set)) {
				struct access part = access;

				part.variable = n;
				vec_push(&all, part);
			}
	}
	vec_free(&a->at);
	a->at.at = all.at;
	a->at.count = all.count;
	a->at.room = all.room;
}

void access_build(struct lint *lint)
{
	const struct program *p = &lint->program;
	struct accesses *a = &lint->accesses;
	struct collect c = {.lint = lint, .own = own_new(lint)};
	struct ignore *ignore = ignore_new();

	vec_push(&a->variables, (struct variable){.name = "", .set = ""});
	vec_push(&a->at, (struct access){0});
	a->first = mem_zalloc(p->insts_count, sizeof(*a->first));
	for (uint32_t i = 1; i < p->insts_count; i++) {
		const struct program_inst *inst = &p->insts[i];
		uint32_t f;

		if (inst->op < PROGRAM_LOAD || inst->op > PROGRAM_FILL)
			continue;
		f = program_function_of(p, i);
		if (!lint->threads.reach[f] || p->functions[f].flags & FUNCTION_IGNORED ||
		    ignore_line(ignore, program_text(p, p->functions[f].file), inst->line))
			continue;
		switch ((enum program_op)inst->op) {
		case PROGRAM_LOAD:
			add_access(&c, i, program_operand(p, inst, 0), inst->read, false);
			break;
		case PROGRAM_STORE:
			add_access(&c, i, program_operand(p, inst, 1), inst->write, true);
			break;
		case PROGRAM_UPDATE:
			add_access(&c, i, program_operand(p, inst, 0), inst->read, false);
			add_access(&c, i, program_operand(p, inst, 0), inst->write, true);
			break;
		case PROGRAM_MOVE:
			add_access(&c, i, program_operand(p, inst, 1), inst->read, false);
			add_access(&c, i, program_operand(p, inst, 0), inst->write, true);
			break;
		case PROGRAM_FILL:
			add_access(&c, i, program_operand(p, inst, 0), inst->write, true);
			break;
		default:
			break;
		}
	}
	spread(&c);
	for (uint32_t i = 1; i < a->at.count; i++) {
		struct variable *v = &a->variables.at[a->at.at[i].variable];

		vec_push(a->at.at[i].write ? &v->writes : &v->reads, i);
	}
	ignore_free(ignore);
	map_release(&c.naming.by_key);
	map_release(&c.naming.by_node);
	map_release(&c.naming.told);
	map_release(&c.naming.globals);
	vec_free(&c.naming.telling);
	own_free(c.own);
}

/* What belongs to a set of which something is shared may be used with a stale value, too. */
static void spread_to_sets(struct accesses *a)
{
	struct map shared = {0}; /* sets, by a variable of them */

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t n = 1; n < a->variables.count; n++) {
			struct variable *v = &a->variables.at[n];
			uint64_t key = key_of(0, v->set);
			uint32_t known;

			while ((known = map_get(&shared, key)) &&
			       strcmp(a->variables.at[known].set, v->set) != 0)
				key++;
			if (!pass && v->shared && !known)
				map_set(&shared, key, n);
			v->in_shared_set = known || v->shared;
		}
	map_release(&shared);
}

/* Is there a write that another access of the variable may run beside? */
/* Where a thread is when it accesses a variable, as far as that says who may run at the same time. */
struct standing {
	uint32_t thread, inst;
	uint64_t beside;
	uint32_t phase, only; /* of a team */
};

struct standings {
	VEC(struct standing) at; /* each once */
	struct map known;
};

static void add_standing(struct standings *all, struct standing new)
{
	uint64_t key =
		map_hash(map_hash(new.beside * 64 + new.thread) ^ ((uint64_t)new.phase << 32 | new.only));
	uint32_t found;

	for (; (found = map_get(&all->known, key)); key++) {
		const struct standing *old = &all->at.at[found - 1];

		if (old->thread == new.thread && old->beside == new.beside && old->phase == new.phase &&
		    old->only == new.only)
			return;
	}
	vec_push(&all->at, new);
	map_set(&all->known, key, all->at.count);
}

static void find_standings(const struct lint *lint, const struct vec_u32 *accesses, struct standings *all)
{
	for (uint32_t i = 0; i < accesses->count; i++) {
		const struct access *a = &lint->accesses.at.at[accesses->at[i]];
		uint64_t by = lint->threads.reach[program_function_of(&lint->program, a->inst)];

		lint->effort->steps[EFFORT_ACCESSES]++;
		for (uint32_t t = 0; t < lint->threads.count && !a->fresh && !a->quiet; t++) {
			const struct thread *thread = &lint->threads.at[t];

			if (by >> t & 1)
				add_standing(all,
					     (struct standing){t, a->inst, thread_beside(lint, t, a->inst),
							       thread->phase ? thread->phase[a->inst] : 0,
							       thread->only ? thread->only[a->inst] : 0});
		}
	}
}

/* May somebody write it while another is at one of these places? */
static bool is_written_beside(const struct lint *lint, const struct variable *v, const struct standings *all)
{
	struct lockset none = {0};

	for (uint32_t w = 0; w < v->writes.count; w++) {
		const struct access *write = &lint->accesses.at.at[v->writes.at[w]];

		for (uint32_t i = 0; i < all->at.count && !write->fresh && !write->quiet; i++) {
			lint->effort->steps[EFFORT_ACCESSES]++;
			if (context_interferes(lint, write, all->at.at[i].thread, all->at.at[i].inst, &none))
				return true;
		}
	}
	return false;
}

void access_share(struct lint *lint)
{
	struct accesses *a = &lint->accesses;

	for (uint32_t n = 1; n < a->variables.count; n++) {
		struct variable *v = &a->variables.at[n];
		struct standings all = {.at.count = 0};

		if (!v->writes.count)
			continue;
		find_standings(lint, &v->reads, &all);
		find_standings(lint, &v->writes, &all);
		v->shared = is_written_beside(lint, v, &all);
		vec_free(&all.at);
		map_release(&all.known);
	}
	spread_to_sets(a);
}

const struct access *access_at(const struct lint *lint, uint32_t inst, uint32_t *count)
{
	const struct accesses *a = &lint->accesses;
	uint32_t first = a->first[inst];

	*count = 0;
	if (!first)
		return NULL;
	while (first + *count < a->at.count && a->at.at[first + *count].inst == inst)
		(*count)++;
	return &a->at.at[first];
}

void access_release(struct lint *lint)
{
	struct accesses *a = &lint->accesses;

	for (uint32_t i = 0; i < a->variables.count; i++) {
		vec_free(&a->variables.at[i].reads);
		vec_free(&a->variables.at[i].writes);
	}
	vec_free(&a->variables);
	vec_free(&a->at);
	free(a->first);
	free(a->node_shared);
	free(a->node_own);
}

/* The first that lies at an instruction or behind it: they are in the program's order. */
static uint32_t first_from(const struct lint *lint, const struct vec_u32 *all, uint32_t inst)
{
	uint32_t low = 0, high = all->count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (lint->accesses.at.at[all->at[middle]].inst < inst)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const uint32_t *access_within(const struct lint *lint, const struct vec_u32 *all, uint32_t function,
			      uint32_t *count)
{
	const struct program *p = &lint->program;
	const struct program_function *f = &p->functions[function];
	uint32_t first, end;

	*count = 0;
	if (!f->block_count)
		return NULL;
	const struct program_block *last = &p->blocks[f->block + f->block_count - 1];

	first = first_from(lint, all, p->blocks[f->block].inst);
	end = first_from(lint, all, last->inst + last->inst_count);
	*count = end - first;
	return all->at + first;
}
