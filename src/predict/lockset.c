/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "predict/lockset.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

#define LOCKSET_MANY UINT32_MAX
/* Locks in the history of one held lock; more cannot be told apart, which makes
 * prediction less sharp and nothing else. */
#define HISTORY_LIMIT 512

/* A lock and how it is held, as a number. */
#define WORD(lock, write) ((lock) << 1 | (write))

/* A context in words: number of locks; for each its word, length of its history, the history. */

struct held {
	uint32_t word, acquire, section;
	uint32_t *past; /* words, ascending by lock */
	uint32_t past_count, past_room;
};

struct state {
	struct held *held;
	uint32_t count, room;
	uint32_t *waiting; /* positions without a `next`, ascending */
	uint32_t waiting_count, waiting_room;
	uint32_t position; /* the current one */
};

static uint64_t pair_key(uint32_t held, uint32_t released)
{
	return (uint64_t)held << 32 | released;
}

/* Does this thread's history of `held` need `released`? */
static bool matters(const struct locksets *l, uint32_t thread, uint32_t held, uint32_t released)
{
	uint32_t who = map_get(&l->pairs, pair_key(released, held));

	return who && who != thread + 1;
}

static void note_pair(struct locksets *l, uint32_t thread, uint32_t held, uint32_t released)
{
	uint64_t key = pair_key(held, released);
	uint32_t who = map_get(&l->pairs, key);

	if (!who)
		map_set(&l->pairs, key, thread + 1);
	else if (who != thread + 1 && who != LOCKSET_MANY)
		map_set(&l->pairs, key, LOCKSET_MANY);
}

static void add_past(struct held *h, uint32_t word)
{
	uint32_t at = 0;

	while (at < h->past_count && h->past[at] >> 1 < word >> 1)
		at++;
	if (at < h->past_count && h->past[at] >> 1 == word >> 1) {
		h->past[at] |= word;
		return;
	}
	if (h->past_count == HISTORY_LIMIT)
		return;
	if (h->past_count == h->past_room) {
		h->past_room = h->past_room ? h->past_room * 2 : 4;
		h->past = mem_resize(h->past, h->past_room, sizeof(*h->past));
	}
	memmove(h->past + at + 1, h->past + at, (h->past_count - at) * sizeof(*h->past));
	h->past[at] = word;
	h->past_count++;
}

static uint32_t *words_room(struct locksets *l, uint32_t more)
{
	if (l->word_count + more > l->word_room) {
		l->word_room = (l->word_count + more) * 2;
		l->words = mem_resize(l->words, l->word_room, sizeof(*l->words));
	}
	return l->words + l->word_count;
}

static uint32_t intern(struct locksets *l, const struct state *s)
{
	uint32_t length = 1;
	uint64_t hash = s->count;

	if (!s->count)
		return 0;
	for (uint32_t i = 0; i < s->count; i++)
		length += 2 + s->held[i].past_count;
	uint32_t *words = words_room(l, length), *to = words;

	*to++ = s->count;
	/* In ascending order of locks, whatever the order in which they were taken. */
	for (uint32_t done = 0, last = 0; done < s->count; done++) {
		const struct held *least = NULL;

		for (uint32_t i = 0; i < s->count; i++)
			if ((!done || s->held[i].word > last) && (!least || s->held[i].word < least->word))
				least = &s->held[i];
		last = *to++ = least->word;
		*to++ = least->past_count;
		if (least->past_count)
			memcpy(to, least->past, least->past_count * sizeof(*to));
		to += least->past_count;
	}
	for (uint32_t i = 0; i < length; i++)
		hash = map_hash(hash * 31 + words[i]);
	for (uint32_t found; (found = map_get(&l->interned, hash)); hash++) {
		const uint32_t *other = l->words + l->contexts[found];

		if (l->contexts[found + 1] - l->contexts[found] == length &&
		    !memcmp(other, words, length * sizeof(*words)))
			return found;
	}
	if (l->context_count + 2 > l->context_room) {
		l->context_room = l->context_room * 2;
		l->contexts = mem_resize(l->contexts, l->context_room, sizeof(*l->contexts));
	}
	l->word_count += length;
	map_set(&l->interned, hash, l->context_count);
	l->contexts[l->context_count + 1] = l->word_count;
	return l->context_count++;
}

static uint32_t find_held(const struct state *s, uint32_t lock)
{
	for (uint32_t i = s->count; i-- > 0;)
		if (s->held[i].word >> 1 == lock)
			return i;
	return HISTORY_NONE;
}

static void take(struct state *s, uint32_t word, uint32_t event, uint32_t section)
{
	if (s->count == s->room) {
		uint32_t old = s->room;

		s->room = s->room ? s->room * 2 : 4;
		s->held = mem_resize(s->held, s->room, sizeof(*s->held));
		memset(s->held + old, 0, (s->room - old) * sizeof(*s->held));
	}
	struct held *h = &s->held[s->count++];

	h->word = word;
	h->acquire = event;
	h->section = section;
	h->past_count = 0;
}

static struct held give_up(struct state *s, uint32_t at)
{
	struct held gone = s->held[at];

	memmove(&s->held[at], &s->held[at + 1], (s->count - at - 1) * sizeof(*s->held));
	s->held[--s->count] = gone; /* its memory is used again */
	return gone;
}

static bool is_lock_operation(const struct history_event *e)
{
	return e->kind == HISTORY_LOCK || e->kind == HISTORY_RDLOCK || e->kind == HISTORY_UNLOCK;
}

/*
 * First pass: which locks are given up while others are held, how many
 * positions each thread has, and how many sections of which lock.
 */
static void survey(struct locksets *l, struct state *states, uint32_t *positions, uint32_t **group_sizes)
{
	const struct history *h = l->history;
	uint32_t room = 0;

	for (uint32_t i = 0; i < h->count; i++) {
		const struct history_event *e = &h->events[i];
		struct state *s = &states[e->thread];

		if (!is_lock_operation(e))
			continue;
		uint32_t at = find_held(s, e->object);

		if (e->kind != HISTORY_UNLOCK) {
			uint64_t key = (uint64_t)e->thread << 32 | e->object;
			uint32_t group = map_get(&l->groups, key);

			if (at != HISTORY_NONE)
				continue;
			if (!group) {
				if (l->group_count == room) {
					room = room ? room * 2 : 64;
					*group_sizes = mem_resize(*group_sizes, room, sizeof(**group_sizes));
				}
				group = ++l->group_count;
				(*group_sizes)[group - 1] = 0;
				map_set(&l->groups, key, group);
			}
			(*group_sizes)[group - 1]++;
			take(s, WORD(e->object, e->kind == HISTORY_LOCK), i, 0);
		} else {
			if (at == HISTORY_NONE)
				continue;
			*(at == s->count - 1 ? &l->nested : &l->crossed) += 1;
			give_up(s, at);
			for (uint32_t k = 0; k < s->count; k++)
				note_pair(l, e->thread, s->held[k].word >> 1, e->object);
		}
		positions[e->thread]++;
	}
}

/* Positions from `from` on have lost something here. */
static void link_positions(struct locksets *l, struct state *s, uint32_t acquire, uint32_t now)
{
	while (s->waiting_count) {
		struct lockset_position *p = &l->positions[s->waiting[s->waiting_count - 1]];

		if (p->event == HISTORY_NONE || p->event < acquire)
			break;
		p->next = now;
		s->waiting_count--;
	}
}

static void new_position(struct locksets *l, struct state *s, uint32_t event)
{
	uint32_t position = ++s->position;

	uint32_t context = intern(l, s);

	l->positions[position] =
		(struct lockset_position){.event = event,
					  .context = context,
					  .free = context ? l->positions[position - 1].free : position};
	if (s->waiting_count == s->waiting_room) {
		s->waiting_room = s->waiting_room ? s->waiting_room * 2 : 16;
		s->waiting = mem_resize(s->waiting, s->waiting_room, sizeof(*s->waiting));
	}
	s->waiting[s->waiting_count++] = position;
}

static void follow(struct locksets *l, struct state *states, uint32_t *filled)
{
	const struct history *h = l->history;

	for (uint32_t i = 0; i < h->count; i++) {
		const struct history_event *e = &h->events[i];
		struct state *s = &states[e->thread];

		l->at[i] = s->position;
		if (!is_lock_operation(e))
			continue;
		uint32_t at = find_held(s, e->object);

		if (e->kind != HISTORY_UNLOCK) {
			bool write = e->kind == HISTORY_LOCK;

			if (at != HISTORY_NONE)
				continue;
			uint32_t group = map_get(&l->groups, (uint64_t)e->thread << 32 | e->object) - 1;
			uint32_t section = filled[group]++;

			l->sections[section] = (struct lockset_section){i, HISTORY_NONE, write};
			take(s, WORD(e->object, write), i, section);
			new_position(l, s, i);
		} else {
			if (at == HISTORY_NONE)
				continue;
			struct held gone = give_up(s, at);

			l->sections[gone.section].release = i;
			for (uint32_t k = 0; k < s->count; k++)
				if (matters(l, e->thread, s->held[k].word >> 1, e->object))
					add_past(&s->held[k], gone.word);
			link_positions(l, s, gone.acquire, s->position + 1);
			new_position(l, s, i);
		}
		l->at[i] = s->position;
	}
}

void locksets_build(struct locksets *l, const struct history *history)
{
	uint32_t threads = history->thread_count;
	struct state *states = mem_zalloc(threads + 1ull, sizeof(*states));
	uint32_t *counts = mem_zalloc(threads + 1ull, sizeof(*counts));
	uint32_t *group_sizes = NULL, *filled;
	uint32_t total = 1, sections = 0; /* position 0 stands for none */

	*l = (struct locksets){.history = history, .context_room = 64, .context_count = 1};
	l->contexts = mem_zalloc(l->context_room, sizeof(*l->contexts));
	*words_room(l, 1) = 0;
	l->word_count = l->contexts[1] = 1;
	survey(l, states, counts, &group_sizes);
	l->threads = mem_zalloc(threads + 1ull, sizeof(*l->threads));
	for (uint32_t t = 0; t < threads; t++) {
		l->threads[t] = (struct lockset_thread){.first = total, .count = counts[t] + 1};
		total += counts[t] + 1;
	}
	l->positions = mem_zalloc(total + 1ull, sizeof(*l->positions));
	l->group_first = mem_zalloc(l->group_count + 1ull, sizeof(*l->group_first));
	filled = mem_zalloc(l->group_count + 1ull, sizeof(*filled));
	for (uint32_t g = 0; g < l->group_count; g++) {
		l->group_first[g] = filled[g] = sections;
		sections += group_sizes[g];
	}
	l->group_first[l->group_count] = sections;
	l->sections = mem_zalloc(sections + 1ull, sizeof(*l->sections));
	for (uint32_t t = 0; t < threads; t++) {
		struct state *s = &states[t];

		s->count = 0;
		s->position = l->threads[t].first;
		l->positions[s->position] =
			(struct lockset_position){.event = HISTORY_NONE, .free = s->position};
	}
	l->at = mem_alloc((history->count + 1ull) * sizeof(*l->at));
	follow(l, states, filled);
	for (uint32_t t = 0; t < threads; t++) {
		for (uint32_t i = 0; i < states[t].room; i++)
			free(states[t].held[i].past);
		free(states[t].held);
		free(states[t].waiting);
	}
	free(states);
	free(counts);
	free(group_sizes);
	free(filled);
}

void locksets_release(struct locksets *l)
{
	free(l->threads);
	free(l->positions);
	free(l->at);
	free(l->words);
	free(l->contexts);
	free(l->group_first);
	free(l->sections);
	map_release(&l->interned);
	map_release(&l->compatible);
	map_release(&l->pairs);
	map_release(&l->groups);
	*l = (struct locksets){0};
}
