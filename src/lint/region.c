/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Locks and critical regions. Within a function, what is held at an instruction
 * is what is held on every way to it; which region that is may depend on the
 * way (a lock taken before a loop, or again by a wait inside it). A wait ends
 * the region of its lock and begins another, also under `if`. A lock that was
 * only tried is held where the result said so, also when that was put in other
 * words: where ways meet and only some hold it, a value that is 0 on those and not
 * on the others tells.
 *
 * Small wrappers were inlined by atomsan-lower. Larger functions have a summary:
 * which locks of their caller they give up for a while, so that the caller's region
 * ends and another begins; which they give back for good; and which they return
 * with, always or if their result says so.
 */
#include <string.h>

#include "lint/lockstate.h"
#include "lint/pair.h"

/* ---- where ways meet ---- */

/* What a value is, as far as it is plain to see. */
enum truth { TRUTH_UNKNOWN, TRUTH_ZERO, TRUTH_NONZERO };

static enum truth truth_of(const struct program *p, uint32_t value)
{
	const struct program_inst *maker = &p->insts[program_maker(p, value)];

	switch ((enum program_value_kind)p->values[value].kind) {
	case VALUE_NUMBER:
		return p->values[value].number ? TRUTH_NONZERO : TRUTH_ZERO;
	case VALUE_GLOBAL:
	case VALUE_FUNCTION:
	case VALUE_PLACE:
		return TRUTH_NONZERO;
	case VALUE_RESULT:
		return maker->op == PROGRAM_OFFSET || maker->op == PROGRAM_ALLOCA ? TRUTH_NONZERO
										  : TRUTH_UNKNOWN;
	default:
		return TRUTH_UNKNOWN;
	}
}

/* Whether a lock is held on a way, told by a value that has this truth there: bit 0, held if zero; 1, free if
 * zero; 2, held if nonzero; 3, free if nonzero; 4, nothing is told. */
enum { HELD_IF_ZERO = 1, FREE_IF_ZERO = 2, HELD_IF_NONZERO = 4, FREE_IF_NONZERO = 8, TELLS_NOTHING = 16 };

static unsigned told_by(const struct program *p, const struct lock_state *s, uint32_t lock, uint32_t value)
{
	enum truth truth = truth_of(p, value);
	bool held = false;

	for (uint32_t i = 0; i < s->maybe_count; i++)
		if (s->maybes[i].lock == lock && s->maybes[i].value == value)
			return s->maybes[i].if_nonzero ? HELD_IF_NONZERO | FREE_IF_ZERO
						       : HELD_IF_ZERO | FREE_IF_NONZERO;
	for (uint32_t i = 0; i < s->held_count; i++)
		held |= s->held[i].lock == lock;
	switch (truth) {
	case TRUTH_ZERO:
		return held ? HELD_IF_ZERO : FREE_IF_ZERO;
	case TRUTH_NONZERO:
		return held ? HELD_IF_NONZERO : FREE_IF_NONZERO;
	default:
		return TELLS_NOTHING;
	}
}

/* One function at work. */
struct work {
	struct lint *lint;
	const struct cfg *cfg;
	uint32_t first;              /* block */
	struct lock_state *out;      /* by edge: what holds along it */
	bool *known;                 /* by edge: somebody came along it */
	uint32_t *into_first, *into; /* by block: edges that lead to it */
	uint32_t *from;              /* by edge: the block that it begins at */
};

static uint32_t phi_value(const struct work *w, const struct program_inst *phi, uint32_t edge)
{
	const struct program *p = &w->lint->program;
	uint32_t count = phi->operand_count / 2;

	for (uint32_t i = 0; i < count; i++)
		if (program_operand(p, phi, count + i) == w->first + w->from[edge])
			return program_operand(p, phi, i);
	return 0;
}

/* A lock that is held on some of the ways to a block: does a value that differs by the way tell on which? */
static void add_told(const struct work *w, uint32_t block, const struct held *held, struct lock_state *in)
{
	const struct program *p = &w->lint->program;
	const struct program_block *pb = &p->blocks[w->first + block];

	for (uint32_t i = pb->inst; i < pb->inst + pb->inst_count && p->insts[i].op == PROGRAM_PHI; i++) {
		unsigned told = 0;

		for (uint32_t n = w->into_first[block]; n < w->into_first[block + 1]; n++)
			if (w->known[w->into[n]])
				told |= told_by(p, &w->out[w->into[n]], held->lock,
						phi_value(w, &p->insts[i], w->into[n]));
		if (told == (HELD_IF_NONZERO | FREE_IF_ZERO) || told == (HELD_IF_ZERO | FREE_IF_NONZERO))
			lockstate_add_maybe(
				in,
				(struct maybe){.lock = held->lock,
					       .value = p->insts[i].value,
					       .region = w->lint->regions.regions.at[held->regions[0]].inst,
					       .if_nonzero = (told & HELD_IF_NONZERO) != 0,
					       .shared = held->shared});
	}
}

/*
 * `if (lock) take(lock);`: along the edge there is no lock, and who has none needs
 * none. What counts is the other way, which does nothing but that.
 */
static bool is_void(const struct work *w, uint32_t block, uint32_t edge)
{
	const struct program *p = &w->lint->program;
	const struct cfg *c = w->cfg;
	uint32_t from = w->from[edge], other = CFG_NONE;
	const struct program_block *pb = &p->blocks[w->first + from];
	const struct program_inst *end = &p->insts[pb->inst + pb->inst_count - 1];
	const struct program_inst *condition = &p->insts[program_maker(p, program_operand(p, end, 0))];
	uint32_t pointer = program_operand(p, condition, 0);

	if (end->op != PROGRAM_BRANCH || condition->op != PROGRAM_COMPARE ||
	    c->edge_first[from + 1] - c->edge_first[from] != 2 ||
	    region_success_edge(p, program_operand(p, end, 0), pointer, true) !=
		    (int)!(edge - c->edge_first[from]))
		return false;
	other = c->edges[c->edge_first[from] + !(edge - c->edge_first[from])];
	if (c->pred_first[other + 1] - c->pred_first[other] != 1 ||
	    c->edge_first[other + 1] - c->edge_first[other] != 1 || c->edges[c->edge_first[other]] != block)
		return false;
	pb = &p->blocks[w->first + other];
	for (uint32_t i = pb->inst; i < pb->inst + pb->inst_count; i++)
		for (uint32_t n = 0;
		     p->insts[i].op == PROGRAM_CALL && n < program_argument_count(&p->insts[i]); n++)
			if (pair_base(p, program_operand(p, &p->insts[i], n)) == pointer)
				return true;
	return false;
}

/* False if nobody came here so far. */
static bool state_into(const struct work *w, uint32_t block, struct lock_state *in)
{
	bool any = !block;

	memset(in, 0, sizeof(*in));
	for (uint32_t n = w->into_first[block]; n < w->into_first[block + 1]; n++) {
		if (!w->known[w->into[n]] || is_void(w, block, w->into[n]))
			continue;
		if (any)
			lockstate_meet(in, &w->out[w->into[n]]);
		else
			*in = w->out[w->into[n]];
		any = true;
	}
	for (uint32_t n = w->into_first[block]; n < w->into_first[block + 1]; n++) {
		const struct lock_state *out = &w->out[w->into[n]];

		for (uint32_t i = 0; w->known[w->into[n]] && i < out->held_count; i++)
			if (!lockstate_find(in, out->held[i].lock))
				add_told(w, block, &out->held[i], in);
		for (uint32_t i = 0; w->known[w->into[n]] && i < out->maybe_count; i++) {
			struct held one = {.lock = out->maybes[i].lock, .shared = out->maybes[i].shared};

			/* By another name from here on. */
			one.regions[0] = w->lint->regions.by_inst[out->maybes[i].region];
			if (one.regions[0] && !lockstate_find(in, one.lock))
				add_told(w, block, &one, in);
		}
	}
	return any;
}

static bool may_leave(const struct lint *lint, uint32_t inst)
{
	uint32_t count;
	const struct call_edge *edges = callgraph_at(&lint->calls, inst, &count);

	for (uint32_t e = 0; e < count; e++)
		if (lint->regions.leaves[edges[e].callee].when)
			return true;
	return false;
}

static bool has_locks(struct lint *lint, uint32_t f)
{
	const struct program *p = &lint->program;
	const struct program_function *function = &p->functions[f];

	for (uint32_t b = 0; b < function->block_count; b++) {
		const struct program_block *block = &p->blocks[function->block + b];

		for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++) {
			const struct known *known = pointsto_known(&lint->pt, &p->insts[i]);
			uint32_t locks[STATE_LOCKS];

			if ((known && known->kind >= KNOWN_LOCK && known->kind <= KNOWN_WAIT_CXX) ||
			    lockstep_broken_by(lint, i, locks) || may_leave(lint, i))
				return true;
		}
	}
	return false;
}

/* ---- what callers need to know ---- */

struct summary {
	struct lock_state all;  /* given up anywhere */
	struct lock_state ends; /* at all returns */
	bool returns;
	struct held left[STATE_LOCKS]; /* held, perhaps, at some return */
	unsigned told[STATE_LOCKS];
	uint32_t left_count;
};

static void add_left(struct summary *s, struct held held)
{
	for (uint32_t i = 0; i < s->left_count; i++)
		if (s->left[i].lock == held.lock)
			return;
	if (s->left_count < STATE_LOCKS)
		s->left[s->left_count++] = held;
}

static void note_return(const struct lint *lint, struct summary *sum, const struct lock_state *s)
{
	for (uint32_t i = 0; i < s->held_count; i++)
		add_left(sum, s->held[i]);
	for (uint32_t i = 0; i < s->maybe_count; i++) {
		uint32_t region = lint->regions.by_inst[s->maybes[i].region];

		add_left(sum, (struct held){.lock = s->maybes[i].lock,
					    .shared = s->maybes[i].shared,
					    .region_count = region != 0,
					    .regions = {region}});
	}
	if (sum->returns)
		lockstate_meet(&sum->ends, s);
	else
		sum->ends = *s;
	sum->returns = true;
}

static struct leaves leaves_of(const struct summary *s)
{
	for (uint32_t i = 0; i < s->left_count; i++) {
		struct leaves leaves = {.lock = s->left[i].lock, .shared = s->left[i].shared};

		for (uint32_t n = 0; n < s->ends.held_count; n++)
			if (s->ends.held[n].lock == leaves.lock)
				leaves.when = LEAVES_ALWAYS;
		if (!leaves.when && s->told[i] == (HELD_IF_NONZERO | FREE_IF_ZERO))
			leaves.when = LEAVES_IF_NONZERO;
		if (!leaves.when && s->told[i] == (HELD_IF_ZERO | FREE_IF_NONZERO))
			leaves.when = LEAVES_IF_ZERO;
		/* Taken back, after it was given up for a while. */
		if (leaves.when && !lockstate_gave_up(&s->all, leaves.lock))
			return leaves;
	}
	return (struct leaves){0};
}

static bool summarise(struct lint *lint, uint32_t f, struct summary *s)
{
	struct regions *r = &lint->regions;
	struct lock_state ends = {0};
	struct leaves leaves = leaves_of(s);
	uint32_t breaks, end;

	for (uint32_t i = 0; i < s->all.given_up_count; i++)
		r->locks.at[s->all.given_up[i]].given_back = true;
	for (uint32_t i = 0; s->returns && i < s->ends.given_up_count; i++)
		if (s->ends.surely[i] && !lockstate_find(&s->ends, s->ends.given_up[i]))
			lockstate_give_up(&ends, s->ends.given_up[i]);
	breaks = lockstate_intern(lint, &s->all);
	end = lockstate_intern(lint, &ends);
	bool news = breaks != r->breaks[f] || end != r->ends[f] || leaves.lock != r->leaves[f].lock ||
		    leaves.when != r->leaves[f].when;

	for (uint32_t i = 0; leaves.when && i < s->left_count; i++)
		for (uint32_t n = 0; n < s->left[i].region_count && s->left[i].lock == leaves.lock; n++)
			r->regions.at[s->left[i].regions[n]].is_left = true;
	r->breaks[f] = breaks;
	r->ends[f] = end;
	r->leaves[f] = leaves;
	return news;
}

/* ---- one function ---- */

static void begin_work(struct work *w)
{
	const struct cfg *c = w->cfg;
	uint32_t count = c->edge_first[c->count];

	w->out = mem_zalloc(count + 1, sizeof(*w->out));
	w->known = mem_zalloc(count + 1, 1);
	w->from = mem_zalloc(count + 1, sizeof(*w->from));
	w->into = mem_zalloc(count + 1, sizeof(*w->into));
	w->into_first = mem_zalloc(c->count + 2, sizeof(*w->into_first));
	for (uint32_t e = 0; e < count; e++)
		w->into_first[c->edges[e] + 1]++;
	for (uint32_t b = 0; b < c->count; b++)
		w->into_first[b + 1] += w->into_first[b];
	uint32_t *at = mem_alloc((c->count + 1) * sizeof(*at));

	memcpy(at, w->into_first, (c->count + 1) * sizeof(*at));
	for (uint32_t b = 0; b < c->count; b++)
		for (uint32_t e = c->edge_first[b]; e < c->edge_first[b + 1]; e++) {
			w->from[e] = b;
			w->into[at[c->edges[e]]++] = e;
		}
	free(at);
}

static void end_work(struct work *w)
{
	free(w->out);
	free(w->known);
	free(w->from);
	free(w->into);
	free(w->into_first);
}

/* From what holds at a block's beginning to its end; notes what holds at its instructions. */
static void through_block(struct work *w, const struct program_block *block, struct lock_state *s)
{
	const struct program *p = &w->lint->program;
	uint32_t state = 0;

	w->lint->effort->steps[EFFORT_LOCKS] += block->inst_count;
	for (uint32_t i = 0; i < block->inst_count; i++) {
		/* Only calls change it. */
		if (!i || p->insts[block->inst + i - 1].op == PROGRAM_CALL)
			state = lockstate_intern(w->lint, s);
		w->lint->regions.state[block->inst + i] = state;
		lockstep(w->lint, s, block->inst + i);
	}
}

static void at_return(struct work *w, const struct program_inst *end, const struct lock_state *s,
		      struct summary *sum)
{
	const struct program *p = &w->lint->program;
	uint32_t value = program_operand(p, end, 0);

	note_return(w->lint, sum, s);
	for (uint32_t i = 0; i < sum->left_count; i++)
		sum->told[i] |= value ? told_by(p, s, sum->left[i].lock, value) : TELLS_NOTHING;
}

static bool analyse(struct lint *lint, uint32_t f)
{
	const struct program *p = &lint->program;
	struct work w = {.lint = lint, .cfg = &lint->cfgs[f], .first = p->functions[f].block};
	const struct cfg *c = w.cfg;
	struct summary sum = {.returns = false};
	bool changed = true;

	if (!has_locks(lint, f))
		return false;
	begin_work(&w);
	for (int round = 0; changed && round < 50; round++) {
		changed = false;
		for (uint32_t n = 0; n < c->order_count; n++) {
			uint32_t b = c->order[n];
			const struct program_block *block = &p->blocks[w.first + b];
			struct lock_state s;

			if (!state_into(&w, b, &s))
				continue;
			through_block(&w, block, &s);
			for (uint32_t e = c->edge_first[b]; e < c->edge_first[b + 1]; e++) {
				struct lock_state to = s;

				lockstep_edge(lint, &to, block->inst + block->inst_count - 1,
					      e - c->edge_first[b]);
				if (w.known[e] && !memcmp(&to, &w.out[e], sizeof(to)))
					continue;
				w.known[e] = true;
				w.out[e] = to;
				changed = true;
			}
		}
	}
	/* Twice, for what is left at one return is told about at all of them. */
	for (int pass = 0; pass < 2; pass++) {
		memset(sum.told, 0, sizeof(sum.told));
		for (uint32_t n = 0; n < c->order_count; n++) {
			const struct program_block *block = &p->blocks[w.first + c->order[n]];
			const struct program_inst *end = &p->insts[block->inst + block->inst_count - 1];
			struct lock_state s;

			if (!state_into(&w, c->order[n], &s))
				continue;
			through_block(&w, block, &s);
			for (uint32_t i = 0; i < s.given_up_count; i++)
				lockstate_give_up(&sum.all, s.given_up[i]);
			if (end->op == PROGRAM_RETURN)
				at_return(&w, end, &s, &sum);
		}
	}
	end_work(&w);
	return summarise(lint, f, &sum);
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
	r->ends = mem_zalloc(p->functions_count, sizeof(*r->ends));
	r->leaves = mem_zalloc(p->functions_count, sizeof(*r->leaves));
	for (int round = 0, changed = 1; changed && round < 4; round++) {
		changed = 0;
		for (uint32_t i = 0; i < lint->calls.order_count; i++)
			changed |= analyse(lint, lint->calls.order[i]);
	}
	/* An atomic operation is a region of one access. */
	for (uint32_t i = 1; i < p->insts_count; i++)
		if (p->insts[i].flags & PROGRAM_ATOMIC)
			lockstep_region(lint, i, 0, false, false);
	lock_find_private(lint);
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
	free(r->ends);
	free(r->leaves);
	map_release(&r->lock_of);
	map_release(&r->lock_at);
}

const struct lock_state *region_state(const struct lint *lint, uint32_t inst)
{
	return &lint->regions.states.at[lint->regions.state[inst]];
}
