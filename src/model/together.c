/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Which members of a struct the program treats as belonging together. A struct
 * is one atomic set, but not every two of its members have to do with each
 * other, and a run shows which do: those that some critical section accesses
 * both. Who reads one of them there sees both as one; who only writes both may
 * just be clearing everything, which says less.
 *
 * Members are words of 4 bytes of a type: an access of several members at once
 * (a copied struct, a vectorised loop) is one of all their words, whatever its
 * site is called. What is accessed without a lock counts as shown together where
 * one thread alone is left and reads both, as main does in the end.
 *
 * Sections are noted by their accesses' sites, and each kind of section is
 * looked at once, so most cost a comparison for each access and a look-up.
 */
#include "model/inside.h"

#include <string.h>

#define WORD_SHIFT 2
#define WORD_MOST 64 /* a longer access is one of the whole type */
#define WHOLE 0xffffu

/* The words that a place accesses: the first one and how many. */
static uint32_t words_of(const struct place *place, uint64_t size, uint32_t *first)
{
	uint64_t end = place->offset + (size ? size : 1);

	*first = place->offset >> WORD_SHIFT;
	if (size > (uint64_t)WORD_MOST << WORD_SHIFT || end > (uint64_t)WHOLE << WORD_SHIFT) {
		*first = WHOLE;
		return 1;
	}
	return (uint32_t)((end - 1) >> WORD_SHIFT) - *first + 1;
}

static uint64_t pair_key(uint16_t type, uint32_t a, uint32_t b)
{
	return (uint64_t)type << 32 | (a < b ? (uint64_t)a << 16 | b : (uint64_t)b << 16 | a);
}

static void relate(struct model *model, uint16_t type, uint32_t a, uint32_t b, unsigned how)
{
	uint64_t key = pair_key(type, a, b);
	uint32_t known = map_get(&model->related, key);

	if ((known & how) == how)
		return;
	map_set(&model->related, key, known | how);
	model->related_turn++;
}

/* What the section so far says of its members. */
static void learn(struct model *model, const struct section *section, bool alone)
{
	for (uint32_t i = 0; i < section->count; i++)
		for (uint32_t k = 0; k < i; k++) {
			const struct section_word *a = &section->words[i], *b = &section->words[k];

			if (a->type != b->type || (alone && !(a->how & b->how & SECTION_READ)))
				continue;
			relate(model, a->type, a->word, b->word,
			       (a->how | b->how) & SECTION_READ ? MODEL_TOGETHER | MODEL_READ_TOGETHER
								: MODEL_TOGETHER);
		}
}

void together_end(struct model *model, struct thread *thread)
{
	struct section *section = &thread->section;
	uint64_t hash = section->alone;

	if (section->count > 1) {
		for (uint32_t i = 0; i < section->count; i++)
			hash = map_hash(hash * 31 + ((uint64_t)section->words[i].type << 32 |
						     (uint64_t)section->words[i].word << 8 |
						     section->words[i].how));
		if (!map_get(&model->sections_seen, hash)) {
			map_set(&model->sections_seen, hash, 1);
			learn(model, section, section->alone);
		}
	}
	section->count = 0;
	section->last_site = 0;
	section->alone = false;
}

/* True if the word was read from what others left there, and not written since, before this. */
static bool note_word(struct model *model, struct thread *thread, uint16_t type, uint32_t word,
		      uint32_t source, bool reads, bool writes)
{
	struct section *section = &thread->section;
	struct section_word *at = section->words, *end = at + section->count;
	bool had_read;

	while (at < end && (at->word != word || at->type != type))
		at++;
	if (at == end) {
		if (section->count == SECTION_ROOM) {
			/* So much at once tells nothing apart. */
			relate(model, type, WHOLE, WHOLE, MODEL_TOGETHER | MODEL_READ_TOGETHER);
			return false;
		}
		section->count++;
		*at = (struct section_word){.type = type, .word = (uint16_t)word};
	}
	had_read = at->how == SECTION_READ;
	/* Whoever reads what it has written itself sees nobody. */
	if (reads && !at->how)
		at->read_at = source;
	if (reads && !(at->how & SECTION_WRITTEN))
		at->how |= SECTION_READ;
	if (writes) {
		at->how |= SECTION_WRITTEN;
		if (had_read && !reads)
			map_set(&model->claims, (uint64_t)source << 32 | at->read_at, 1);
	}
	return had_read;
}

bool together_note(struct model *model, struct thread *thread, uint32_t site, const struct place *place,
		   uint64_t size, bool reads, bool writes)
{
	struct section *section = &thread->section;
	uint32_t first, count = words_of(place, size, &first);
	bool claims = writes && !reads;

	section->alone = !thread->held_count;
	for (uint32_t i = 0; i < count; i++)
		claims &= note_word(model, thread, place->type, first + i, place->source, reads, writes);
	section->last_site = site + 1;
	section->last_size = size;
	section->last_how = (uint8_t)(reads | writes << 1);
	section->last_claims = claims;
	return claims;
}

void together_whole(struct model *model, struct thread *thread, uint16_t type, bool reads, bool writes)
{
	note_word(model, thread, type, WHOLE, 0, reads, writes);
	thread->section.last_site = 0;
	relate(model, type, WHOLE, WHOLE, reads ? MODEL_TOGETHER | MODEL_READ_TOGETHER : MODEL_TOGETHER);
}

void together_mixed(struct model *model, uint16_t one, uint16_t other)
{
	relate(model, one, WHOLE, WHOLE, MODEL_TOGETHER | MODEL_READ_TOGETHER);
	relate(model, other, WHOLE, WHOLE, MODEL_TOGETHER | MODEL_READ_TOGETHER);
}

unsigned model_together(struct model *model, uint32_t one, uint32_t other)
{
	const unsigned all = MODEL_TOGETHER | MODEL_READ_TOGETHER;
	const struct place a = *place_of(model, one), b = *place_of(model, other);
	uint32_t first_a, first_b, count_a, count_b;
	unsigned how;

	/* Of what has no names, and of two types, nothing is known that could be told apart. */
	if (!a.type_size || !b.type_size || a.type != b.type || a.named_set || b.named_set)
		return all;
	count_a = words_of(&a, a.size, &first_a);
	count_b = words_of(&b, b.size, &first_b);
	if (first_a == WHOLE || first_b == WHOLE ||
	    (first_a < first_b + count_b && first_b < first_a + count_a))
		return all;
	how = map_get(&model->related, pair_key(a.type, WHOLE, WHOLE));
	for (uint32_t i = 0; i < count_a; i++)
		for (uint32_t k = 0; k < count_b; k++)
			how |= map_get(&model->related, pair_key(a.type, first_a + i, first_b + k));
	return how;
}

bool model_claims(struct model *model, uint32_t write, uint32_t read)
{
	uint32_t source = place_of(model, write)->source;

	return map_get(&model->claims, (uint64_t)source << 32 | place_of(model, read)->source);
}

bool model_decides(struct model *model, uint32_t read)
{
	return place_of(model, read)->flags & ATOMSAN_SITE_GUARDS;
}

uint64_t model_together_turn(const struct model *model)
{
	return model->related_turn;
}

void together_release(struct model *model)
{
	map_release(&model->related);
	map_release(&model->sections_seen);
	map_release(&model->claims);
}
