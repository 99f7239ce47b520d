/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which variables are shared: there is a write that another access of the variable may run beside. */
#include <string.h>

#include "lint/effort.h"
#include "lint/lint.h"
#include "lint/variable.h"

/* What belongs to a set of which something is shared may be used with a stale value, too. */
static void spread_to_sets(struct accesses *a)
{
	struct map shared = {0}; /* sets, by a variable of them */

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t n = 1; n < a->variables.count; n++) {
			struct variable *v = &a->variables.at[n];
			uint64_t key = variable_key(0, v->set);
			uint32_t known;

			while ((known = map_get(&shared, key)) &&
			       strcmp(a->variables.at[known].set, v->set) != 0)
				key++;
			if (!pass && v->shared && !known)
				map_set(&shared, key, n);
			v->in_shared_set = known || v->shared;
		}
	map_release(&shared);
}

/* Where a thread is when it accesses a variable, as far as that says who may run at the same time. */
struct standing {
	uint32_t thread, inst;
	uint64_t beside;
	uint32_t phase, only; /* of a team */
};

struct standings {
	VEC(struct standing) at; /* each once */
	struct map known;
};

static void add_standing(struct standings *all, struct standing new)
{
	uint64_t key =
		map_hash(map_hash(new.beside * 64 + new.thread) ^ ((uint64_t)new.phase << 32 | new.only));
	uint32_t found;

	for (; (found = map_get(&all->known, key)); key++) {
		const struct standing *old = &all->at.at[found - 1];

		if (old->thread == new.thread && old->beside == new.beside && old->phase == new.phase &&
		    old->only == new.only)
			return;
	}
	vec_push(&all->at, new);
	map_set(&all->known, key, all->at.count);
}

static void find_standings(const struct lint *lint, const struct vec_u32 *accesses, struct standings *all)
{
	for (uint32_t i = 0; i < accesses->count; i++) {
		const struct access *a = &lint->accesses.at.at[accesses->at[i]];
		uint64_t by = lint->threads.reach[program_function_of(&lint->program, a->inst)];

		lint->effort->steps[EFFORT_ACCESSES]++;
		for (uint32_t t = 0; t < lint->threads.count && !a->fresh && !a->quiet; t++) {
			const struct thread *thread = &lint->threads.at[t];

			if (by >> t & 1)
				add_standing(all,
					     (struct standing){t, a->inst, thread_beside(lint, t, a->inst),
							       thread->phase ? thread->phase[a->inst] : 0,
							       thread->only ? thread->only[a->inst] : 0});
		}
	}
}

/* May somebody write it while another is at one of these places? */
static bool is_written_beside(const struct lint *lint, const struct variable *v, const struct standings *all)
{
	struct lockset none = {0};

	for (uint32_t w = 0; w < v->writes.count; w++) {
		const struct access *write = &lint->accesses.at.at[v->writes.at[w]];

		for (uint32_t i = 0; i < all->at.count && !write->fresh && !write->quiet; i++) {
			lint->effort->steps[EFFORT_ACCESSES]++;
			if (context_interferes(lint, write, all->at.at[i].thread, all->at.at[i].inst, &none))
				return true;
		}
	}
	return false;
}

void access_share(struct lint *lint)
{
	struct accesses *a = &lint->accesses;

	for (uint32_t n = 1; n < a->variables.count; n++) {
		struct variable *v = &a->variables.at[n];
		struct standings all = {.at.count = 0};

		if (!v->writes.count)
			continue;
		find_standings(lint, &v->reads, &all);
		find_standings(lint, &v->writes, &all);
		v->shared = is_written_beside(lint, v, &all);
		vec_free(&all.at);
		map_release(&all.known);
	}
	spread_to_sets(a);
}
