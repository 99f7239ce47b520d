/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What lies in objects that are looked at: for each word which own objects a
 * pointer there may lead to, and whether something foreign may lie there. Where
 * in an object is accessed is known by a constant distance from its beginning,
 * or not at all; then it is everywhere. Nothing is ever overwritten, so the order of
 * accesses does not matter.
 */
#include "pass/owned.h"

static unsigned word_at(int64_t offset)
{
	return offset / 8 < OWNED_WORDS ? (unsigned)(offset / 8) : OWNED_WORDS - 1;
}

struct range {
	unsigned first, last;
};

static struct range range_of(int64_t offset, uint64_t size)
{
	struct range range = {0, OWNED_WORDS - 1};

	if (offset == OWNED_ANYWHERE || offset < 0)
		return range;
	range.first = word_at(offset);
	if (size < 8 * OWNED_WORDS)
		range.last = word_at(offset + (int64_t)(size ? size - 1 : 0));
	return range;
}

static void put(struct owned *look, struct owned_word *word, const struct owned_word *more)
{
	uint32_t objects = word->objects | more->objects;
	int64_t offset = !more->objects || (word->objects && word->offset == more->offset) ? word->offset
			 : word->objects                                                   ? OWNED_ANYWHERE
											   : more->offset;

	look->changed |= objects != word->objects || (objects && offset != word->offset) ||
			 (more->foreign && !word->foreign) || (more->given && !word->given);
	word->objects = objects;
	word->offset = offset;
	word->foreign |= more->foreign;
	word->given |= more->given;
}

/* For each word in question. */
#define EACH_WORD(look, address, size, word)                                                           \
	for (unsigned o_ = 0; o_ < (look)->object_count; o_++)                                         \
		if ((address)->objects >> o_ & 1)                                                      \
			for (struct owned_word *all_ = (look)->objects[o_].words,                      \
					       *word = all_ + range_of((address)->offset, size).first; \
			     word <= all_ + range_of((address)->offset, size).last; word++)

struct owned_word owned_contents(struct owned *look, const struct owned_value *address, uint64_t size)
{
	struct owned_word all = {.objects = 0};
	bool changed = look->changed;

	EACH_WORD(look, address, size, word)
	put(look, &all, word);
	look->changed = changed;
	return all;
}

void owned_put(struct owned *look, const struct owned_value *address, uint64_t size,
	       const struct owned_value *what)
{
	struct owned_word more = {.objects = what->objects, .offset = what->offset};

	EACH_WORD(look, address, size, word)
	put(look, word, &more);
}

void owned_spoil(struct owned *look, const struct owned_value *address, uint64_t size, bool given)
{
	struct owned_word more = {.foreign = true, .given = given};

	EACH_WORD(look, address, size, word)
	put(look, word, &more);
}

void owned_follow(struct owned *look, const struct owned_value *address, uint64_t size)
{
	EACH_WORD(look, address, size, word)
	word->followed = true;
}

/* Word by word, if it is certain where each of them goes. */
static bool copy_words(struct owned *look, struct owned_object *to, int64_t there,
		       const struct owned_object *from, int64_t here, uint64_t size)
{
	struct range range = range_of(here, size);

	if (there == OWNED_ANYWHERE || here == OWNED_ANYWHERE || there < 0 || here < 0 || there % 8 ||
	    here % 8 || size >= 8 * OWNED_WORDS || range.last == OWNED_WORDS - 1 ||
	    word_at(there + (int64_t)size) == OWNED_WORDS - 1)
		return false;
	for (unsigned i = range.first; i <= range.last; i++)
		put(look, &to->words[word_at(there) + i - range.first], &from->words[i]);
	return true;
}

void owned_copy(struct owned *look, const struct owned_value *to, const struct owned_value *from,
		uint64_t size)
{
	for (unsigned t = 0; t < look->object_count; t++) {
		for (unsigned f = 0; f < look->object_count; f++) {
			struct owned_value one = *from;
			struct owned_word all;

			if (!(to->objects >> t & 1) || !(from->objects >> f & 1) ||
			    copy_words(look, &look->objects[t], to->offset, &look->objects[f], from->offset,
				       size))
				continue;
			one.objects = UINT32_C(1) << f;
			all = owned_contents(look, &one, size);
			one.objects = UINT32_C(1) << t;
			one.offset = to->offset;
			EACH_WORD(look, &one, size, word)
			put(look, word, &all);
		}
	}
}

bool owned_holds(const struct owned *look, uint32_t objects)
{
	for (unsigned o = 0; o < look->object_count; o++)
		for (unsigned i = 0; objects >> o & 1 && i < OWNED_WORDS; i++)
			if (look->objects[o].words[i].objects)
				return true;
	return false;
}
