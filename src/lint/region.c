/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Locks and critical regions. Within a function, what is held at an instruction
 * is what is held on every way to it; which region that is may depend on the
 * way (a lock taken before a loop, or again by a wait inside it). A wait ends
 * the region of its lock and begins another, also under `if`. A lock that was
 * only tried is held where the result said so.
 *
 * Wrappers were inlined by atomsan-lower, so what is left is balanced, but for
 * functions that give up a lock of their caller for a while: there the caller's
 * region ends and another begins.
 */
#include <string.h>

#include "lint/lint.h"

/* ---- locks ---- */

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

static const char *lock_name(struct lint *lint, uint32_t note, struct shape_cell cell)
{
	const struct program *p = &lint->program;
	const struct program_note *n = &p->notes[note];
	const char *type = program_text(p, n->type), *member = program_text(p, n->member);
	uint32_t cookie;

	/* What begins so is the C library's own: the lock is the whole, and not in a struct. */
	if (*type && *member && strncmp(member, "__", 2) != 0)
		return lint_text(lint, mem_textf("%s.%s", type, member));
	for (uint32_t o = shape_first(lint->pt.shape, cell.node, &cookie); o;
	     o = shape_next(lint->pt.shape, &cookie))
		if (lint->pt.objects.at[o].kind == OBJECT_GLOBAL) {
			const char *name = program_text(p, p->globals[lint->pt.objects.at[o].index].name);

			return starts(name, critical) ? critical_name(lint, name) : name;
		}
	if (starts(program_text(p, n->base), critical))
		return critical_name(lint, program_text(p, n->base));
	if (*program_text(p, n->base))
		return program_text(p, n->base);
	return *type ? lint_text(lint, mem_textf("lock of %s", type)) : "a lock";
}

static uint32_t lock_at(struct lint *lint, struct shape_cell cell, uint32_t note)
{
	struct regions *r = &lint->regions;
	bool flat;
	const char *name;

	cell = shape_find(lint->pt.shape, cell);
	if (!cell.node)
		return 0;
	flat = shape_is_flat(lint->pt.shape, cell.node);
	name = lock_name(lint, note, cell);
	for (uint32_t i = 1; i < r->locks.count; i++)
		if (r->locks.at[i].cell.node == cell.node && r->locks.at[i].cell.at == cell.at &&
		    (!flat || !strcmp(r->locks.at[i].name, name)))
			return i;
	vec_push(&r->locks, (struct lock){.cell = cell, .name = name});
	return r->locks.count - 1;
}

static uint32_t lock_of(struct lint *lint, uint32_t inst, const struct known *known)
{
	const struct program_inst *i = &lint->program.insts[inst];
	struct shape_cell cell;

	if (known->a >= (int)i->operand_count)
		return 0;
	cell = pointsto_cell(&lint->pt, program_operand(&lint->program, i, (uint32_t)known->a));
	if (known->kind == KNOWN_WAIT_CXX)
		cell = shape_peek(lint->pt.shape, cell);
	return lock_at(lint, cell, i->read);
}

static uint32_t region_at(struct lint *lint, uint32_t inst, uint32_t lock, bool shared, bool after_wait)
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

static struct held *find_held(struct lock_state *s, uint32_t lock)
{
	for (uint32_t i = 0; i < s->held_count; i++)
		if (s->held[i].lock == lock)
			return &s->held[i];
	return NULL;
}

static void drop_held(struct lock_state *s, struct held *h)
{
	struct held *end = &s->held[--s->held_count];

	memmove(h, h + 1, (size_t)(end - h) * sizeof(*h));
	memset(end, 0, sizeof(*end));
}

static void hold(struct lock_state *s, uint32_t lock, bool shared, uint32_t region)
{
	struct held *h = find_held(s, lock);

	if (h) {
		h->depth += h->depth < UINT8_MAX;
		return;
	}
	if (s->held_count == STATE_LOCKS)
		return;
	/* In the order of their numbers, so that equal states look the same. */
	uint32_t at = 0;

	while (at < s->held_count && s->held[at].lock < lock)
		at++;
	memmove(&s->held[at + 1], &s->held[at], (s->held_count - at) * sizeof(*s->held));
	memset(&s->held[at], 0, sizeof(*s->held));
	s->held[at].lock = lock;
	s->held[at].shared = shared;
	s->held[at].depth = 1;
	s->held[at].region_count = 1;
	s->held[at].regions[0] = region;
	s->held_count++;
}

static void give_up(struct lock_state *s, uint32_t lock)
{
	for (uint32_t i = 0; i < s->given_up_count; i++)
		if (s->given_up[i] == lock)
			return;
	if (s->given_up_count == STATE_LOCKS)
		return;
	uint32_t at = s->given_up_count++;

	for (; at && s->given_up[at - 1] > lock; at--)
		s->given_up[at] = s->given_up[at - 1];
	s->given_up[at] = lock;
}

/* The region of a lock ends here, and another begins. */
static void begin_again(struct lint *lint, struct lock_state *s, uint32_t lock, uint32_t inst)
{
	struct held *h = find_held(s, lock);
	uint32_t region = region_at(lint, inst, lock, h && h->shared, true);

	if (h) {
		memset(h->regions, 0, sizeof(h->regions));
		h->region_count = 1;
		h->regions[0] = region;
	} else {
		give_up(s, lock);
		hold(s, lock, false, region);
	}
}

static uint32_t intern(struct lint *lint, const struct lock_state *s)
{
	struct regions *r = &lint->regions;

	if (!s->held_count && !s->given_up_count)
		return 0;
	const unsigned char *bytes = (const unsigned char *)s;
	uint64_t key = 0xcbf29ce484222325ull;
	uint32_t found;

	for (size_t i = 0; i < sizeof(*s); i++)
		key = (key ^ bytes[i]) * 0x100000001b3ull;
	for (; (found = map_get(&r->known, key)); key++)
		if (!memcmp(&r->states.at[found], s, sizeof(*s)))
			return found;
	vec_push(&r->states, *s);
	map_set(&r->known, key, r->states.count - 1);
	return r->states.count - 1;
}

static bool add_region(struct held *h, uint32_t region)
{
	uint32_t at = 0;

	while (at < h->region_count && h->regions[at] < region)
		at++;
	if (at < h->region_count && h->regions[at] == region)
		return false;
	if (h->region_count == STATE_REGIONS)
		return false;
	memmove(&h->regions[at + 1], &h->regions[at], (h->region_count - at) * sizeof(*h->regions));
	h->regions[at] = region;
	h->region_count++;
	return true;
}

/* What holds on both ways. */
static void meet(struct lock_state *into, const struct lock_state *from)
{
	for (uint32_t i = into->held_count; i-- > 0;) {
		struct held *h = &into->held[i];
		const struct held *other = NULL;

		for (uint32_t n = 0; n < from->held_count; n++)
			if (from->held[n].lock == h->lock)
				other = &from->held[n];
		if (!other) {
			drop_held(into, h);
			continue;
		}
		for (uint32_t n = 0; n < other->region_count; n++)
			add_region(h, other->regions[n]);
		h->shared |= other->shared;
		if (other->depth < h->depth)
			h->depth = other->depth;
	}
	for (uint32_t i = 0; i < from->given_up_count; i++)
		give_up(into, from->given_up[i]);
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
	const struct lock_state *s = &lint->regions.states.at[lint->regions.breaks[function]];

	for (uint32_t i = 0; i < s->given_up_count; i++)
		if (s->given_up[i] == lock)
			return true;
	return false;
}

/*
 * Locks of the caller that a call gives up for a while; how many. A call through
 * a pointer that may lead to many functions does so only if all of them do: else
 * one that runs an event loop ends the region of whoever calls any function of
 * its type.
 */
static uint32_t broken_by(const struct lint *lint, uint32_t inst, uint32_t *locks)
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

static void step(struct lint *lint, struct lock_state *s, uint32_t inst)
{
	const struct program *p = &lint->program;
	const struct program_inst *i = &p->insts[inst];
	const struct known *known = pointsto_known(&lint->pt, i);
	uint32_t locks[STATE_LOCKS], count, lock;

	if (i->op != PROGRAM_CALL)
		return;
	if (known && known->kind >= KNOWN_LOCK && known->kind <= KNOWN_WAIT_CXX) {
		lock = lock_of(lint, inst, known);
		struct held *h = lock ? find_held(s, lock) : NULL;

		if (!lock)
			return;
		switch ((enum known_kind)known->kind) {
		case KNOWN_LOCK:
		case KNOWN_LOCK_SHARED: {
			bool shared = known->kind == KNOWN_LOCK_SHARED;

			hold(s, lock, shared, h ? 0 : region_at(lint, inst, lock, shared, false));
			break;
		}
		case KNOWN_UNLOCK:
			for (uint32_t n = 0; n < s->held_count && !h; n++)
				if (!strcmp(lint->regions.locks.at[s->held[n].lock].name,
					    lint->regions.locks.at[lock].name))
					h = &s->held[n];
			if (!h)
				give_up(s, lock);
			else if (h->depth > 1)
				h->depth--;
			else
				drop_held(s, h);
			break;
		case KNOWN_WAIT:
		case KNOWN_WAIT_CXX:
			begin_again(lint, s, lock, inst);
			break;
		default:
			break;
		}
		return;
	}
	count = broken_by(lint, inst, locks);
	for (uint32_t k = 0; k < count; k++)
		begin_again(lint, s, locks[k], inst);
}

/* Locks that were tried, and are held along this edge. */
static void edge_step(struct lint *lint, struct lock_state *s, const struct vec_u32 *tries, uint32_t end,
		      uint32_t edge)
{
	const struct program *p = &lint->program;

	if (p->insts[end].op != PROGRAM_BRANCH)
		return;
	for (uint32_t t = 0; t < tries->count; t++) {
		const struct program_inst *call = &p->insts[tries->at[t]];
		const struct known *known = pointsto_known(&lint->pt, call);
		uint32_t lock;

		if (!call->value || region_success_edge(p, program_operand(p, &p->insts[end], 0), call->value,
							known->b == 1) != (int)edge)
			continue;
		lock = lock_of(lint, tries->at[t], known);
		if (lock && !find_held(s, lock))
			hold(s, lock, known->kind == KNOWN_TRY_SHARED,
			     region_at(lint, tries->at[t], lock, known->kind == KNOWN_TRY_SHARED, false));
	}
}

static bool has_locks(struct lint *lint, uint32_t f, struct vec_u32 *tries)
{
	const struct program *p = &lint->program;
	const struct program_function *function = &p->functions[f];
	bool any = false;

	for (uint32_t b = 0; b < function->block_count; b++) {
		const struct program_block *block = &p->blocks[function->block + b];

		for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++) {
			const struct known *known = pointsto_known(&lint->pt, &p->insts[i]);
			uint32_t locks[STATE_LOCKS];

			if (known && known->kind >= KNOWN_LOCK && known->kind <= KNOWN_WAIT_CXX)
				any = true;
			if (known && (known->kind == KNOWN_TRY || known->kind == KNOWN_TRY_SHARED))
				vec_push(tries, i);
			any = any || broken_by(lint, i, locks);
		}
	}
	return any;
}

static bool analyse(struct lint *lint, uint32_t f)
{
	const struct program *p = &lint->program;
	const struct cfg *c = &lint->cfgs[f];
	uint32_t first = p->functions[f].block;
	struct vec_u32 tries = {0};
	struct lock_state *in;
	bool *known, changed = true, news = false;
	struct lock_state all = {0};

	if (!has_locks(lint, f, &tries)) {
		vec_free(&tries);
		return false;
	}
	in = mem_zalloc(c->count, sizeof(*in));
	known = mem_zalloc(c->count, 1);
	known[0] = true;
	for (int round = 0; changed && round < 50; round++) {
		changed = false;
		for (uint32_t n = 0; n < c->order_count; n++) {
			uint32_t b = c->order[n];
			const struct program_block *block = &p->blocks[first + b];
			struct lock_state s = in[b];
			uint32_t state = 0;

			if (!known[b])
				continue;
			for (uint32_t i = 0; i < block->inst_count; i++) {
				/* Only calls change it. */
				if (!i || p->insts[block->inst + i - 1].op == PROGRAM_CALL)
					state = intern(lint, &s);
				lint->regions.state[block->inst + i] = state;
				step(lint, &s, block->inst + i);
			}
			for (uint32_t i = 0; i < s.given_up_count; i++)
				give_up(&all, s.given_up[i]);
			for (uint32_t e = c->edge_first[b]; e < c->edge_first[b + 1]; e++) {
				struct lock_state to = s;

				if (block->inst_count)
					edge_step(lint, &to, &tries, block->inst + block->inst_count - 1,
						  e - c->edge_first[b]);
				if (!known[c->edges[e]]) {
					known[c->edges[e]] = true;
					in[c->edges[e]] = to;
					changed = true;
				} else {
					struct lock_state met = in[c->edges[e]];

					meet(&met, &to);
					if (memcmp(&met, &in[c->edges[e]], sizeof(met))) {
						in[c->edges[e]] = met;
						changed = true;
					}
				}
			}
		}
	}
	if (all.given_up_count) {
		uint32_t state = intern(lint, &all);

		news = state != lint->regions.breaks[f];
		lint->regions.breaks[f] = state;
	}
	free(in);
	free(known);
	vec_free(&tries);
	return news;
}

/* A lock on the stack or in memory that never leaves its thread excludes nobody. */
static void private_locks(struct lint *lint)
{
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
		/* One global that is no array: the lock and not a lock of the kind. */
		lock->is_one = objects == 1 && !own && shape_first(lint->pt.shape, cell.node, &cookie) &&
			       !shape_is_flat(lint->pt.shape, cell.node);
		lock->is_private =
			objects && own == objects &&
			(!access_node_shared(lint, cell.node) || lint->accesses.node_own[cell.node]);
	}
}

void region_build(struct lint *lint)
{
	const struct program *p = &lint->program;
	struct regions *r = &lint->regions;

	vec_push(&r->locks, (struct lock){.name = ""});
	vec_push(&r->regions, (struct region){0});
	vec_push(&r->states, (struct lock_state){0});
	r->state = mem_zalloc(p->insts_count, sizeof(*r->state));
	r->by_inst = mem_zalloc(p->insts_count, sizeof(*r->by_inst));
	r->breaks = mem_zalloc(p->functions_count, sizeof(*r->breaks));
	for (int round = 0, changed = 1; changed && round < 4; round++) {
		changed = 0;
		for (uint32_t i = 0; i < lint->calls.order_count; i++)
			changed |= analyse(lint, lint->calls.order[i]);
	}
	/* An atomic operation is a region of one access. */
	for (uint32_t i = 1; i < p->insts_count; i++)
		if (p->insts[i].flags & PROGRAM_ATOMIC)
			region_at(lint, i, 0, false, false);
	private_locks(lint);
}

void region_release(struct regions *r)
{
	vec_free(&r->locks);
	vec_free(&r->regions);
	vec_free(&r->states);
	map_release(&r->known);
	free(r->state);
	free(r->by_inst);
	free(r->breaks);
}

const struct lock_state *region_state(const struct lint *lint, uint32_t inst)
{
	return &lint->regions.states.at[lint->regions.state[inst]];
}
