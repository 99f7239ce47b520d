/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/answer.h"

#include <string.h>

#include "lint/pair.h"

static uint64_t mix(uint64_t hash, uint64_t word)
{
	return map_hash(hash * 31 + word);
}

static bool same_question(const struct answer *a, const struct answer *b)
{
	return a->function == b->function && a->x == b->x && a->y == b->y && a->kind == b->kind &&
	       a->beside == b->beside && !memcmp(&a->held, &b->held, sizeof(a->held));
}

struct answer *answer_to(const struct lint *lint, struct answers *answers, struct answer_question q,
			 bool *is_new)
{
	struct answer asked = {
		.function = q.function,
		.x = q.x,
		.y = q.y,
		.kind = q.kind,
		.held = pair_held(lint, q.function, q.first_via, q.second_via, q.left),
	};
	uint64_t key;
	uint32_t found;

	for (uint32_t t = 0; t < lint->threads.count; t++)
		if (lint->threads.reach[q.function] >> t & 1)
			asked.beside = mix(mix(asked.beside, thread_beside(lint, t, q.first_via)),
					   thread_beside(lint, t, q.second_via));
	key = mix(mix(mix(mix(asked.beside, q.function), q.x), q.y), q.kind);
	for (uint32_t i = 0; i < asked.held.count; i++)
		key = mix(key, asked.held.locks[i]);
	for (; (found = map_get(&answers->known, key)); key++)
		if (same_question(&answers->at.at[found - 1], &asked)) {
			*is_new = false;
			return &answers->at.at[found - 1];
		}
	*is_new = true;
	vec_push(&answers->at, asked);
	map_set(&answers->known, key, answers->at.count);
	return &answers->at.at[answers->at.count - 1];
}

void answer_release(struct answers *answers)
{
	map_release(&answers->known);
	vec_free(&answers->at);
}
