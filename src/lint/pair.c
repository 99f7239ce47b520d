/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/pair.h"

#include "lint/flow.h"

static bool given_up(const struct lock_state *s, uint32_t lock)
{
	for (uint32_t n = 0; n < s->given_up_count; n++)
		if (s->given_up[n] == lock)
			return true;
	return false;
}

uint32_t pair_base(const struct program *p, uint32_t value)
{
	for (int depth = 0; depth < 32; depth++) {
		uint32_t maker = program_maker(p, value);
		const struct program_inst *inst = &p->insts[maker];

		if (p->values[value].kind == VALUE_PLACE) {
			value = p->values[value].index;
			continue;
		}
		if (!maker ||
		    (inst->op != PROGRAM_OFFSET && (inst->op != PROGRAM_COPY || inst->operand_count != 1)))
			break;
		value = program_operand(p, inst, 0);
	}
	return value;
}

/* The object that an access or a call is about: its address, its first argument that is a pointer. */
static uint32_t object_of(const struct lint *lint, uint32_t inst)
{
	const struct program *p = &lint->program;
	const struct program_inst *i = &p->insts[inst];

	switch ((enum program_op)i->op) {
	case PROGRAM_LOAD:
	case PROGRAM_UPDATE:
	case PROGRAM_MOVE:
	case PROGRAM_FILL:
		return pair_base(p, program_operand(p, i, 0));
	case PROGRAM_STORE:
		return pair_base(p, program_operand(p, i, 1));
	case PROGRAM_CALL: {
		const struct program_function *f = &p->functions[i->callee];

		if (!i->callee || f->receiver_index >= program_argument_count(i))
			return 0;
		return pair_base(p, program_operand(p, i, f->receiver_index));
	}
	default:
		return 0;
	}
}

/* Two loads of the same global or member are the same object, unless somebody changes it. */
static bool same_value(const struct lint *lint, uint32_t a, uint32_t b, int depth)
{
	const struct program *p = &lint->program;
	uint32_t x = program_maker(p, a), y = program_maker(p, b);

	if (a == b)
		return true;
	if (!x || !y || depth > 4 || p->insts[x].op != PROGRAM_LOAD || p->insts[y].op != PROGRAM_LOAD)
		return false;
	uint32_t from = program_operand(p, &p->insts[x], 0), other = program_operand(p, &p->insts[y], 0);
	uint32_t i = program_maker(p, from), k = program_maker(p, other);

	if (from == other)
		return true;
	if (i && k && p->insts[i].op == PROGRAM_OFFSET && p->insts[k].op == PROGRAM_OFFSET)
		return p->insts[i].offset == p->insts[k].offset && p->insts[i].operand_count == 1 &&
		       p->insts[k].operand_count == 1 &&
		       same_value(lint, program_operand(p, &p->insts[i], 0),
				  program_operand(p, &p->insts[k], 0), depth + 1);
	return false;
}

/* A lock of the kind that each object has, taken from another object than the one at hand. */
static bool of_another(const struct lint *lint, const struct held *held, uint32_t inst)
{
	const struct program *p = &lint->program;
	const struct region *r = &lint->regions.regions.at[held->regions[0]];
	const struct known *known = pointsto_known(&lint->pt, &p->insts[r->inst]);
	uint32_t object, mine;

	if (lint->regions.locks.at[held->lock].is_one || !known || known->kind == KNOWN_WAIT_CXX)
		return false;
	object = object_of(lint, inst);
	mine = pair_base(p, program_operand(p, &p->insts[r->inst], (uint32_t)known->a));
	return object && mine && !same_value(lint, object, mine, 0);
}

struct lockset pair_held(const struct lint *lint, uint32_t function, uint32_t a, uint32_t b, bool left)
{
	const struct lock_state *x = region_state(lint, a), *y = region_state(lint, b);
	uint32_t always = lint->contexts.always[function];
	struct lockset held = {0};

	if (always != UINT32_MAX)
		for (uint32_t i = 0; i < lint->contexts.locksets.at[always].count; i++) {
			uint32_t lock = lint->contexts.locksets.at[always].locks[i];

			if (!given_up(x, lock) && !given_up(y, lock) && held.count < STATE_LOCKS)
				held.locks[held.count++] = lock;
		}
	if (left)
		return held;
	for (uint32_t i = 0; i < x->held_count; i++)
		for (uint32_t n = 0; n < y->held_count; n++) {
			bool same = x->held[i].lock == y->held[n].lock &&
				    !lint->regions.locks.at[x->held[i].lock].is_private &&
				    !of_another(lint, &x->held[i], a);

			/* The second may lie in a later region of the same lock, behind a wait. */
			for (uint32_t r = 0; same && r < y->held[n].region_count; r++) {
				bool found = false;

				for (uint32_t q = 0; q < x->held[i].region_count; q++)
					found |= x->held[i].regions[q] == y->held[n].regions[r];
				same = found;
			}
			if (same && held.count < STATE_LOCKS) {
				held.shared |= (uint32_t)(x->held[i].shared || y->held[n].shared)
					       << held.count;
				held.locks[held.count++] = x->held[i].lock;
			}
		}
	return held;
}

bool pair_in_scope(const struct lint *lint, uint32_t inst, uint32_t function)
{
	return callgraph_below(lint, function, program_function_of(&lint->program, inst));
}

bool pair_is_root(const struct lint *lint, uint32_t function)
{
	for (uint32_t t = 0; t < lint->threads.count && !lint->threads.is_library; t++)
		if (vec_has(&lint->threads.at[t].roots, function))
			return true;
	return false;
}

int pair_same_object(const struct lint *lint, uint32_t a, uint32_t b)
{
	uint32_t x = object_of(lint, a), y = object_of(lint, b);

	if (!x || !y)
		return 0;
	return same_value(lint, x, y, 0) ? 1 : -1;
}

bool pair_reaches(const struct lint *lint, uint32_t a, uint32_t b)
{
	const struct program *p = &lint->program;
	const struct cfg *c = &lint->cfgs[program_function_of(p, a)];
	uint32_t x = lint_block(lint, a), y = lint_block(lint, b);
	struct vec_u32 waiting = {0};
	bool *seen, found = false;

	if (x == y && a < b)
		return true;
	seen = mem_zalloc(c->count, 1);
	vec_push(&waiting, x);
	while (waiting.count && !found) {
		uint32_t block = waiting.at[--waiting.count];

		for (uint32_t e = c->edge_first[block]; e < c->edge_first[block + 1]; e++) {
			uint32_t to = c->edges[e];

			found |= to == y;
			if (!seen[to]) {
				seen[to] = true;
				vec_push(&waiting, to);
			}
		}
	}
	vec_free(&waiting);
	free(seen);
	return found;
}

/* Whether the lock is held where the region begins, by the region itself or around it. */
static bool held_at(const struct lint *lint, uint32_t region, uint32_t lock)
{
	const struct region *r = &lint->regions.regions.at[region];
	uint32_t always = lint->contexts.always[r->function];
	const struct lock_state *s = region_state(lint, r->inst);

	if (r->lock == lock)
		return true;
	for (uint32_t i = 0; i < s->held_count; i++)
		if (s->held[i].lock == lock)
			return true;
	for (uint32_t i = 0; always != UINT32_MAX && i < lint->contexts.locksets.at[always].count; i++)
		if (lint->contexts.locksets.at[always].locks[i] == lock && !given_up(s, lock))
			return true;
	return false;
}

bool pair_same_lock(const struct lint *lint, uint32_t first, uint32_t second)
{
	const struct regions *r = &lint->regions;
	uint32_t a = r->regions.at[first].lock, b = r->regions.at[second].lock;

	/* A caller's, which is not known; and atomic operations are no lock that others could take. */
	if (!first || !second || (!a && !b))
		return true;
	if (!a || !b)
		return false;
	return held_at(lint, first, b) || held_at(lint, second, a);
}

bool pair_is_job(const struct lint *lint, uint32_t inst, uint32_t other)
{
	const struct program *p = &lint->program;
	const struct program_inst *call = &p->insts[inst];
	uint32_t maker;

	if (call->op != PROGRAM_CALL || call->callee || !call->operand_count)
		return false;
	maker = program_maker(p, program_operand(p, call, call->operand_count - 1));
	for (int depth = 0; depth < 4 && maker && p->insts[maker].op == PROGRAM_COPY; depth++)
		maker = program_maker(p, program_operand(p, &p->insts[maker], 0));
	if (!maker || p->insts[maker].op != PROGRAM_LOAD)
		return false;
	return flow_same_regions(lint, maker, other) ||
	       pair_base(p, program_operand(p, &p->insts[maker], 0)) == object_of(lint, other);
}
