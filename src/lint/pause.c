/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/pause.h"

#include "lint/pair.h"

/* As src/pass/waits.c: what does more than so many calls is more than a wrapper around a wait. */
enum { MOST_CALLS = 4 };

/* What stands at an instruction. */
enum { AT = 1, IN_FRONT = 2 };

struct pauses {
	uint8_t *at;      /* by instruction */
	bool *any;        /* by function: has one */
	bool *surely;     /* by function: none of its returns is reached without one */
	bool *waits;      /* by function: calls a function that waits, in no loop, and little else */
	struct map asked; /* two instructions -> the answer + 1 */
};

/* ---- ways ---- */

static bool stands_between(const struct pauses *p, uint32_t from, uint32_t to, bool to_end)
{
	for (uint32_t i = from; i < to; i++)
		if (p->at[i])
			return true;
	return !to_end && p->at[to] & IN_FRONT;
}

struct walk {
	const struct lint *lint;
	const struct cfg *cfg;
	uint32_t first; /* block */
	struct vec_u32 waiting;
	bool *seen;
};

static void begin_walk(struct walk *w, const struct lint *lint, uint32_t function)
{
	*w = (struct walk){
		.lint = lint, .cfg = &lint->cfgs[function], .first = lint->program.functions[function].block};
	w->seen = mem_zalloc(w->cfg->count + 1, 1);
}

static void end_walk(struct walk *w)
{
	vec_free(&w->waiting);
	free(w->seen);
}

static void go_on(struct walk *w, uint32_t block)
{
	for (uint32_t e = w->cfg->edge_first[block]; e < w->cfg->edge_first[block + 1]; e++)
		if (!w->seen[w->cfg->edges[e]]) {
			w->seen[w->cfg->edges[e]] = true;
			vec_push(&w->waiting, w->cfg->edges[e]);
		}
}

/* Does a way lead on to the instruction, or with 0 to a return, without a pause? */
static bool comes_to(struct walk *w, uint32_t to)
{
	const struct program *p = &w->lint->program;
	const struct pauses *pauses = w->lint->pauses;

	while (w->waiting.count) {
		uint32_t b = w->waiting.at[--w->waiting.count];
		const struct program_block *block = &p->blocks[w->first + b];
		uint32_t last = block->inst + block->inst_count - 1;

		if (to && p->insts[to].block == w->first + b &&
		    !stands_between(pauses, block->inst, to, false))
			return true;
		if (stands_between(pauses, block->inst, last + 1, true))
			continue;
		if (!to && p->insts[last].op == PROGRAM_RETURN)
			return true;
		go_on(w, b);
	}
	return false;
}

/* From behind an instruction. */
static bool comes_from(const struct lint *lint, uint32_t from, uint32_t to)
{
	const struct program *p = &lint->program;
	const struct program_block *block = &p->blocks[p->insts[from].block];
	uint32_t last = block->inst + block->inst_count - 1;
	struct walk w;
	bool found;

	if (to && p->insts[to].block == p->insts[from].block && from < to)
		return !stands_between(lint->pauses, from + 1, to, false);
	if (stands_between(lint->pauses, from + 1, last + 1, true))
		return false;
	if (!to && p->insts[last].op == PROGRAM_RETURN)
		return true;
	begin_walk(&w, lint, program_function_of(p, from));
	go_on(&w, lint_block(lint, from));
	found = comes_to(&w, to);
	end_walk(&w);
	return found;
}

/* From the function's beginning. */
static bool comes_in(const struct lint *lint, uint32_t function, uint32_t to)
{
	struct walk w;
	bool found;

	begin_walk(&w, lint, function);
	w.seen[0] = true;
	vec_push(&w.waiting, 0);
	found = comes_to(&w, to);
	end_walk(&w);
	return found;
}

/* ---- questions ---- */

bool pause_any(const struct lint *lint, uint32_t function)
{
	return lint->pauses->any[function];
}

bool pause_between(const struct lint *lint, uint32_t from, uint32_t to)
{
	struct pauses *p = lint->pauses;
	uint64_t key = (uint64_t)from << 32 | to;
	uint32_t known;

	if (!p->any[program_function_of(&lint->program, from)])
		return false;
	known = map_get(&p->asked, key);
	if (!known)
		map_set(&p->asked, key, known = 1 + !comes_from(lint, from, to));
	return known - 1;
}

bool pause_parts(const struct lint *lint, uint32_t a, uint32_t b)
{
	return pause_between(lint, a, b) && pause_between(lint, b, a) &&
	       (pair_reaches(lint, a, b) || pair_reaches(lint, b, a));
}

bool pause_is_waiting(const struct lint *lint, uint32_t inst)
{
	const struct program *p = &lint->program;
	uint32_t f = program_function_of(p, inst);
	const struct cfg *c = &lint->cfgs[f];

	for (uint32_t loop = c->loop[lint_block(lint, inst)]; loop != CFG_NONE; loop = c->loops[loop].parent)
		if (lint->pauses->at[p->blocks[p->functions[f].block + c->loops[loop].header].inst] &
		    IN_FRONT)
			return true;
	return false;
}

/* In what the function calls: what a caller cannot see. */
static bool splits_below(const struct lint *lint, uint32_t inst, uint32_t via, bool behind)
{
	uint32_t f = program_function_of(&lint->program, inst);

	if (inst == via || !lint->pauses->any[f])
		return false;
	return behind ? !comes_from(lint, inst, 0) : !comes_in(lint, f, inst);
}

bool pause_splits(const struct lint *lint, const struct verdict *v)
{
	const struct program *p = &lint->program;
	uint32_t a = lint->accesses.at.at[v->first].inst, b = lint->accesses.at.at[v->second].inst;
	uint32_t from = program_function_of(p, a) == v->function ? a : v->first_via;
	uint32_t to = program_function_of(p, b) == v->function ? b : v->second_via;

	/* Where there is no way, nothing stands in it. */
	return (pause_between(lint, from, to) && pair_reaches(lint, from, to)) ||
	       splits_below(lint, a, from, true) || splits_below(lint, b, to, false);
}

/* ---- finding them ---- */

static bool is_wait(const struct known *known)
{
	return known && (known->kind == KNOWN_WAIT || known->kind == KNOWN_WAIT_CXX);
}

static bool pauses_itself(const struct known *known)
{
	return is_wait(known) || known_makes_thread(known) ||
	       (known &&
		(known->kind == KNOWN_JOIN || known->kind == KNOWN_BARRIER || known->kind == KNOWN_MEET));
}

/* Does all that the call may lead to have the property? */
static bool all_callees(const struct lint *lint, const bool *property, uint32_t inst)
{
	uint32_t count;
	const struct call_edge *edges = callgraph_at(&lint->calls, inst, &count);

	for (uint32_t e = 0; e < count; e++)
		if (!property[edges[e].callee])
			return false;
	return count;
}

/* A call that may do more than compute. */
static bool counts(const struct lint *lint, uint32_t inst)
{
	const struct known *known = pointsto_known(&lint->pt, &lint->program.insts[inst]);
	uint32_t count;

	callgraph_at(&lint->calls, inst, &count);
	return count || (known && known->kind >= KNOWN_CREATE && known->kind <= KNOWN_MEET);
}

static void look_at(struct lint *lint, uint32_t f)
{
	const struct program *p = &lint->program;
	const struct program_function *function = &p->functions[f];
	const struct cfg *c = &lint->cfgs[f];
	struct pauses *pauses = lint->pauses;
	uint32_t waits = 0, calls = 0;

	for (uint32_t b = 0; b < function->block_count; b++) {
		const struct program_block *block = &p->blocks[function->block + b];

		for (uint32_t i = block->inst; i < block->inst + block->inst_count; i++) {
			const struct known *known = pointsto_known(&lint->pt, &p->insts[i]);

			if (p->insts[i].op != PROGRAM_CALL)
				continue;
			lint->effort->steps[EFFORT_LOCKS]++;
			if (pauses_itself(known) || (!known && all_callees(lint, pauses->surely, i)))
				pauses->at[i] |= AT;
			bool wait = is_wait(known) || (!known && all_callees(lint, pauses->waits, i));

			if (wait && c->loop[b] != CFG_NONE)
				pauses->at[p->blocks[function->block + c->loops[c->loop[b]].header].inst] |=
					IN_FRONT;
			else if (c->loop[b] == CFG_NONE) {
				waits += wait;
				calls += counts(lint, i);
			}
			pauses->any[f] |= wait || pauses->at[i];
		}
	}
	pauses->waits[f] = waits && calls <= MOST_CALLS;
	if (pauses->any[f])
		pauses->surely[f] = !comes_in(lint, f, 0);
}

void pause_build(struct lint *lint)
{
	const struct program *p = &lint->program;
	struct pauses *pauses = lint->pauses = mem_zalloc(1, sizeof(*pauses));

	pauses->at = mem_zalloc(p->insts_count, sizeof(*pauses->at));
	pauses->any = mem_zalloc(p->functions_count, sizeof(*pauses->any));
	pauses->surely = mem_zalloc(p->functions_count, sizeof(*pauses->surely));
	pauses->waits = mem_zalloc(p->functions_count, sizeof(*pauses->waits));
	for (uint32_t i = 0; i < lint->calls.order_count; i++)
		look_at(lint, lint->calls.order[i]);
}

void pause_release(struct lint *lint)
{
	if (!lint->pauses)
		return;
	free(lint->pauses->at);
	free(lint->pauses->any);
	free(lint->pauses->surely);
	free(lint->pauses->waits);
	map_release(&lint->pauses->asked);
	free(lint->pauses);
	lint->pauses = NULL;
}
