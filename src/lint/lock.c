/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which locks there are, what they are called, and whether two threads can take the same. */
#include <string.h>

#include "lint/lint.h"
#include "lint/lockstate.h"

/* The lock that OpenMP's compiler makes for a critical section. */
static const char critical[] = ".gomp_critical_user_";

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static const char *critical_name(struct lint *lint, const char *name)
{
	size_t length = strcspn(name + strlen(critical), ".");

	return length ? lint_text(lint, mem_textf("critical(%.*s)", (int)length, name + strlen(critical)))
		      : "critical";
}

/*
 * The variable that the lock is. NULL if there is none, or if one node stands for
 * several: locks that are only known by pointers are all one to the points-to
 * analysis, together with whatever else those may point to, and a wrong name is
 * worse than none.
 */
static const char *global_name(struct lint *lint, struct shape_cell cell)
{
	const struct program *p = &lint->program;
	const char *name = NULL;
	uint32_t cookie;

	for (uint32_t o = shape_first(lint->pt.shape, cell.node, &cookie); o;
	     o = shape_next(lint->pt.shape, &cookie)) {
		const struct object *object = &lint->pt.objects.at[o];
		const struct program_global *global;

		if (object->kind != OBJECT_GLOBAL)
			continue;
		global = &p->globals[object->index];
		/* The compiler's own tables are no locks, either. */
		if ((global->flags & GLOBAL_CONSTANT) || starts(program_text(p, global->name), "_ZT"))
			continue;
		if (name)
			return NULL;
		name = program_text(p, global->name);
	}
	return name;
}

static const char *lock_name(struct lint *lint, uint32_t note, struct shape_cell cell)
{
	const struct program *p = &lint->program;
	const struct program_note *n = &p->notes[note];
	const char *type = program_text(p, n->type), *member = program_text(p, n->member);
	const char *name;

	/* What begins so is the C library's own: the lock is the whole, and not in a struct. */
	if (*type && *member && strncmp(member, "__", 2) != 0)
		return lint_text(lint, mem_textf("%s.%s", type, member));
	name = global_name(lint, cell);
	if (name)
		return starts(name, critical) ? critical_name(lint, name) : name;
	if (starts(program_text(p, n->base), critical))
		return critical_name(lint, program_text(p, n->base));
	if (*program_text(p, n->base))
		return program_text(p, n->base);
	if (!*type)
		return "a lock";
	return lint_text(lint, mem_textf(strncmp(member, "__", 2) != 0 ? "lock of %s" : "a %s", type));
}

static uint32_t lock_at(struct lint *lint, struct shape_cell cell, uint32_t note)
{
	struct regions *r = &lint->regions;
	bool flat;
	const char *name;
	uint64_t key;
	uint32_t i, last;

	cell = shape_find(lint->pt.shape, cell);
	if (!cell.node)
		return 0;
	flat = shape_is_flat(lint->pt.shape, cell.node);
	name = lock_name(lint, note, cell);
	key = map_hash(cell.node) ^ (uint64_t)cell.at;
	for (last = i = map_get(&r->lock_at, key); i; i = r->locks.at[i].next)
		if (r->locks.at[i].cell.node == cell.node && r->locks.at[i].cell.at == cell.at &&
		    (!flat || !strcmp(r->locks.at[i].name, name)))
			return i;
	vec_push(&r->locks, (struct lock){.cell = cell, .name = name, .next = last});
	map_set(&r->lock_at, key, r->locks.count - 1);
	return r->locks.count - 1;
}

uint32_t lock_of(struct lint *lint, uint32_t inst, const struct known *known)
{
	const struct program_inst *i = &lint->program.insts[inst];
	uint32_t found = map_get(&lint->regions.lock_of, inst);
	struct shape_cell cell;

	if (found)
		return found - 1;
	if (known->a >= (int)i->operand_count)
		return 0;
	cell = pointsto_cell(&lint->pt, program_operand(&lint->program, i, (uint32_t)known->a));
	if (known->kind == KNOWN_WAIT_CXX)
		cell = shape_peek(lint->pt.shape, cell);
	found = lock_at(lint, cell, i->read);
	map_set(&lint->regions.lock_of, inst, found + 1);
	return found;
}

/* Locks by the node that they lie in, and the element of an array around each, if there is one. */
struct elements {
	struct map by_node; /* node -> a lock in it */
	uint32_t *next;     /* by lock: another one there */
	int64_t *from, *to; /* by lock */
	bool *holds_data;   /* by lock: the element is more than the lock */
};

static void find_ranges(struct lint *lint, struct elements *e)
{
	const struct program *p = &lint->program;

	for (uint32_t i = 1; i < p->insts_count; i++) {
		const struct program_inst *inst = &p->insts[i];
		struct shape_cell cell;

		if (inst->op != PROGRAM_OFFSET || !(inst->flags & PROGRAM_ARRAY) || !inst->value)
			continue;
		cell = shape_find(lint->pt.shape, pointsto_cell(&lint->pt, inst->value));
		for (uint32_t n = cell.node ? map_get(&e->by_node, cell.node) : 0; n; n = e->next[n]) {
			int64_t at = shape_find(lint->pt.shape, lint->regions.locks.at[n].cell).at;

			if (at < cell.at || at >= cell.at + inst->size)
				continue;
			e->from[n] = !e->to[n] || cell.at < e->from[n] ? cell.at : e->from[n];
			e->to[n] = cell.at + inst->size > e->to[n] ? cell.at + inst->size : e->to[n];
		}
	}
}

/* Locks that are members of the elements of an array: each guards its element. Where the elements are locks
 * and nothing else, which of them is for what is not known. */
static void find_elements(struct lint *lint, struct elements *e)
{
	const struct program *p = &lint->program;
	const uint32_t count = lint->regions.locks.count;

	e->next = mem_zalloc(count + 1ull, sizeof(*e->next));
	e->from = mem_zalloc(count + 1ull, sizeof(*e->from));
	e->to = mem_zalloc(count + 1ull, sizeof(*e->to));
	e->holds_data = mem_zalloc(count + 1ull, sizeof(*e->holds_data));
	for (uint32_t i = 1; i < count; i++) {
		uint32_t node = shape_find(lint->pt.shape, lint->regions.locks.at[i].cell).node;

		e->next[i] = map_get(&e->by_node, node);
		map_set(&e->by_node, node, i);
	}
	find_ranges(lint, e);
	for (uint32_t i = 1; i < p->insts_count; i++) {
		const struct program_inst *inst = &p->insts[i];
		struct shape_cell cell;

		if (inst->op != PROGRAM_LOAD && inst->op != PROGRAM_STORE)
			continue;
		cell = shape_find(
			lint->pt.shape,
			pointsto_cell(&lint->pt, program_operand(p, inst, inst->op == PROGRAM_STORE)));
		for (uint32_t n = cell.node ? map_get(&e->by_node, cell.node) : 0; n; n = e->next[n])
			e->holds_data[n] |= cell.at >= e->from[n] && cell.at < e->to[n];
	}
}

/* By lock: the threads that may take it. The caller frees it. */
static uint64_t *find_takers(struct lint *lint)
{
	uint64_t *takers = mem_zalloc(lint->regions.locks.count + 1ull, sizeof(*takers));

	for (uint32_t i = 1; i < lint->program.insts_count; i++) {
		uint32_t lock = map_get(&lint->regions.lock_of, i);

		if (lock)
			takers[lock - 1] |= lint->threads.reach[program_function_of(&lint->program, i)];
	}
	return takers;
}

/* A thread's own argument is also known to who made the thread. */
static bool is_taken_by_maker(const struct lint *lint, uint64_t takers)
{
	for (uint32_t t = 0; t < lint->threads.count; t++)
		if (takers >> t & 1 && takers & lint->threads.at[t].descendants & ~(1ull << t))
			return true;
	return false;
}

void lock_find_private(struct lint *lint)
{
	struct elements elements = {.next = NULL};
	uint64_t *takers = find_takers(lint);

	find_elements(lint, &elements);
	for (uint32_t i = 1; i < lint->regions.locks.count; i++) {
		struct lock *lock = &lint->regions.locks.at[i];
		struct shape_cell cell = shape_find(lint->pt.shape, lock->cell);
		uint32_t cookie, objects = 0, own = 0;

		for (uint32_t o = shape_first(lint->pt.shape, cell.node, &cookie); o;
		     o = shape_next(lint->pt.shape, &cookie)) {
			const struct object *object = &lint->pt.objects.at[o];

			objects++;
			own += object->kind == OBJECT_LOCAL || object->kind == OBJECT_HEAP;
		}
		/* One global that is no array of things: the lock and not a lock of the kind. */
		lock->is_one = objects == 1 && !own && shape_first(lint->pt.shape, cell.node, &cookie) &&
			       !elements.holds_data[i] && !shape_is_flat(lint->pt.shape, cell.node);
		lock->is_private =
			objects && own == objects &&
			(!access_node_shared(lint, cell.node) ||
			 (lint->accesses.node_own[cell.node] && !is_taken_by_maker(lint, takers[i])));
	}
	free(takers);
	map_release(&elements.by_node);
	free(elements.next);
	free(elements.from);
	free(elements.to);
	free(elements.holds_data);
}
