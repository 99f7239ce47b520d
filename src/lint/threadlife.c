/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which threads run at the same time follows from where they are created and
 * joined: at every point of a thread it is known which of its descendants may be
 * running. A join in a loop that created nothing itself waits for all: they are
 * gone where the loop is left.
 */
#include "lint/threadwork.h"

/* ---- joins ---- */

/* When are all threads that the place created gone: at the join itself, where its loop is left, never? */
enum gone { NEVER, AT_JOIN, BEHIND_LOOP };

static enum gone waits_for(struct thread_build *b, uint32_t join, uint32_t create)
{
	const struct program *p = &b->lint->program;
	uint32_t f = program_function_of(p, join), g = program_function_of(p, create);
	const struct cfg *cj = &b->lint->cfgs[f], *cc = &b->lint->cfgs[g];
	uint32_t bj = lint_block(b->lint, join), bc = lint_block(b->lint, create), loop = cj->loop[bj];

	if (loop == CFG_NONE)
		return cc->on_cycle[bc] ? NEVER : AT_JOIN;
	if (f != g || !cfg_inside(cj, bc, loop))
		return BEHIND_LOOP;
	/* Created in the same loop: each before the next one, if it is surely joined. */
	return cj->loop[bc] == loop && cfg_dominates(cj, bc, bj) && cfg_postdominates(cj, bj, bc) ? AT_JOIN
												  : NEVER;
}

/* A thread that is gone takes along those that it waited for itself. */
static uint64_t with_children(struct thread_build *b, uint64_t gone)
{
	const struct threads *threads = &b->lint->threads;

	if (threads->left_out)
		gone &= ~(1ull << (THREAD_MOST - 1));
	for (uint32_t t = 0; t < threads->count; t++)
		if (gone >> t & 1) {
			uint64_t over = threads->at[t].descendants;

			for (uint32_t r = 0; r < threads->at[t].roots.count; r++)
				over &= ~b->born[threads->at[t].roots.at[r]];
			gone |= over;
		}
	return gone;
}

/* All tasks that a function makes, however many: who waits, waits for each. */
static uint64_t tasks_of(const struct thread_build *b, uint32_t function)
{
	const struct program *p = &b->lint->program;
	uint64_t tasks = 0;

	for (uint32_t c = 0; c < b->creates.count; c++) {
		uint32_t inst = b->creates.at[c].inst;

		if (program_function_of(p, inst) == function &&
		    pointsto_known(&b->lint->pt, &p->insts[inst])->kind == KNOWN_CREATE_TASK)
			tasks |= b->creates.at[c].threads;
	}
	return tasks;
}

static void find_joins(struct thread_build *b)
{
	struct lint *lint = b->lint;
	const struct program *p = &lint->program;

	for (uint32_t i = 1; i < p->insts_count; i++) {
		const struct known *known = pointsto_known(&lint->pt, &p->insts[i]);
		struct thread_site join = {.inst = i};

		if (known && known->kind == KNOWN_CREATE_TEAM && b->site_of[i]) {
			continue;
		}
		if (!known || (known->kind != KNOWN_JOIN && known->kind != KNOWN_JOIN_TASKS) ||
		    !lint->threads.reach[program_function_of(p, i)])
			continue;
		if (known->kind == KNOWN_JOIN_TASKS) {
			join.threads = tasks_of(b, program_function_of(p, i));
			vec_push(&b->joins, join);
			b->site_of[i] = b->joins.count;
			continue;
		}
		join.handle = thread_handle(lint, &p->insts[i], known);
		for (uint32_t c = 0; c < b->creates.count; c++)
			if (join.handle.node &&
			    shape_same(lint->pt.shape, join.handle, b->creates.at[c].handle))
				switch (waits_for(b, i, b->creates.at[c].inst)) {
				case AT_JOIN:
					join.threads |= b->creates.at[c].threads;
					break;
				case BEHIND_LOOP:
					join.behind |= b->creates.at[c].threads;
					break;
				case NEVER:
					break;
				}
		join.threads = with_children(b, join.threads);
		join.behind = with_children(b, join.behind);
		vec_push(&b->joins, join);
		b->site_of[i] = b->joins.count;
	}
}

/* ---- who runs where ---- */

static uint64_t after_inst(struct thread_build *b, uint32_t i, uint64_t alive, uint64_t *gone)
{
	struct lint *lint = b->lint;
	const struct program *p = &lint->program;
	const struct known *known = pointsto_known(&lint->pt, &p->insts[i]);
	const struct call_edge *edges;
	uint32_t count;

	lint->effort->steps[EFFORT_THREADS]++;
	if (p->insts[i].op != PROGRAM_CALL)
		return alive;
	if (known_makes_thread(known) && b->site_of[i] && known->kind != KNOWN_CREATE_TEAM) {
		uint64_t made = b->creates.at[b->site_of[i] - 1].threads;

		for (uint32_t t = 0; t < lint->threads.count; t++)
			if (made >> t & 1)
				made |= lint->threads.at[t].descendants;
		*gone &= ~made;
		return alive | made;
	}
	if (known && (known->kind == KNOWN_JOIN || known->kind == KNOWN_JOIN_TASKS) && b->site_of[i] &&
	    b->joins.count) {
		*gone |= b->joins.at[b->site_of[i] - 1].threads;
		return alive & ~b->joins.at[b->site_of[i] - 1].threads;
	}
	edges = callgraph_at(&lint->calls, i, &count);
	if (count) {
		uint64_t ends = UINT64_MAX, begins = 0;

		for (uint32_t e = 0; e < count; e++) {
			ends &= b->gone[edges[e].callee];
			begins |= b->born[edges[e].callee];
		}
		alive = (alive & ~ends) | begins;
		*gone = (*gone | ends) & ~begins;
	}
	return alive;
}

/* Threads that joins inside a loop wait for, if it is left here. */
static uint64_t left_loops(struct thread_build *b, uint32_t function, uint32_t from, uint32_t to)
{
	const struct cfg *c = &b->lint->cfgs[function];
	uint64_t gone = 0;

	for (uint32_t j = 0; j < b->joins.count; j++) {
		uint32_t inst = b->joins.at[j].inst, l;

		if (program_function_of(&b->lint->program, inst) != function)
			continue;
		l = c->loop[lint_block(b->lint, inst)];
		if (l != CFG_NONE && cfg_inside(c, from, l) && !cfg_inside(c, to, l))
			gone |= b->joins.at[j].behind;
	}
	return gone;
}

/* One pass over a function: what may run at the beginning of each block. */
static bool pass(struct thread_build *b, uint32_t function, uint64_t *in, uint64_t *gone_in, uint64_t *born,
		 uint64_t *gone)
{
	const struct cfg *c = &b->lint->cfgs[function];
	const struct program *p = &b->lint->program;
	uint32_t first = p->functions[function].block;
	uint64_t all_gone = UINT64_MAX;
	bool changed = false, ends = false;

	for (uint32_t n = 0; n < c->order_count; n++) {
		uint32_t block = c->order[n];
		const struct program_block *pb = &p->blocks[first + block];
		uint64_t alive = in[block], over = gone_in[block];

		for (uint32_t i = 0; i < pb->inst_count; i++)
			alive = after_inst(b, pb->inst + i, alive, &over);
		if (c->edge_first[block] == c->edge_first[block + 1] && pb->inst_count &&
		    p->insts[pb->inst + pb->inst_count - 1].op == PROGRAM_RETURN) {
			*born |= alive;
			all_gone &= over;
			ends = true;
		}
		for (uint32_t e = c->edge_first[block]; e < c->edge_first[block + 1]; e++) {
			uint32_t to = c->edges[e];
			uint64_t left = left_loops(b, function, block, to);
			uint64_t next = in[to] | (alive & ~left), still = gone_in[to] & (over | left);

			changed |= next != in[to] || still != gone_in[to];
			in[to] = next;
			gone_in[to] = still;
		}
	}
	*gone = ends ? all_gone : 0;
	return changed;
}

static bool summarise(struct thread_build *b, uint32_t f)
{
	uint32_t count = b->lint->cfgs[f].count;
	uint64_t *in = mem_zalloc(count + 1, sizeof(*in)), *gone_in = mem_alloc((count + 1) * sizeof(*in));
	uint64_t born = 0, gone = 0;
	bool changed;

	for (uint32_t i = 0; i < count; i++)
		gone_in[i] = i ? UINT64_MAX : 0;
	while (pass(b, f, in, gone_in, &born, &gone))
		;
	born &= ~gone;
	changed = born != b->born[f] || gone != b->gone[f];
	b->born[f] = born;
	b->gone[f] = gone;
	free(in);
	free(gone_in);
	return changed;
}

static void summaries(struct thread_build *b)
{
	const struct callgraph *c = &b->lint->calls;

	for (int round = 0, changed = 1; changed && round < 8; round++) {
		changed = 0;
		for (uint32_t i = 0; i < c->order_count; i++)
			changed |= summarise(b, c->order[i]);
	}
}

/* Its descendants at every block that the thread may run. */
static void follow(struct thread_build *b, uint32_t t)
{
	struct lint *lint = b->lint;
	const struct program *p = &lint->program;
	struct thread *thread = &lint->threads.at[t];
	uint64_t *entry, *gone_in;
	bool changed = true;

	if (!thread->descendants)
		return;
	entry = mem_zalloc(p->functions_count, sizeof(*entry));
	gone_in = mem_zalloc(p->blocks_count, sizeof(*gone_in));
	thread->alive = mem_zalloc(p->blocks_count, sizeof(*thread->alive));
	while (changed) {
		changed = false;
		/* Callers first: against the order. */
		for (uint32_t n = lint->calls.order_count; n-- > 0;) {
			uint32_t f = lint->calls.order[n], first = p->functions[f].block;
			uint64_t born = 0, gone;

			if (!(lint->threads.reach[f] >> t & 1))
				continue;
			if ((thread->alive[first] | entry[f]) != thread->alive[first])
				changed = true;
			thread->alive[first] |= entry[f];
			while (pass(b, f, thread->alive + first, gone_in + first, &born, &gone))
				changed = true;
			for (uint32_t block = 0; block < p->functions[f].block_count; block++) {
				const struct program_block *pb = &p->blocks[first + block];
				uint64_t alive = thread->alive[first + block], over = 0;

				for (uint32_t i = 0; i < pb->inst_count; i++) {
					uint32_t count;
					const struct call_edge *edges =
						callgraph_at(&lint->calls, pb->inst + i, &count);

					for (uint32_t e = 0; e < count; e++)
						if ((entry[edges[e].callee] | alive) !=
						    entry[edges[e].callee]) {
							entry[edges[e].callee] |= alive;
							changed = true;
						}
					alive = after_inst(b, pb->inst + i, alive, &over);
				}
			}
		}
	}
	free(entry);
	free(gone_in);
}

static uint64_t alive_at(struct thread_build *b, uint32_t t, uint32_t inst)
{
	const struct thread *thread = &b->lint->threads.at[t];
	const struct program *p = &b->lint->program;
	uint32_t block = p->insts[inst].block;
	uint64_t alive, over = 0;

	if (!thread->alive)
		return 0;
	alive = thread->alive[block];
	for (uint32_t i = p->blocks[block].inst; i < inst; i++)
		alive = after_inst(b, i, alive, &over);
	return alive;
}

/* Which run at the same time, and of which there are several. */
static void parallel(struct thread_build *b)
{
	struct threads *threads = &b->lint->threads;

	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t t = 1; t < threads->count; t++) {
			struct thread *thread = &threads->at[t];
			uint64_t beside = thread->parallel;

			for (uint32_t c = 0; c < b->creates.count; c++) {
				uint32_t inst = b->creates.at[c].inst;

				if (!(b->creates.at[c].threads >> t & 1))
					continue;
				for (uint32_t by = 0; by < threads->count; by++) {
					uint64_t at =
						threads->reach[program_function_of(&b->lint->program, inst)];

					if (!(at >> by & 1))
						continue;
					beside |= alive_at(b, by, inst) | 1ull << by;
					/* What runs beside the creator, but its own children: they are
					 * known better. */
					beside |= threads->at[by].parallel & ~(1ull << by) &
						  ~threads->at[by].descendants;
					if (threads->at[by].several) {
						thread->several = true;
						beside |= threads->at[by].descendants;
					}
				}
			}
			if (beside >> t & 1)
				thread->several = true;
			if (thread->several)
				beside |= 1ull << t;
			changed |= beside != thread->parallel;
			thread->parallel = beside;
			for (uint32_t u = 0; u < threads->count; u++)
				if (beside >> u & 1 && !(threads->at[u].parallel >> t & 1)) {
					threads->at[u].parallel |= 1ull << t;
					changed = true;
				}
		}
	}
}

/* Alive is asked for by instruction from here on. */
static void spread_alive(struct thread_build *b, uint32_t t)
{
	struct lint *lint = b->lint;
	const struct program *p = &lint->program;
	struct thread *thread = &lint->threads.at[t];
	uint64_t *by_inst;

	if (!thread->alive)
		return;
	by_inst = mem_zalloc(p->insts_count, sizeof(*by_inst));
	for (uint32_t n = 1; n < p->blocks_count; n++) {
		uint64_t alive = thread->alive[n], over = 0;

		if (!(lint->threads.reach[p->blocks[n].function] >> t & 1))
			continue;
		for (uint32_t i = p->blocks[n].inst; i < p->blocks[n].inst + p->blocks[n].inst_count; i++) {
			by_inst[i] = alive;
			alive = after_inst(b, i, alive, &over);
		}
	}
	free(thread->alive);
	thread->alive = by_inst;
}

void threadlife_find(struct thread_build *b)
{
	const struct lint *lint = b->lint;

	b->gone = mem_zalloc(lint->program.functions_count, sizeof(*b->gone));
	b->born = mem_zalloc(lint->program.functions_count, sizeof(*b->born));
	/* Once without joins, for what a thread may leave running. */
	summaries(b);
	find_joins(b);
	summaries(b);
	for (uint32_t t = 0; t < lint->threads.count; t++)
		follow(b, t);
	parallel(b);
	for (uint32_t t = 0; t < lint->threads.count; t++)
		spread_alive(b, t);
	vec_free(&b->joins);
	free(b->gone);
	free(b->born);
}
