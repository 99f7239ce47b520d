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
 * Most sections do what others did before. So the contents that sections came to
 * have are numbered, and it is remembered by which access which one became which
 * other: then an access costs a look-up, and each kind of section is looked at once.
 */
#include "model/together_inl.h"

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
static void learn(struct model *model, const struct section_content *section)
{
	bool alone = section->alone;

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

static uint64_t hash_of(const struct section_content *content)
{
	uint64_t hash = content->alone;

	for (uint32_t i = 0; i < content->count; i++) {
		const struct section_word *word = &content->words[i];

		hash = map_hash(hash * 31 +
				((uint64_t)word->type << 32 | (uint64_t)word->word << 8 | word->how)) +
		       word->read_at;
	}
	return hash;
}

static bool same_content(const struct section_content *a, const struct section_content *b)
{
	if (a->count != b->count || a->alone != b->alone)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (a->words[i].type != b->words[i].type || a->words[i].word != b->words[i].word ||
		    a->words[i].how != b->words[i].how || a->words[i].read_at != b->words[i].read_at)
			return false;
	return true;
}

/* The section's content can be changed. */
static struct section_content *loosen(struct model *model, struct section *section)
{
	if (section->state)
		section->loose = model->sections[section->state];
	section->state = 0;
	return &section->loose;
}

/* The section's content gets a number, if there are not too many. */
static void settle(struct model *model, struct section *section)
{
	enum { MOST = 4096 };
	uint64_t hash = hash_of(&section->loose);
	uint32_t state;

	for (; (state = map_get(&model->section_hashes, hash)); hash++)
		if (same_content(&model->sections[state], &section->loose)) {
			section->state = state;
			return;
		}
	if (model->section_count == MOST)
		return;
	if (model->section_count + 1 >= model->section_room) {
		model->section_room = model->section_room ? model->section_room * 2 : 64;
		model->sections = mem_resize(model->sections, model->section_room, sizeof(*model->sections));
	}
	if (!model->section_steps)
		model->section_steps = mem_zalloc(SECTION_STEPS, sizeof(*model->section_steps));
	section->state = ++model->section_count;
	model->sections[section->state] = section->loose;
	model->sections[section->state].learned = false;
	map_set(&model->section_hashes, hash, section->state);
}

void together_end(struct model *model, struct thread *thread)
{
	struct section *section = &thread->section;

	if (section->state) {
		struct section_content *content = &model->sections[section->state];

		if (!content->learned && content->count > 1)
			learn(model, content);
		content->learned = true;
	} else if (section->loose.count > 1) {
		uint64_t hash = hash_of(&section->loose);

		if (!map_get(&model->sections_seen, hash)) {
			map_set(&model->sections_seen, hash, 1);
			learn(model, &section->loose);
		}
	}
	section->state = 0;
	section->loose.count = 0;
	section->loose.alone = false;
	section->last_site = 0;
}

/* True if the word was read from what others left there, and not written since, before this. Without a place
 * all of a struct is accessed. */
static bool note_word(struct model *model, struct section_content *section, uint16_t type, uint32_t word,
		      const struct place *place, bool reads, bool writes)
{
	struct section_word *at = section->words, *end = at + section->count;
	uint32_t source = place ? place->source : 0;
	bool had_read, counts = place && place->counts;

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
		if (had_read && counts)
			map_set(&model->counted, at->read_at, place->source);
	}
	return had_read;
}

/* An access took the section from one content to what it has now. */
static void remember(struct model *model, struct section *section, uint32_t from, uint32_t site,
		     uint32_t what, bool claims)
{
	struct section before = {.state = from};
	struct section_step *step;

	settle(model, section);
	step = section->state ? together_step(model, &before, site) : NULL;
	if (step)
		*step = (struct section_step){
			.from = from, .site = site, .what = what, .to = section->state, .claims = claims};
}

bool together_note(struct model *model, struct thread *thread, uint32_t site, const struct place *place,
		   uint64_t size, bool reads, bool writes)
{
	struct section *section = &thread->section;
	uint32_t first, count = words_of(place, size, &first), from = section->state;
	bool claims = writes && !reads, settled = from || !section->loose.count;
	struct section_content *content = loosen(model, section);

	content->alone = !thread->held_count;
	for (uint32_t i = 0; i < count; i++)
		claims &= note_word(model, content, place->type, first + i, place, reads, writes);
	if (settled)
		remember(model, section, from, site, together_what(size, reads, writes), claims);
	section->last_site = site + 1;
	section->last_size = size;
	section->last_how = (uint8_t)(reads | writes << 1);
	section->last_claims = claims;
	return claims;
}

void together_whole(struct model *model, struct thread *thread, uint16_t type, bool reads, bool writes)
{
	struct section *section = &thread->section;
	/* No size is so large. */
	uint32_t what = UINT32_MAX << 2 | writes << 1 | reads, from = section->state;
	bool settled = from || !section->loose.count;
	const struct section_step *step = together_step(model, section, type);

	section->last_site = 0;
	if (step && step->from == from && step->site == type && step->what == what) {
		section->state = step->to;
		return;
	}
	note_word(model, loosen(model, section), type, WHOLE, NULL, reads, writes);
	relate(model, type, WHOLE, WHOLE, reads ? MODEL_TOGETHER | MODEL_READ_TOGETHER : MODEL_TOGETHER);
	if (settled)
		remember(model, section, from, type, what, false);
}

void together_mixed(struct model *model, uint16_t outer, uint64_t from, uint64_t bytes)
{
	const unsigned all = MODEL_TOGETHER | MODEL_READ_TOGETHER;

	if (bytes > (uint64_t)WORD_MOST << WORD_SHIFT || from + bytes > (uint64_t)WHOLE << WORD_SHIFT) {
		relate(model, outer, WHOLE, WHOLE, all);
		return;
	}
	for (uint64_t word = from >> WORD_SHIFT; word << WORD_SHIFT < from + bytes; word++)
		relate(model, outer, WHOLE, (uint32_t)word, all);
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
	for (uint32_t i = 0; i < count_a; i++) {
		how |= map_get(&model->related, pair_key(a.type, first_a + i, WHOLE));
		for (uint32_t k = 0; k < count_b; k++)
			how |= map_get(&model->related, pair_key(a.type, first_a + i, first_b + k));
	}
	for (uint32_t k = 0; k < count_b; k++)
		how |= map_get(&model->related, pair_key(a.type, first_b + k, WHOLE));
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
	map_release(&model->section_hashes);
	free(model->sections);
	free(model->section_steps);
	map_release(&model->claims);
	map_release(&model->counted);
	map_release(&model->counter_ends);
}
