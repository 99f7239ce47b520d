/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Questions about locksets and acquisition histories; lockset.c builds them. */
#include "predict/lockset.h"

#include "base/err.h"

uint32_t lockset_position(const struct locksets *l, uint32_t thread, uint32_t limit)
{
	uint32_t low = l->threads[thread].first, high = low + l->threads[thread].count;

	/* The first position, which has no event, is before everything. */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (l->positions[middle].event < limit)
			low = middle;
		else
			high = middle;
	}
	return low;
}

uint32_t lockset_locks(const struct locksets *l, uint32_t context, struct lockset_lock *locks, uint32_t room)
{
	const uint32_t *words = l->words + l->contexts[context];
	uint32_t count = *words++;

	for (uint32_t i = 0; i < count; i++) {
		if (i < room)
			locks[i] = (struct lockset_lock){words[0] >> 1, words[0] & 1};
		words += 2 + words[1];
	}
	return count;
}

bool lockset_has(const struct locksets *l, uint32_t context, uint32_t lock)
{
	const uint32_t *words = l->words + l->contexts[context];

	for (uint32_t i = *words++; i-- > 0; words += 2 + words[1])
		if (words[0] >> 1 == lock)
			return true;
	return false;
}

/* The word of the lock in a list of `count` words, or 0 (no lock is held in mode 0 with number 0 and found,
 * so the answer is one more). */
static uint32_t find_word(const uint32_t *words, uint32_t count, uint32_t lock)
{
	for (uint32_t i = 0; i < count; i++)
		if (words[i] >> 1 == lock)
			return words[i] + 1;
	return 0;
}

/* Two ways to hold one lock exclude each other unless both only read. */
static bool excludes(uint32_t a, uint32_t b)
{
	return (a | b) & 1;
}

/*
 * Incompatible are: a lock that both have, not both for reading; and locks l
 * and l' of which each thread has one and gave up the other since, for each
 * would have to go first.
 */
static bool compatible(const struct locksets *l, uint32_t a, uint32_t b)
{
	const uint32_t *first = l->words + l->contexts[a];

	for (uint32_t i = *first++; i-- > 0; first += 2 + first[1]) {
		const uint32_t *second = l->words + l->contexts[b];

		for (uint32_t j = *second++; j-- > 0; second += 2 + second[1]) {
			if (first[0] >> 1 == second[0] >> 1 && excludes(first[0], second[0]))
				return false;
			uint32_t gone = find_word(first + 2, first[1], second[0] >> 1);

			if (!gone || !excludes(gone - 1, second[0]))
				continue;
			gone = find_word(second + 2, second[1], first[0] >> 1);
			if (gone && excludes(gone - 1, first[0]))
				return false;
		}
	}
	return true;
}

bool lockset_compatible(struct locksets *l, uint32_t a, uint32_t b)
{
	if (!a || !b)
		return true;
	if (a > b)
		return lockset_compatible(l, b, a);
	uint64_t key = (uint64_t)a << 32 | b;
	uint32_t known = map_get(&l->compatible, key);

	if (!known) {
		known = 1 + compatible(l, a, b);
		map_set(&l->compatible, key, known);
	}
	return known == 2;
}

uint32_t lockset_free_before(const struct locksets *l, uint32_t thread, uint32_t limit)
{
	uint32_t position = lockset_position(l, thread, limit);

	if (!l->positions[position].context)
		return limit;
	/* A stretch without locks lasts until the next lock is taken. */
	return l->positions[l->positions[position].free + 1].event;
}

uint32_t lockset_free_after(const struct locksets *l, uint32_t thread, uint32_t limit)
{
	uint32_t position = lockset_position(l, thread, limit);

	if (!l->positions[position].context)
		return limit;
	/* Follow what is given up; a stretch without locks has nothing left to give up. */
	while (l->positions[position].context) {
		position = l->positions[position].next;
		if (!position)
			return HISTORY_NONE;
	}
	return l->positions[position].event + 1;
}

uint32_t lockset_sections(const struct locksets *l, uint32_t thread, uint32_t lock,
			  const struct lockset_section **sections)
{
	uint32_t group = map_get(&l->groups, (uint64_t)thread << 32 | lock);

	if (!group)
		return 0;
	*sections = l->sections + l->group_first[group - 1];
	return l->group_first[group] - l->group_first[group - 1];
}
