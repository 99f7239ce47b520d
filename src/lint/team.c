/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Within a team of OpenMP threads that all run one function: a barrier is passed
 * by all or none, so what lies before it in one thread does not run beside what
 * lies behind it in another. Where the number of barriers passed is the same on
 * all ways, it is the *phase*; barriers in loops leave it unknown. And what stands
 * under master or single is done by one thread alone.
 *
 * Functions that are called have the phase and the construct of their calls, if
 * all agree.
 */
#include <string.h>

#include "lint/lint.h"

/* Phase 0 is not known; NOT_YET: nobody came here so far. */
enum { NOT_YET = UINT16_MAX, LAST_PHASE = UINT16_MAX - 1 };

/* What is known at a point. */
struct point {
	uint16_t phase;
	uint32_t only;
};

struct team {
	struct lint *lint;
	struct thread *thread;
	bool *has_barrier;    /* by function, itself or below */
	struct point *called; /* by function: with what */
	uint32_t always_one;  /* number of a construct that always the same thread does */
};

static bool is_kind(const struct known *known, enum known_kind kind)
{
	return known && known->kind == kind;
}

static bool meet(struct point *into, struct point from)
{
	struct point old = *into;

	if (into->phase == NOT_YET) {
		*into = from;
	} else {
		if (into->phase != from.phase)
			into->phase = 0;
		if (into->only != from.only)
			into->only = 0;
	}
	return old.phase != into->phase || old.only != into->only;
}

/* Callees come first in the order; who is part of a recursion is looked at twice. */
static void find_barriers(struct team *team)
{
	const struct lint *lint = team->lint;
	const struct program *p = &lint->program;

	for (uint32_t i = 1; i < p->insts_count; i++)
		if (is_kind(pointsto_known(&lint->pt, &p->insts[i]), KNOWN_BARRIER))
			team->has_barrier[program_function_of(p, i)] = true;
	for (int round = 0; round < 2; round++)
		for (uint32_t n = 0; n < lint->calls.order_count; n++) {
			uint32_t f = lint->calls.order[n];

			for (uint32_t e = lint->calls.first[f]; e < lint->calls.first[f + 1]; e++)
				team->has_barrier[f] |= team->has_barrier[lint->calls.edges[e].callee];
		}
}

static void step(struct team *team, uint32_t inst, struct point *at)
{
	const struct lint *lint = team->lint;
	const struct known *known = pointsto_known(&lint->pt, &lint->program.insts[inst]);
	uint32_t count;
	const struct call_edge *edges = callgraph_at(&lint->calls, inst, &count);

	if (is_kind(known, KNOWN_BARRIER))
		at->phase = at->phase && at->phase < LAST_PHASE ? at->phase + 1 : 0;
	if (is_kind(known, KNOWN_ONLY_END))
		at->only = 0;
	for (uint32_t e = 0; e < count; e++)
		if (team->has_barrier[edges[e].callee])
			at->phase = 0;
}

/* Along the edge on which this thread is the one. */
static void edge_step(struct team *team, const struct vec_u32 *asked, uint32_t end, uint32_t edge,
		      struct point *at)
{
	const struct program *p = &team->lint->program;

	if (p->insts[end].op != PROGRAM_BRANCH)
		return;
	for (uint32_t i = 0; i < asked->count; i++) {
		const struct program_inst *call = &p->insts[asked->at[i]];

		if (call->value && region_success_edge(p, program_operand(p, &p->insts[end], 0), call->value,
						       true) == (int)edge)
			at->only = pointsto_known(&team->lint->pt, call)->b ? team->always_one : asked->at[i];
	}
}

static void note_block(struct team *team, const struct program_block *block, struct point at)
{
	const struct callgraph *calls = &team->lint->calls;

	for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++) {
		uint32_t count;
		const struct call_edge *edges = callgraph_at(calls, i, &count);

		team->thread->phase[i] = at.phase;
		team->thread->only[i] = at.only;
		for (uint32_t e = 0; e < count; e++)
			meet(&team->called[edges[e].callee], at);
		step(team, i, &at);
	}
}

static void look_at(struct team *team, uint32_t f)
{
	const struct lint *lint = team->lint;
	const struct program *p = &lint->program;
	const struct cfg *c = &lint->cfgs[f];
	uint32_t first = p->functions[f].block;
	struct point *in = mem_zalloc(c->count + 1, sizeof(*in));
	struct vec_u32 asked = {0};
	bool changed = true;

	for (uint32_t b = 0; b < c->count; b++) {
		const struct program_block *block = &p->blocks[first + b];

		in[b].phase = NOT_YET;
		for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++)
			if (is_kind(pointsto_known(&lint->pt, &p->insts[i]), KNOWN_ONLY))
				vec_push(&asked, i);
	}
	in[0] = team->called[f];
	/* Each value falls at most twice, from nothing to something to not known. */
	while (changed) {
		changed = false;
		for (uint32_t n = 0; n < c->order_count; n++) {
			uint32_t b = c->order[n];
			const struct program_block *block = &p->blocks[first + b];
			struct point at = in[b];

			if (at.phase == NOT_YET)
				continue;
			for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++)
				step(team, i, &at);
			for (uint32_t e = c->edge_first[b]; e < c->edge_first[b + 1]; e++) {
				struct point to = at;

				edge_step(team, &asked, block->inst + block->inst_count - 1,
					  e - c->edge_first[b], &to);
				changed |= meet(&in[c->edges[e]], to);
			}
		}
	}
	for (uint32_t b = 0; b < c->count; b++)
		if (in[b].phase != NOT_YET)
			note_block(team, &p->blocks[first + b], in[b]);
	vec_free(&asked);
	free(in);
}

void team_build(struct lint *lint, uint32_t number)
{
	const struct program *p = &lint->program;
	struct thread *thread = &lint->threads.at[number];
	struct team team = {.lint = lint, .thread = thread, .always_one = p->insts_count};

	thread->phase = mem_zalloc(p->insts_count + 1, sizeof(*thread->phase));
	thread->only = mem_zalloc(p->insts_count + 1, sizeof(*thread->only));
	team.has_barrier = mem_zalloc(p->functions_count + 1, sizeof(*team.has_barrier));
	team.called = mem_zalloc(p->functions_count + 1, sizeof(*team.called));
	find_barriers(&team);
	for (uint32_t f = 0; f < p->functions_count; f++)
		team.called[f].phase = NOT_YET;
	for (uint32_t r = 0; r < thread->roots.count; r++)
		team.called[thread->roots.at[r]] = (struct point){.phase = 1};
	/* Callers first. Of who calls itself nothing is known, for calls from below are not looked at yet. */
	for (uint32_t n = lint->calls.order_count; n-- > 0;) {
		uint32_t f = lint->calls.order[n];

		if (team.called[f].phase == NOT_YET)
			continue;
		if (lint->calls.recursive[f])
			team.called[f] = (struct point){0, 0};
		look_at(&team, f);
	}
	free(team.has_barrier);
	free(team.called);
}

bool team_parallel(const struct thread *thread, uint32_t a, uint32_t b)
{
	if (!thread->phase)
		return true;
	if (thread->phase[a] && thread->phase[b] && thread->phase[a] != thread->phase[b])
		return false;
	return !thread->only[a] || thread->only[a] != thread->only[b];
}
