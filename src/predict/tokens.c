/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tokens of semaphores, thread by thread: see order.h. */
#include "predict/order.h"

#include "base/err.h"

#include <stdlib.h>

void order_add_token(struct order *o, const struct history_event *e, uint32_t event)
{
	uint64_t key = (uint64_t)e->object << 32 | e->thread;
	uint32_t index = map_get(&o->token_index, key);

	if (!index) {
		if (o->token_count == o->token_room) {
			o->token_room = o->token_room ? o->token_room * 2 : 8;
			o->tokens = mem_resize(o->tokens, o->token_room, sizeof(*o->tokens));
		}
		o->tokens[o->token_count] =
			(struct order_tokens){.semaphore = e->object, .thread = e->thread};
		index = ++o->token_count;
		map_set(&o->token_index, key, index);
	}
	struct order_tokens *t = &o->tokens[index - 1];

	if (t->count == t->room) {
		t->room = t->room ? t->room * 2 : 8;
		t->events = mem_resize(t->events, t->room, sizeof(*t->events));
		t->balance = mem_resize(t->balance, t->room, sizeof(*t->balance));
	}
	int32_t now = (t->count ? t->balance[t->count - 1] : 0) + (e->kind == HISTORY_POST ? 1 : -1);

	t->events[t->count] = event;
	t->balance[t->count++] = now;
	if (now > t->most)
		t->most = now;
}

void order_index_posts(struct order *o)
{
	const struct history *h = o->history;
	uint32_t *fill = mem_zalloc(h->thread_count + 1ull, sizeof(*fill));

	o->first_post = mem_zalloc(h->thread_count + 2ull, sizeof(*o->first_post));
	for (uint32_t i = 0; i < h->count; i++)
		o->first_post[h->events[i].thread + 1] += h->events[i].kind == HISTORY_POST;
	for (uint32_t t = 0; t < h->thread_count; t++) {
		fill[t] = o->first_post[t];
		o->first_post[t + 1] += o->first_post[t];
	}
	o->posts = mem_zalloc(o->first_post[h->thread_count] + 1ull, sizeof(*o->posts));
	for (uint32_t i = 0; i < h->count; i++)
		if (h->events[i].kind == HISTORY_POST)
			o->posts[fill[h->events[i].thread]++] = i;
	free(fill);
}

uint32_t order_next_post(const struct order *o, uint32_t thread, uint32_t limit)
{
	uint32_t low = o->first_post[thread], high = o->first_post[thread + 1], end = high;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (o->posts[middle] < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low < end ? o->posts[low] : HISTORY_NONE;
}

/* Posts less waits of the thread once it came to the limit. */
static int32_t balance_at(const struct order_tokens *t, uint32_t limit)
{
	uint32_t low = 0, high = t->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->events[middle] < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? t->balance[low - 1] : 0;
}

static bool one_suffices(const struct order *o, uint32_t semaphore, const uint32_t *threads,
			 const uint32_t *limits, uint32_t count)
{
	int64_t tokens = o->history->semaphores[semaphore];

	for (uint32_t i = 0; i < o->token_count; i++) {
		const struct order_tokens *t = &o->tokens[i];
		int32_t balance = t->most;

		if (t->semaphore != semaphore)
			continue;
		for (uint32_t k = 0; k < count; k++)
			if (threads[k] == t->thread)
				balance = balance_at(t, limits[k]);
		tokens += balance;
	}
	return tokens >= 0;
}

bool order_tokens_suffice(const struct order *o, const uint32_t *threads, const uint32_t *limits,
			  uint32_t count)
{
	for (uint32_t s = 0; o->token_count && s < o->history->semaphore_count; s++) {
		uint32_t takers = 0;

		for (uint32_t k = 0; k < count; k++) {
			uint32_t index = map_get(&o->token_index, (uint64_t)s << 32 | threads[k]);

			takers += index && balance_at(&o->tokens[index - 1], limits[k]) < 0;
		}
		if (takers && !one_suffices(o, s, threads, limits, count))
			return false;
	}
	return true;
}
