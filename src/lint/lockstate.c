/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lint/lockstate.h"

#include <string.h>

struct held *lockstate_find(struct lock_state *s, uint32_t lock)
{
	for (uint32_t i = 0; i < s->held_count; i++)
		if (s->held[i].lock == lock)
			return &s->held[i];
	return NULL;
}

void lockstate_drop(struct lock_state *s, struct held *h)
{
	struct held *end = &s->held[--s->held_count];

	memmove(h, h + 1, (size_t)(end - h) * sizeof(*h));
	memset(end, 0, sizeof(*end));
}

void lockstate_hold(struct lock_state *s, uint32_t lock, bool shared, uint32_t region)
{
	struct held *h = lockstate_find(s, lock);

	if (h) {
		h->depth += h->depth < UINT8_MAX;
		return;
	}
	if (s->held_count == STATE_LOCKS)
		return;
	/* In the order of their numbers, so that equal states look the same. */
	uint32_t at = 0;

	while (at < s->held_count && s->held[at].lock < lock)
		at++;
	memmove(&s->held[at + 1], &s->held[at], (s->held_count - at) * sizeof(*s->held));
	memset(&s->held[at], 0, sizeof(*s->held));
	s->held[at].lock = lock;
	s->held[at].shared = shared;
	s->held[at].depth = 1;
	s->held[at].region_count = 1;
	s->held[at].regions[0] = region;
	s->held_count++;
}

static int place_of(const struct lock_state *s, uint32_t lock)
{
	for (uint32_t i = 0; i < s->given_up_count; i++)
		if (s->given_up[i] == lock)
			return (int)i;
	return -1;
}

bool lockstate_gave_up(const struct lock_state *s, uint32_t lock)
{
	return place_of(s, lock) >= 0;
}

static void add_given_up(struct lock_state *s, uint32_t lock, bool surely)
{
	if (s->given_up_count == STATE_LOCKS)
		return;
	uint32_t at = s->given_up_count++;

	for (; at && s->given_up[at - 1] > lock; at--) {
		s->given_up[at] = s->given_up[at - 1];
		s->surely[at] = s->surely[at - 1];
	}
	s->given_up[at] = lock;
	s->surely[at] = surely;
}

void lockstate_give_up(struct lock_state *s, uint32_t lock)
{
	int known = place_of(s, lock);

	if (known >= 0)
		s->surely[known] = true;
	else
		add_given_up(s, lock, true);
}

void lockstate_drop_maybe(struct lock_state *s, uint32_t n)
{
	s->maybe_count--;
	memmove(&s->maybes[n], &s->maybes[n + 1], (s->maybe_count - n) * sizeof(*s->maybes));
	memset(&s->maybes[s->maybe_count], 0, sizeof(*s->maybes));
}

void lockstate_add_maybe(struct lock_state *s, struct maybe new)
{
	uint32_t at = 0;

	while (at < s->maybe_count && (s->maybes[at].lock < new.lock ||
				       (s->maybes[at].lock == new.lock && s->maybes[at].value < new.value)))
		at++;
	if (at < s->maybe_count && s->maybes[at].lock == new.lock && s->maybes[at].value == new.value) {
		s->maybes[at] = new;
		return;
	}
	if (s->maybe_count == STATE_MAYBES)
		return;
	memmove(&s->maybes[at + 1], &s->maybes[at], (s->maybe_count - at) * sizeof(*s->maybes));
	s->maybes[at] = new;
	s->maybe_count++;
}

static bool add_region(struct held *h, uint32_t region)
{
	uint32_t at = 0;

	while (at < h->region_count && h->regions[at] < region)
		at++;
	if (at < h->region_count && h->regions[at] == region)
		return false;
	if (h->region_count == STATE_REGIONS)
		return false;
	memmove(&h->regions[at + 1], &h->regions[at], (h->region_count - at) * sizeof(*h->regions));
	h->regions[at] = region;
	h->region_count++;
	return true;
}

void lockstate_meet(struct lock_state *into, const struct lock_state *from)
{
	for (uint32_t i = into->held_count; i-- > 0;) {
		struct held *h = &into->held[i];
		const struct held *other = NULL;

		for (uint32_t n = 0; n < from->held_count; n++)
			if (from->held[n].lock == h->lock)
				other = &from->held[n];
		if (!other) {
			lockstate_drop(into, h);
			continue;
		}
		for (uint32_t n = 0; n < other->region_count; n++)
			add_region(h, other->regions[n]);
		h->shared |= other->shared;
		if (other->depth < h->depth)
			h->depth = other->depth;
	}
	for (uint32_t i = 0; i < into->given_up_count; i++) {
		int other = place_of(from, into->given_up[i]);

		into->surely[i] = into->surely[i] && other >= 0 && from->surely[other];
	}
	for (uint32_t i = 0; i < from->given_up_count; i++)
		if (place_of(into, from->given_up[i]) < 0)
			add_given_up(into, from->given_up[i], false);
	for (uint32_t i = into->maybe_count; i-- > 0;) {
		bool same = false;

		for (uint32_t n = 0; n < from->maybe_count; n++)
			same |= !memcmp(&into->maybes[i], &from->maybes[n], sizeof(*into->maybes));
		if (!same)
			lockstate_drop_maybe(into, i);
	}
}

uint32_t lockstate_intern(struct lint *lint, const struct lock_state *s)
{
	struct regions *r = &lint->regions;

	if (!s->held_count && !s->given_up_count && !s->maybe_count)
		return 0;
	const unsigned char *bytes = (const unsigned char *)s;
	uint64_t key = 0xcbf29ce484222325ull;
	uint32_t found;

	for (size_t i = 0; i < sizeof(*s); i++)
		key = (key ^ bytes[i]) * 0x100000001b3ull;
	for (; (found = map_get(&r->known, key)); key++)
		if (!memcmp(&r->states.at[found], s, sizeof(*s)))
			return found;
	vec_push(&r->states, *s);
	map_set(&r->known, key, r->states.count - 1);
	return r->states.count - 1;
}
