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

void context_add(const struct lint *lint, struct lockset *set, uint32_t lock, bool shared)
{
	uint32_t at = 0;

	if (!lock || lint->regions.locks.at[lock].is_private)
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

void context_hold(const struct lint *lint, struct lockset *set, uint32_t inst)
{
	const struct lock_state *s = region_state(lint, inst);

	for (uint32_t i = 0; i < s->held_count; i++)
		context_add(lint, set, s->held[i].lock, s->held[i].shared);
}

struct lockset context_at(const struct lint *lint, uint32_t entry, uint32_t inst)
{
	const struct lock_state *s = region_state(lint, inst);
	const struct lockset *from = &lint->contexts.locksets.at[entry];
	struct lockset set = {0};

	for (uint32_t i = 0; i < from->count; i++)
		if (!has_given_up(s, from->locks[i]))
			context_add(lint, &set, from->locks[i], from->shared >> i & 1);
	context_hold(lint, &set, inst);
	return set;
}

/* ---- symbolic execution ---- */

struct job {
	uint32_t function, entry;
};

/* What a function does while it holds the same: who it calls, and the ways in which its accesses happen. */
struct stretch {
	uint32_t inst; /* one of it */
	uint32_t list;
	struct vec_u32 callees;
};

struct execution {
	struct lint *lint;
	uint32_t thread;
	struct vec_u32 *entries; /* by function: locksets that it was called with */
	VEC(struct job) jobs;
	VEC(struct stretch) stretches;
	uint32_t *first;   /* by function: of its stretches; they lie side by side */
	struct map before; /* an entry lockset and a state -> lockset of both + 1 */
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
				context_add(lint, &both, a.locks[i],
					    (a.shared >> i & 1) || (b.shared >> n & 1));
	*always = context_lockset(lint, &both);
}

static void add_context(struct context_list *list, uint32_t thread, uint32_t lockset)
{
	/* One thread after the other is executed, so what is known of this one is at the end. */
	for (uint32_t i = list->at.count; i-- > 0 && list->at.at[i].thread == thread;)
		if (list->at.at[i].lockset == lockset)
			return;
	vec_push(&list->at, (struct access_context){thread, lockset});
}

static uint32_t lockset_at(struct execution *x, uint32_t entry, uint32_t inst)
{
	uint64_t key = (uint64_t)entry << 32 | x->lint->regions.state[inst];
	uint32_t known = map_get(&x->before, key);

	if (!known) {
		struct lockset set = context_at(x->lint, entry, inst);

		known = context_lockset(x->lint, &set) + 1;
		map_set(&x->before, key, known);
	}
	return known - 1;
}

static void execute(struct execution *x, struct job job)
{
	note_entry(x->lint, job.function, job.entry);
	for (uint32_t i = x->first[job.function]; i < x->first[job.function + 1]; i++) {
		const struct stretch *s = &x->stretches.at[i];
		uint32_t now = lockset_at(x, job.entry, s->inst);

		x->lint->effort->steps[EFFORT_CONTEXTS] += 1 + s->callees.count;

		if (s->list)
			add_context(&x->lint->contexts.lists.at[s->list], x->thread, now);
		for (uint32_t n = 0; n < s->callees.count; n++)
			enter(x, s->callees.at[n], now);
	}
}

/* The stretch of the function at hand, whose stretches begin at `first`, that an instruction belongs to. */
static struct stretch *stretch_of(struct execution *x, struct map *known, uint32_t inst, uint32_t first)
{
	uint64_t state = (uint64_t)x->lint->regions.state[inst] + 1;
	uint32_t number = map_get(known, state);

	/* What is known of functions before is out of date. */
	if (number <= first) {
		vec_push(&x->stretches, (struct stretch){.inst = inst});
		number = x->stretches.count;
		map_set(known, state, number);
	}
	return &x->stretches.at[number - 1];
}

static void find_stretches(struct execution *x)
{
	struct lint *lint = x->lint;
	const struct program *p = &lint->program;
	struct map known = {0};
	uint32_t *seen = mem_zalloc(p->functions_count + 1, sizeof(*seen)); /* stretch + 1 that called it */

	x->first = mem_zalloc(p->functions_count + 2, sizeof(*x->first));
	for (uint32_t f = 0; f < p->functions_count; f++) {
		const struct program_function *function = &p->functions[f];

		x->first[f] = x->stretches.count;
		for (uint32_t b = function->block; b < function->block + function->block_count; b++)
			for (uint32_t i = p->blocks[b].inst; i < p->blocks[b].inst + p->blocks[b].inst_count;
			     i++) {
				uint32_t count, a = lint->accesses.first[i];
				const struct call_edge *edges = callgraph_at(&lint->calls, i, &count);
				struct stretch *s;

				if (!a && !count)
					continue;
				s = stretch_of(x, &known, i, x->first[f]);
				if (a && !s->list) {
					s->list = lint->contexts.lists.count;
					vec_push(&lint->contexts.lists, (struct context_list){0});
				}
				for (; a && a < lint->accesses.at.count && lint->accesses.at.at[a].inst == i;
				     a++)
					lint->accesses.at.at[a].contexts = s->list;
				for (uint32_t e = 0; e < count; e++) {
					uint32_t number = (uint32_t)(s - x->stretches.at) + 1;

					if (seen[edges[e].callee] == number)
						continue;
					seen[edges[e].callee] = number;
					vec_push(&s->callees, edges[e].callee);
				}
			}
	}
	x->first[p->functions_count] = x->stretches.count;
	map_release(&known);
	free(seen);
}

void context_build(struct lint *lint)
{
	const struct program *p = &lint->program;
	struct execution x = {.lint = lint};
	struct lockset none = {0};

	context_lockset(lint, &none);
	vec_push(&lint->contexts.lists, (struct context_list){0});
	lint->contexts.always = mem_alloc((p->functions_count + 1) * sizeof(*lint->contexts.always));
	memset(lint->contexts.always, 0xff, (p->functions_count + 1) * sizeof(*lint->contexts.always));
	find_stretches(&x);
	x.entries = mem_zalloc(p->functions_count, sizeof(*x.entries));
	for (x.thread = 0; x.thread < lint->threads.count; x.thread++) {
		for (uint32_t r = 0; r < lint->threads.at[x.thread].roots.count; r++)
			enter(&x, lint->threads.at[x.thread].roots.at[r], 0);
		while (x.jobs.count)
			execute(&x, x.jobs.at[--x.jobs.count]);
		for (uint32_t f = 0; f < p->functions_count; f++)
			x.entries[f].count = 0;
	}
	for (uint32_t f = 0; f < p->functions_count; f++)
		vec_free(&x.entries[f]);
	for (uint32_t i = 0; i < x.stretches.count; i++)
		vec_free(&x.stretches.at[i].callees);
	free(x.entries);
	vec_free(&x.stretches);
	free(x.first);
	map_release(&x.before);
	vec_free(&x.jobs);
}

const struct context_list *context_list(const struct lint *lint, const struct access *access)
{
	return &lint->contexts.lists.at[access->contexts];
}

void context_release(struct lint *lint)
{
	for (uint32_t i = 0; i < lint->contexts.lists.count; i++)
		vec_free(&lint->contexts.lists.at[i].at);
	vec_free(&lint->contexts.lists);
	vec_free(&lint->contexts.locksets);
	map_release(&lint->contexts.known);
	free(lint->contexts.always);
}

bool context_exclude(const struct lockset *a, const struct lockset *b)
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
	const struct context_list *list = context_list(lint, other);
	uint64_t beside = thread_beside(lint, thread, inst);
	bool own = v->node < lint->accesses.nodes && lint->accesses.node_own[v->node];

	if (other->fresh || other->quiet)
		return 0;
	for (uint32_t i = 0; i < list->at.count; i++) {
		uint32_t by = list->at.at[i].thread;

		if (!(beside >> by & 1) || !(thread_beside(lint, by, other->inst) >> thread & 1))
			continue;
		if (by == thread && !team_parallel(&lint->threads.at[by], inst, other->inst))
			continue;
		/* Of their own arguments threads know only their own. */
		if (own && !(lint->threads.at[by].descendants >> thread & 1) &&
		    !(lint->threads.at[thread].descendants >> by & 1))
			continue;
		if (!context_exclude(held, &lint->contexts.locksets.at[list->at.at[i].lockset]))
			return by + 1;
	}
	return 0;
}
