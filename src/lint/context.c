/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Each abstract thread is executed symbolically along its calls (von Praun &
 * Gross, section 3.2): a function is looked at once per set of locks that it is
 * called with. At each access stands then who does it, holding what. Locks that
 * no two threads share do not count.
 */
#include <string.h>

#include "lint/lint.h"

/* More contexts of one function in one thread are taken as one without locks. */
enum { MOST_CONTEXTS = 16 };

uint32_t context_lockset(struct lint *lint, const struct lockset *set)
{
	struct contexts *c = &lint->contexts;
	const unsigned char *bytes = (const unsigned char *)set;
	uint64_t key = 0xcbf29ce484222325ull;
	uint32_t found;

	for (size_t i = 0; i < sizeof(*set); i++)
		key = (key ^ bytes[i]) * 0x100000001b3ull;
	for (; (found = map_get(&c->known, key)); key++)
		if (!memcmp(&c->locksets.at[found - 1], set, sizeof(*set)))
			return found - 1;
	vec_push(&c->locksets, *set);
	map_set(&c->known, key, c->locksets.count);
	return c->locksets.count - 1;
}

static void add_lock(const struct lint *lint, struct lockset *set, uint32_t lock, bool shared)
{
	uint32_t at = 0;

	if (lint->regions.locks.at[lock].is_private)
		return;
	while (at < set->count && set->locks[at] < lock)
		at++;
	if (at < set->count && set->locks[at] == lock) {
		if (!shared)
			set->shared &= ~(1u << at);
		return;
	}
	if (set->count == STATE_LOCKS)
		return;
	memmove(&set->locks[at + 1], &set->locks[at], (set->count - at) * sizeof(*set->locks));
	set->locks[at] = lock;
	set->shared =
		(set->shared & ((1u << at) - 1)) | (set->shared >> at << (at + 1)) | (uint32_t)shared << at;
	set->count++;
}

static bool has_given_up(const struct lock_state *s, uint32_t lock)
{
	for (uint32_t i = 0; i < s->given_up_count; i++)
		if (s->given_up[i] == lock)
			return true;
	return false;
}

struct lockset context_at(const struct lint *lint, uint32_t entry, uint32_t inst)
{
	const struct lock_state *s = region_state(lint, inst);
	const struct lockset *from = &lint->contexts.locksets.at[entry];
	struct lockset set = {0};

	for (uint32_t i = 0; i < from->count; i++)
		if (!has_given_up(s, from->locks[i]))
			add_lock(lint, &set, from->locks[i], from->shared >> i & 1);
	for (uint32_t i = 0; i < s->held_count; i++)
		add_lock(lint, &set, s->held[i].lock, s->held[i].shared);
	return set;
}

/* ---- symbolic execution ---- */

struct job {
	uint32_t function, entry;
};

struct execution {
	struct lint *lint;
	uint32_t thread;
	struct vec_u32 *entries; /* by function: locksets that it was called with */
	VEC(struct job) jobs;
	struct vec_u32 *points; /* by function: its accesses and calls */
};

static void enter(struct execution *x, uint32_t function, uint32_t entry)
{
	struct vec_u32 *entries = &x->entries[function];

	if (vec_has(entries, entry))
		return;
	if (entries->count >= MOST_CONTEXTS) {
		if (vec_has(entries, 0))
			return;
		x->lint->contexts.capped++;
		entry = 0;
	}
	vec_push(entries, entry);
	vec_push(&x->jobs, (struct job){function, entry});
}

static void note_entry(struct lint *lint, uint32_t function, uint32_t entry)
{
	uint32_t *always = &lint->contexts.always[function];

	if (*always == UINT32_MAX) {
		*always = entry;
		return;
	}
	struct lockset a = lint->contexts.locksets.at[*always], b = lint->contexts.locksets.at[entry];
	struct lockset both = {0};

	for (uint32_t i = 0; i < a.count; i++)
		for (uint32_t n = 0; n < b.count; n++)
			if (a.locks[i] == b.locks[n])
				add_lock(lint, &both, a.locks[i], (a.shared >> i & 1) || (b.shared >> n & 1));
	*always = context_lockset(lint, &both);
}

static void add_context(struct access *access, uint32_t thread, uint32_t lockset)
{
	for (uint32_t i = 0; i < access->contexts.count; i++)
		if (access->contexts.at[i].thread == thread && access->contexts.at[i].lockset == lockset)
			return;
	vec_push(&access->contexts, (struct access_context){thread, lockset});
}

static void execute(struct execution *x, struct job job)
{
	struct lint *lint = x->lint;
	const struct vec_u32 *points = &x->points[job.function];
	uint32_t last_state = UINT32_MAX, now = 0;

	note_entry(lint, job.function, job.entry);
	for (uint32_t i = 0; i < points->count; i++) {
		uint32_t inst = points->at[i], count, first = lint->accesses.first[inst];
		const struct call_edge *edges;

		if (lint->regions.state[inst] != last_state) {
			struct lockset set = context_at(lint, job.entry, inst);

			now = context_lockset(lint, &set);
			last_state = lint->regions.state[inst];
		}
		for (uint32_t a = first;
		     a && a < lint->accesses.at.count && lint->accesses.at.at[a].inst == inst; a++)
			add_context(&lint->accesses.at.at[a], x->thread, now);
		edges = callgraph_at(&lint->calls, inst, &count);
		for (uint32_t e = 0; e < count; e++)
			enter(x, edges[e].callee, now);
	}
}

void context_build(struct lint *lint)
{
	const struct program *p = &lint->program;
	struct execution x = {.lint = lint};
	struct lockset none = {0};

	context_lockset(lint, &none);
	lint->contexts.always = mem_alloc((p->functions_count + 1) * sizeof(*lint->contexts.always));
	memset(lint->contexts.always, 0xff, (p->functions_count + 1) * sizeof(*lint->contexts.always));
	x.points = mem_zalloc(p->functions_count, sizeof(*x.points));
	for (uint32_t i = 1; i < p->insts_count; i++)
		if (lint->accesses.first[i] || lint->calls.by_inst[i])
			vec_push(&x.points[program_function_of(p, i)], i);
	for (x.thread = 0; x.thread < lint->threads.count; x.thread++) {
		x.entries = mem_zalloc(p->functions_count, sizeof(*x.entries));
		for (uint32_t r = 0; r < lint->threads.at[x.thread].roots.count; r++)
			enter(&x, lint->threads.at[x.thread].roots.at[r], 0);
		while (x.jobs.count)
			execute(&x, x.jobs.at[--x.jobs.count]);
		for (uint32_t f = 0; f < p->functions_count; f++)
			vec_free(&x.entries[f]);
		free(x.entries);
	}
	for (uint32_t f = 0; f < p->functions_count; f++)
		vec_free(&x.points[f]);
	free(x.points);
	vec_free(&x.jobs);
}

void context_release(struct lint *lint)
{
	vec_free(&lint->contexts.locksets);
	map_release(&lint->contexts.known);
	free(lint->contexts.always);
}

static bool exclude(const struct lockset *a, const struct lockset *b)
{
	for (uint32_t i = 0; i < a->count; i++)
		for (uint32_t n = 0; n < b->count; n++)
			/* Two readers get in together. */
			if (a->locks[i] == b->locks[n] && !((a->shared >> i & 1) && (b->shared >> n & 1)))
				return true;
	return false;
}

uint32_t context_interferes(const struct lint *lint, const struct access *other, uint32_t thread,
			    uint32_t inst, const struct lockset *held)
{
	const struct variable *v = &lint->accesses.variables.at[other->variable];
	uint64_t beside = thread_beside(lint, thread, inst);
	bool own = v->node < lint->accesses.nodes && lint->accesses.node_own[v->node];

	if (other->fresh || other->quiet)
		return 0;
	for (uint32_t i = 0; i < other->contexts.count; i++) {
		uint32_t by = other->contexts.at[i].thread;

		if (!(beside >> by & 1) || !(thread_beside(lint, by, other->inst) >> thread & 1))
			continue;
		if (by == thread && !team_parallel(&lint->threads.at[by], inst, other->inst))
			continue;
		/* Of their own arguments threads know only their own. */
		if (own && !(lint->threads.at[by].descendants >> thread & 1) &&
		    !(lint->threads.at[thread].descendants >> by & 1))
			continue;
		if (!exclude(held, &lint->contexts.locksets.at[other->contexts.at[i].lockset]))
			return by + 1;
	}
	return 0;
}
