/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What one instruction, or one way out of a block, does to what is held. */
#include <string.h>

#include "lint/lockstate.h"

uint32_t lockstep_region(struct lint *lint, uint32_t inst, uint32_t lock, bool shared, bool after_wait)
{
	struct regions *r = &lint->regions;

	if (!r->by_inst[inst]) {
		vec_push(&r->regions, (struct region){.inst = inst,
						      .lock = lock,
						      .function = program_function_of(&lint->program, inst),
						      .shared = shared,
						      .after_wait = after_wait});
		r->by_inst[inst] = r->regions.count - 1;
	}
	return r->by_inst[inst];
}

/* ---- states ---- */

/* The region of a lock ends here, and another begins. */
static void begin_again(struct lint *lint, struct lock_state *s, uint32_t lock, uint32_t inst)
{
	struct held *h = lockstate_find(s, lock);
	uint32_t region = lockstep_region(lint, inst, lock, h && h->shared, true);

	if (h) {
		memset(h->regions, 0, sizeof(h->regions));
		h->region_count = 1;
		h->regions[0] = region;
	} else {
		lockstate_give_up(s, lock);
		lockstate_hold(s, lock, false, region);
	}
}

/* ---- trylock: what a condition comes to if the call returned this ---- */

static bool evaluate(const struct program *p, uint32_t value, uint32_t unknown, int64_t is, int depth,
		     int64_t *result)
{
	const struct program_inst *inst;
	int64_t a, b;

	if (value == unknown) {
		*result = is;
		return true;
	}
	if (p->values[value].kind == VALUE_NUMBER) {
		*result = p->values[value].number;
		return true;
	}
	if (depth > 8 || p->values[value].kind != VALUE_RESULT)
		return false;
	inst = &p->insts[p->values[value].index];
	if (inst->op == PROGRAM_COPY && inst->operand_count == 1)
		return evaluate(p, program_operand(p, inst, 0), unknown, is, depth + 1, result);
	if ((inst->op != PROGRAM_COMPARE && inst->op != PROGRAM_COMPUTE) || inst->operand_count != 2 ||
	    !evaluate(p, program_operand(p, inst, 0), unknown, is, depth + 1, &a) ||
	    !evaluate(p, program_operand(p, inst, 1), unknown, is, depth + 1, &b))
		return false;
	switch ((enum program_sub)inst->sub) {
	case SUB_EQUAL:
		*result = a == b;
		return true;
	case SUB_UNEQUAL:
		*result = a != b;
		return true;
	case SUB_XOR:
		*result = a ^ b;
		return true;
	case SUB_AND:
		*result = a & b;
		return true;
	case SUB_OR:
		*result = a | b;
		return true;
	default:
		return false;
	}
}

/* Edge of a branch that is taken if the call got its lock, or -1. Bit 0 of a true value is set. */
int region_success_edge(const struct program *p, uint32_t condition, uint32_t call_value, bool returns_true)
{
	int64_t got, busy;

	if (!evaluate(p, condition, call_value, returns_true, 0, &got) ||
	    !evaluate(p, condition, call_value, returns_true ? 0 : 16, 0, &busy) || (got & 1) == (busy & 1))
		return -1;
	return got & 1 ? 0 : 1;
}

/* ---- one function ---- */

/* Where a pointer may lead to more functions than this, most of them are not called there. */
enum { FEW_TARGETS = 4 };

static bool breaks(const struct lint *lint, uint32_t function, uint32_t lock)
{
	return lockstate_gave_up(&lint->regions.states.at[lint->regions.breaks[function]], lock);
}

/*
 * Locks of the caller that a call gives up for a while; how many. A call through
 * a pointer that may lead to many functions does so only if all of them do: else
 * one that runs an event loop ends the region of whoever calls any function of
 * its type.
 */
uint32_t lockstep_broken_by(const struct lint *lint, uint32_t inst, uint32_t *locks)
{
	uint32_t count, found = 0;
	const struct call_edge *edges = callgraph_at(&lint->calls, inst, &count);
	bool any = lint->program.insts[inst].callee || count <= FEW_TARGETS;

	for (uint32_t e = 0; e < (any ? count : count ? 1 : 0); e++) {
		const struct lock_state *s = &lint->regions.states.at[lint->regions.breaks[edges[e].callee]];

		for (uint32_t i = 0; i < s->given_up_count && found < STATE_LOCKS; i++) {
			uint32_t others = e + 1;
			bool known = false;

			for (uint32_t k = 0; k < found; k++)
				known |= locks[k] == s->given_up[i];
			while (!any && others < count && breaks(lint, edges[others].callee, s->given_up[i]))
				others++;
			if (!known && (any || others == count))
				locks[found++] = s->given_up[i];
		}
	}
	return found;
}

/* Gives a lock back that is held, surely or by a condition that is not asked again. */
static void give_back(struct lint *lint, struct lock_state *s, uint32_t lock)
{
	struct held *h = lockstate_find(s, lock);

	for (uint32_t n = 0; n < s->held_count && !h; n++)
		if (!strcmp(lint->regions.locks.at[s->held[n].lock].name, lint->regions.locks.at[lock].name))
			h = &s->held[n];
	if (h && h->depth > 1) {
		h->depth--;
		return;
	}
	if (h) {
		lockstate_drop(s, h);
		return;
	}
	for (uint32_t n = 0; n < s->maybe_count; n++)
		if (s->maybes[n].lock == lock) {
			lockstate_drop_maybe(s, n);
			return;
		}
	lockstate_give_up(s, lock);
}

/* Does the function itself take a lock by this name for it? */
static bool takes(const struct lint *lint, uint32_t function, uint32_t value)
{
	const struct program *p = &lint->program;
	const struct program_function *f = &p->functions[function];

	for (uint32_t b = f->block; b < f->block + f->block_count; b++)
		for (uint32_t i = p->blocks[b].inst; i < p->blocks[b].inst + p->blocks[b].inst_count; i++) {
			const struct known *known = pointsto_known(&lint->pt, &p->insts[i]);

			if (known && known->kind >= KNOWN_LOCK && known->kind <= KNOWN_TRY_SHARED &&
			    program_operand(p, &p->insts[i], (uint32_t)known->a) == value)
				return true;
		}
	return false;
}

/*
 * What is given back is one of several locks, or none, that the function took
 * itself, and it remembers which in a way that we do not follow. It is no lock of
 * its caller, then.
 */
static bool took_it(const struct lint *lint, uint32_t inst, uint32_t value)
{
	enum { MOST_NAMES = 32 };
	const struct program *p = &lint->program;
	struct vec_u32 names = {0};
	bool all = true, any = false;

	vec_push(&names, value);
	for (uint32_t n = 0; n < names.count && all; n++) {
		const struct program_inst *maker = &p->insts[program_maker(p, names.at[n])];
		uint32_t count = maker->op == PROGRAM_PHI    ? maker->operand_count / 2
				 : maker->op == PROGRAM_COPY ? maker->operand_count
							     : 0;

		for (uint32_t i = 0; i < count; i++)
			vec_add(&names, program_operand(p, maker, i));
		if (!count && p->values[names.at[n]].kind != VALUE_NUMBER) {
			all = n && takes(lint, program_function_of(p, inst), names.at[n]);
			any = true;
		}
		all = all && names.count < MOST_NAMES;
	}
	vec_free(&names);
	return all && any;
}

static void step_known(struct lint *lint, struct lock_state *s, uint32_t inst, const struct known *known)
{
	const struct program_inst *i = &lint->program.insts[inst];
	uint32_t lock = lock_of(lint, inst, known);

	if (!lock)
		return;
	switch ((enum known_kind)known->kind) {
	case KNOWN_LOCK:
	case KNOWN_LOCK_SHARED: {
		bool shared = known->kind == KNOWN_LOCK_SHARED;

		lockstate_hold(s, lock, shared,
			       lockstate_find(s, lock) ? 0
						       : lockstep_region(lint, inst, lock, shared, false));
		break;
	}
	case KNOWN_TRY:
	case KNOWN_TRY_SHARED:
		if (i->value)
			lockstate_add_maybe(s, (struct maybe){.lock = lock,
							      .value = i->value,
							      .region = inst,
							      .if_nonzero = known->b == 1,
							      .shared = known->kind == KNOWN_TRY_SHARED});
		break;
	case KNOWN_UNLOCK: {
		uint32_t before = s->given_up_count;
		struct lock_state was = *s;

		give_back(lint, s, lock);
		if (s->given_up_count != before &&
		    took_it(lint, inst, program_operand(&lint->program, i, (uint32_t)known->a)))
			*s = was;
		break;
	}
	case KNOWN_WAIT:
	case KNOWN_WAIT_CXX:
		begin_again(lint, s, lock, inst);
		break;
	default:
		break;
	}
}

/* Does nothing at all: what stands where locks are turned off. */
static bool is_empty(const struct program *p, uint32_t function)
{
	const struct program_function *f = &p->functions[function];

	return f->block_count == 1 && p->blocks[f->block].inst_count == 1;
}

/* What holds of all functions that a call may lead to, but for those that do nothing: a pointer that leads to
 * one that takes a lock, or to none, was put there to take it. */
static struct leaves leaves_of(const struct lint *lint, const struct call_edge *edges, uint32_t count)
{
	struct leaves all = {0};
	bool first = true;

	for (uint32_t e = 0; e < count; e++) {
		const struct leaves *one = &lint->regions.leaves[edges[e].callee];

		if (count > 1 && is_empty(&lint->program, edges[e].callee))
			continue;
		if (!first && (one->lock != all.lock || one->when != all.when))
			return (struct leaves){0};
		all = *one;
		first = false;
	}
	return all;
}

static bool all_end(const struct lint *lint, const struct call_edge *edges, uint32_t count, uint32_t lock)
{
	for (uint32_t e = 0; e < count; e++)
		if (!(count > 1 && is_empty(&lint->program, edges[e].callee)) &&
		    !lockstate_gave_up(&lint->regions.states.at[lint->regions.ends[edges[e].callee]], lock))
			return false;
	return count != 0;
}

/* A function that the program has: what it gives back, gives up for a while, and returns with. */
static void step_call(struct lint *lint, struct lock_state *s, uint32_t inst)
{
	const struct program_inst *i = &lint->program.insts[inst];
	uint32_t locks[STATE_LOCKS], count = lockstep_broken_by(lint, inst, locks), edge_count;
	const struct call_edge *edges = callgraph_at(&lint->calls, inst, &edge_count);
	struct leaves leaves = leaves_of(lint, edges, edge_count);

	for (uint32_t k = 0; k < count; k++) {
		if (all_end(lint, edges, edge_count, locks[k]))
			give_back(lint, s, locks[k]);
		else
			begin_again(lint, s, locks[k], inst);
	}
	/* Nobody ever gives it back elsewhere: it is rather that its giving back was not recognised. */
	if (leaves.when == LEAVES_NEVER || !lint->regions.locks.at[leaves.lock].given_back)
		return;
	if (leaves.when == LEAVES_ALWAYS)
		lockstate_hold(s, leaves.lock, leaves.shared,
			       lockstate_find(s, leaves.lock)
				       ? 0
				       : lockstep_region(lint, inst, leaves.lock, leaves.shared, false));
	else if (i->value)
		lockstate_add_maybe(s, (struct maybe){.lock = leaves.lock,
						      .value = i->value,
						      .region = inst,
						      .if_nonzero = leaves.when == LEAVES_IF_NONZERO,
						      .shared = leaves.shared});
}

void lockstep(struct lint *lint, struct lock_state *s, uint32_t inst)
{
	const struct program_inst *i = &lint->program.insts[inst];
	const struct known *known = pointsto_known(&lint->pt, i);

	if (i->op != PROGRAM_CALL)
		return;
	if (known && known->kind >= KNOWN_LOCK && known->kind <= KNOWN_WAIT_CXX)
		step_known(lint, s, inst, known);
	else
		step_call(lint, s, inst);
}

/* Along an edge it is known whether what was tried is held. */
void lockstep_edge(struct lint *lint, struct lock_state *s, uint32_t end, uint32_t edge)
{
	const struct program *p = &lint->program;

	if (p->insts[end].op != PROGRAM_BRANCH)
		return;
	for (uint32_t n = s->maybe_count; n-- > 0;) {
		struct maybe m = s->maybes[n];
		int success =
			region_success_edge(p, program_operand(p, &p->insts[end], 0), m.value, m.if_nonzero);

		if (success < 0)
			continue;
		lockstate_drop_maybe(s, n);
		if (success == (int)edge && !lockstate_find(s, m.lock))
			lockstate_hold(s, m.lock, m.shared,
				       lockstep_region(lint, m.region, m.lock, m.shared, false));
	}
}
