/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Accesses to memory that several threads can reach, and the variables that they are of.
 *
 * Left out is what cannot interfere: memory that never leaves its thread,
 * constants, primitives, objects that are still being made, and accesses that
 * happen while no other thread runs.
 */
#include <string.h>

#include "base/cxxlib.h"
#include "lint/ignore.h"
#include "lint/lint.h"
#include "lint/own.h"
#include "lint/variable.h"

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
	variable_release(&c.naming);
	own_free(c.own);
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
