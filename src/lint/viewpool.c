/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/viewpool.h"

#include <string.h>

/* A read and a write lie side by side, so that a word has both. */
static const uint64_t reads = 0x5555555555555555ull;

/* The number of the view in scratch, which is left empty. */
static uint32_t number_of(struct viewpool *pool)
{
	struct viewpool_view new = {.count = pool->scratch.count};
	const struct viewpool_word *words = pool->scratch.at;
	uint64_t key = new.count;
	uint32_t found;

	pool->scratch.count = 0;
	for (uint32_t i = 0; i < new.count; i++) {
		key = map_hash(key * 31 + words[i].bits) + words[i].number;
		new.items += (uint32_t)__builtin_popcountll(words[i].bits);
	}
	for (; (found = map_get(&pool->known, key)); key++) {
		const struct viewpool_view *other = &pool->views.at[found - 1];

		if (other->count == new.count &&
		    (!new.count || !memcmp(other->words, words, new.count * sizeof(*words))))
			return found - 1;
	}
	if (new.count) {
		new.words = mem_alloc(new.count * sizeof(*words));
		memcpy(new.words, words, new.count * sizeof(*words));
	}
	vec_push(&pool->views, new);
	map_set(&pool->known, key, pool->views.count);
	return pool->views.count - 1;
}

void viewpool_begin(struct viewpool *pool, struct lint *lint)
{
	const struct accesses *a = &lint->accesses;

	*pool = (struct viewpool){.lint = lint};
	pool->place = mem_zalloc(a->variables.count, sizeof(*pool->place));
	for (uint32_t i = 1; i < a->variables.count; i++)
		if (a->variables.at[i].shared) {
			pool->place[i] = pool->variables.count;
			vec_push(&pool->variables, i);
		}
	pool->many = mem_zalloc(pool->variables.count / 32 + 1, sizeof(*pool->many));
	for (uint32_t n = 0; n < pool->variables.count; n++)
		if (strstr(a->variables.at[pool->variables.at[n]].name, "[]"))
			pool->many[n / 32] |= 1ull << (n % 32 * 2);
	number_of(pool);
}

void viewpool_end(struct viewpool *pool)
{
	for (uint32_t i = 0; i < pool->views.count; i++)
		free(pool->views.at[i].words);
	vec_free(&pool->views);
	vec_free(&pool->variables);
	vec_free(&pool->scratch);
	vec_free(&pool->run);
	map_release(&pool->known);
	map_release(&pool->unions);
	map_release(&pool->sequences);
	free(pool->place);
	free(pool->many);
}

void viewpool_items(const struct viewpool *pool, uint32_t view, struct vec_u32 *items)
{
	const struct viewpool_view *v = &pool->views.at[view];

	for (uint32_t i = 0; i < v->count; i++)
		for (uint64_t bits = v->words[i].bits; bits; bits &= bits - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(bits);
			uint32_t variable = pool->variables.at[v->words[i].number * 32 + bit / 2];

			vec_push(items, variable * 2 + bit % 2);
		}
}

/* Of what comes behind the first, what is not its own: reads of what it wrote itself are. */
static uint64_t not_own(const struct viewpool *pool, uint64_t first, uint64_t second, uint32_t number)
{
	return second & ~(first >> 1 & reads & ~pool->many[number]);
}

static uint32_t merge(struct viewpool *pool, uint32_t a, uint32_t b, bool after)
{
	const struct viewpool_view x = pool->views.at[a], y = pool->views.at[b];
	uint32_t i = 0, n = 0;

	pool->lint->effort->steps[EFFORT_VIEWS] += x.count + y.count;
	while (i < x.count || n < y.count)
		if (n == y.count || (i < x.count && x.words[i].number < y.words[n].number)) {
			vec_push(&pool->scratch, x.words[i++]);
		} else if (i == x.count || y.words[n].number < x.words[i].number) {
			vec_push(&pool->scratch, y.words[n++]);
		} else {
			struct viewpool_word word = x.words[i++];
			uint64_t more = y.words[n++].bits;

			word.bits |= after ? not_own(pool, word.bits, more, word.number) : more;
			vec_push(&pool->scratch, word);
		}
	return number_of(pool);
}

uint32_t viewpool_union(struct viewpool *pool, uint32_t a, uint32_t b)
{
	uint64_t key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
	uint32_t known;

	pool->lint->effort->steps[EFFORT_VIEWS]++;
	if (a == b || !b)
		return a;
	if (!a)
		return b;
	if (!(known = map_get(&pool->unions, key))) {
		known = merge(pool, a, b, false) + 1;
		map_set(&pool->unions, key, known);
	}
	return known - 1;
}

uint32_t viewpool_then(struct viewpool *pool, uint32_t a, uint32_t b)
{
	uint64_t key = (uint64_t)a << 32 | b;
	uint32_t known;

	pool->lint->effort->steps[EFFORT_VIEWS]++;
	if (!b)
		return a;
	if (!a)
		return b;
	if (!(known = map_get(&pool->sequences, key))) {
		known = merge(pool, a, b, true) + 1;
		map_set(&pool->sequences, key, known);
	}
	return known - 1;
}

void viewpool_access(struct viewpool *pool, uint32_t variable, bool write)
{
	uint32_t place = pool->place[variable], number = place / 32, at = pool->run.count;
	uint64_t bit = 1ull << (place % 32 * 2 + write);

	pool->lint->effort->steps[EFFORT_VIEWS]++;
	while (at && pool->run.at[at - 1].number > number)
		at--;
	if (at && pool->run.at[at - 1].number == number) {
		struct viewpool_word *word = &pool->run.at[at - 1];

		word->bits |= not_own(pool, word->bits, bit, number);
		return;
	}
	vec_push(&pool->run, (struct viewpool_word){0});
	memmove(&pool->run.at[at + 1], &pool->run.at[at], (pool->run.count - 1 - at) * sizeof(*pool->run.at));
	pool->run.at[at] = (struct viewpool_word){.bits = bit, .number = number};
}

uint32_t viewpool_accessed(struct viewpool *pool)
{
	if (!pool->run.count)
		return 0;
	for (uint32_t i = 0; i < pool->run.count; i++)
		vec_push(&pool->scratch, pool->run.at[i]);
	pool->run.count = 0;
	return number_of(pool);
}

/* ---- ways ---- */

bool ways_add(struct viewpool *pool, struct ways *ways, uint32_t view)
{
	for (uint32_t i = 0; i < ways->count; i++)
		if (ways->at[i] == view)
			return false;
	if (ways->merged) {
		uint32_t before = ways->at[0];

		ways->at[0] = viewpool_union(pool, before, view);
		return ways->at[0] != before;
	}
	ways->at[ways->count++] = view;
	if (ways->count > WAYS_MOST || pool->views.at[view].items > WAYS_ITEMS) {
		while (ways->count > 1) {
			uint32_t last = ways->at[--ways->count];

			ways->at[0] = viewpool_union(pool, ways->at[0], last);
		}
		ways->merged = true;
	}
	return true;
}

bool ways_join(struct viewpool *pool, struct ways *into, const struct ways *from)
{
	bool news = false;

	for (uint32_t i = 0; i < from->count; i++)
		news |= ways_add(pool, into, from->at[i]);
	return news;
}

void ways_then(struct viewpool *pool, struct ways *ways, const struct ways *next)
{
	struct ways all = {.merged = ways->merged && ways->count == 1};

	if (!next->count || (next->count == 1 && !next->at[0]))
		return;
	for (uint32_t i = 0; i < ways->count; i++)
		for (uint32_t n = 0; n < next->count; n++) {
			uint32_t view = viewpool_then(pool, ways->at[i], next->at[n]);

			if (all.merged && !all.count)
				all.at[all.count++] = view;
			else
				ways_add(pool, &all, view);
		}
	*ways = all;
}
